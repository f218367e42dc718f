# The front door. CMake does the work; every target here is one or two commands that can be typed.
.DEFAULT_GOAL := help
.PHONY: help deps gate test golden bench coverage asan fuzz format check-format tidy install clean

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
CONFIG ?= golden/models/llama-3.1-8b.json

# Nine fuzzers of 450 s each are more than an hour of processor time.
FUZZ_SECONDS ?= 450

ROOMS := schemes reference verify fast properties golden cli bench fuzz tests examples
SOURCES = $(shell find $(ROOMS) -name '*.h' -o -name '*.cc' -o -name '*.c' -o -name '*.cu' | sort)
PROGRAM := build/release/cli/posgauge

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 16

deps: ## install the Debian packages that are missing
	@tools/install-dependencies.sh build test

gate: program ## gate our own kernels for a model's config (CONFIG=..., default Llama 3.1 8B)
	$(PROGRAM) gate $(CONFIG)

test: build/release ## build everything and run all tests
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -j $(JOBS)

golden: program ## recompute and verify every golden vector
	$(PROGRAM) golden verify golden/vectors

bench: deps ## build and run the benchmarks
	@tools/install-dependencies.sh bench
	cmake --preset release -DPOSGAUGE_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target bench/all
	set -e; for program in build/release/bench/posgauge_bench_*; do $$program; done

coverage: build/coverage ## line coverage of reference, schemes, fast, golden: each and together at least 95 %
	@tools/install-dependencies.sh check
	tools/coverage.py --jobs $(JOBS)

asan: build/asan ## run the quick tests under the address and undefined-behaviour sanitizers
	cmake --build --preset asan -j $(JOBS)
	ctest --preset asan -j $(JOBS)

fuzz: deps ## run every fuzzer of the parsers for FUZZ_SECONDS (default 450), JOBS at a time
	@tools/install-dependencies.sh fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/fuzz.sh $(FUZZ_SECONDS) $(JOBS)

format: ## reformat all sources
	@tools/install-dependencies.sh check
	@clang-format-14 -i $(SOURCES)

check-format: ## fail if a source is not formatted
	@tools/install-dependencies.sh check
	@clang-format-14 --dry-run --Werror $(SOURCES)

tidy: build/release ## clang-tidy over the library rooms
	@tools/install-dependencies.sh check
	tools/tidy.sh $(JOBS)

install: program ## install program, libraries and headers to PREFIX (default /usr/local)
	cmake --build --preset release -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

clean: ## remove the build folders
	rm -rf build

.PHONY: program
program: build/release
	@cmake --build --preset release -j $(JOBS) --target posgauge

# Configuring is fast; Ninja configures again by itself when a CMake file or a list of files changes.
build/%: deps
	@[ -f $@/build.ninja ] || cmake --preset $*
