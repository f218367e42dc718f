#!/usr/bin/env bash
# clang-tidy over the library rooms, or over the sources that are named.
# usage: tools/tidy.sh [JOBS [FILE...]]   needs build/release/compile_commands.json
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-2}
shift || true
if (($#)); then
  printf '%s\0' "$@"
else
  find schemes reference verify fast properties golden -name '*.cc' -print0
fi | xargs -0 -n 1 -P "$jobs" clang-tidy-14 -p build/release --quiet \
  --extra-arg=-Wno-unknown-warning-option  # those of g++ alone
