#!/usr/bin/env bash
# Runs the fuzzers of build/fuzz, each for so many seconds from its seeds; stops after a finding.
# usage: tools/fuzz.sh SECONDS JOBS [TARGET...]   default: all of fuzz/*_fuzz.cc
# What a run learns is kept in build/fuzz/corpus, what it finds in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."
export SECONDS_EACH=$1 JOBS=$2
shift 2
(($#)) || set -- $(ls fuzz/*_fuzz.cc | sed 's:fuzz/\(.*\)_fuzz.cc:\1:')

# fuzz TARGET: one line of what it did; its log where it found something.
fuzz() {
  local target=$1 folder=build/fuzz log=build/fuzz/$1.log seeds=(fuzz/seeds/"$1")
  [[ $target == config ]] && seeds+=(golden/models)
  mkdir -p "$folder/corpus/$target" "$folder/findings"
  # 512 MB for everything, of which the quarantine of freed memory takes little; at most 10 s an input.
  if ASAN_OPTIONS=quarantine_size_mb=16 "$folder/fuzz/${target}_fuzz" \
    -max_total_time="$SECONDS_EACH" -rss_limit_mb=512 -malloc_limit_mb=512 -timeout=10 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="$folder/findings/$target-" \
    "$folder/corpus/$target" "${seeds[@]}" >"$log" 2>&1; then
    awk -v target="$target" '/cov:/ {for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1)}
      /number_of_executed_units/ {units = $2}
      END {printf "%-14s %9d inputs, %d edges, no finding\n", target, units, edges}' "$log"
  else
    tail -n 60 "$log"
    printf '%-14s FOUND, see %s and %s/findings/%s-*\n' "$target" "$log" "$folder" "$target"
    return 255  # stops xargs
  fi
}
export -f fuzz
printf '%s\n' "$@" | xargs -P "$JOBS" -I '{}' bash -c 'fuzz {}'
