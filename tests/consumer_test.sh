#!/usr/bin/env bash
# Builds and runs tests/consumer, a stranger's project.
# usage: consumer_test.sh installed|subproject SOURCE BUILD WORK
#   installed:  installs BUILD to a new prefix and finds posgauge there
#   subproject: compiles SOURCE inside the stranger's build
set -euo pipefail
how=$1 source=$2 build=$3 work=$4
rm -rf "$work"
mkdir -p "$work"

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
if [[ $how == installed ]]; then
  cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
  find=(-DCMAKE_PREFIX_PATH="$work/prefix")
  wrong=$(find "$work/prefix/include" -type f ! -name '*.h' -o -name '*-inl.h' -o -type d -empty)
  [[ -z $wrong ]] || { echo "installed, but not a public header: $wrong"; exit 1; }
else
  find=(-DPOSGAUGE_SOURCE="$source" -DPOSGAUGE_PRECOMPILE=ON)
fi
cmake -S "$source/tests/consumer" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${launcher[@]}" "${find[@]}" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" -j 2 --target consumer >"$work/build.log" || { cat "$work/build.log"; exit 1; }

if [[ $how == subproject ]]; then
  for wrong in "$work/build/include" "$work/build/generated"; do
    [[ ! -e $wrong ]] || { echo "posgauge writes into its parent's build folder: $wrong"; exit 1; }
  done
  cmake --install "$work/build" --prefix "$work/parent" >/dev/null
  [[ ! -e $work/parent/include ]] || { echo "posgauge installs itself with its parent"; exit 1; }
fi
if grep -E '"command".*consumer/main.cc' "$work/build/compile_commands.json" | grep -E -- '-ffp-contract|-W'; then
  echo "posgauge's own compile options reach the consumer"
  exit 1
fi

# The installed program finds the vectors that came with it, wherever both are moved.
if [[ $how == installed && -x $work/prefix/bin/posgauge ]]; then
  mv "$work/prefix" "$work/moved"
  (cd "$work" && moved/bin/posgauge golden verify) >"$work/verify.txt" || { cat "$work/verify.txt"; exit 1; }
  grep -q "/moved/share/posgauge/golden/vectors: .* 0 undecided" "$work/verify.txt" || { cat "$work/verify.txt"; exit 1; }
fi

# cos(1) = 0.54030230586813971740..., rounded once to binary64.
"$work/build/consumer" >"$work/output.txt"
diff - "$work/output.txt" <<'END'
reference: cos(1 rad) = 0x1.14a280fb5068cp-1, 1 proven
fast: 1 frequency, 1 rad per token
verify: kernel interface 1, table of bf16
END
