#!/usr/bin/env bash
# Installs the Debian packages that are missing, and says nothing when none is.
# usage: tools/install-dependencies.sh [GROUP...]   groups: build test check fuzz bench; default:
# build test
set -euo pipefail

# group, package, what for
packages='
build g++                 C++20 compiler
build cmake               build system, 3.25 or later
build ninja-build         the generator of the presets
build libmpfr-dev         correctly rounded arithmetic of the reference
build libgmp-dev          integers below MPFR
build libboost-dev        Boost.Multiprecision, static-precision numbers over MPFR
build libfmt-dev          text formatting
build nlohmann-json3-dev  model configs, golden files, records
build libdlpack-dev       tensors in the kernel interface
build libtomlplusplus-dev contracts in files
build libhwy-dev          Highway, the vectorised kernels
build librapidcheck-dev   generators and shrinking for the laws
build libssl-dev          SHA-256 of golden files
build libvalijson-dev     JSON Schema of golden manifests
build zlib1g-dev          deflated members of npz files
build libcli11-dev        command line of the program
test  libgtest-dev        unit tests
test  python3             the checks in tools/
test  python3-mpmath      the second oracle of the reference
test  python3-numpy       files of NumPy, the adapter for functions in Python
test  python3-jsonschema  JSON Schema of golden manifests
test  python3-onnx        golden vectors as ONNX backend tests
test  ccache              the test that adds a scheme compiles a second tree
test  libsleef-dev        examples/sleef; make bench
check clang-format-14     make format, make check-format
check clang-tidy-14       make tidy
check gcovr               make coverage
fuzz  clang-14            make fuzz
fuzz  libclang-rt-14-dev  its sanitizers and libFuzzer
bench libbenchmark-dev    make bench
'

wanted=()
while read -r group package _; do
  [[ -n $group && " ${*:-build test} " == *" $group "* ]] && wanted+=("$package")
done <<<"$packages"
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
  echo "This is not Debian: cannot tell what is missing. Needed: ${missing[*]}" >&2
  exit 0
fi

install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "Packages are missing. Run as root: $install" >&2
    exit 1
  fi
  as_root=(sudo)
  [[ -t 0 ]] || as_root+=(-n)  # nobody is there to type a password
fi

echo "Running${as_root:+ with sudo}: $install" >&2
apt=(${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get
     -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; }; then
  echo "Could not install packages. Run as root: $install" >&2
  exit 1
fi
