#!/usr/bin/env python3
"""The frozen kernel interface: its layout, libraries built with other headers, ragged batches, lists.

usage: tests/kernel_abi_test.py PROGRAM INCLUDE COMPILER CXX     from the repository's root
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, INCLUDE, COMPILER, CXX = sys.argv[1:5]
SMALL = ("--scheme", "rope", "--set", "head_dim=8", "--set", "rotary_dim=8", "--positions", "64",
         "--max-position", "1000")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic-errors", "-fsyntax-only", "-I", INCLUDE)


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True,
                          timeout=300)


class KernelAbi(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def build(self, source, *flags):
        library = self.folder / "library.so"
        result = run(COMPILER, "-std=c99", "-O1", "-shared", "-fPIC", "-I", INCLUDE, *flags,
                     f"tests/{source}", "-o", library, "-lm")
        self.assertEqual(result.returncode, 0, result.stderr)
        return library

    def gate(self, library, *arguments, expect, scheme=SMALL):
        result = run(PROGRAM, "gate", *scheme, "--library", library, *arguments)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def test_layout_is_what_was_frozen(self):
        layout = pathlib.Path("tests/kernel_abi_layout.c")
        for compiler in ((COMPILER, "-std=c99", "-x", "c"), (CXX, "-std=c++20", "-x", "c++")):
            result = run(*compiler, *STRICT, layout)
            self.assertEqual(result.returncode, 0, result.stderr)
            # Any other number would not have compiled.
            for old, new in (("run, 96, 8", "run, 88, 8"), ("POSGAUGE_U8 == 6", "POSGAUGE_U8 == 7"),
                             ("sizeof(posgauge_tensor) == 64", "sizeof(posgauge_tensor) == 72")):
                text = layout.read_text()
                self.assertIn(old, text)
                (self.folder / "other.c").write_text(text.replace(old, new))
                self.assertNotEqual(run(*compiler, *STRICT, self.folder / "other.c").returncode, 0, new)

    def test_descriptors_of_other_sizes(self):
        for more in (0, 8, 40):
            library = self.build("kernel_descriptors.c", f"-DMORE={more}")
            for where in ((), ("--in-process",)):
                with self.subTest(more=more, where=where):
                    report = json.loads(self.gate(library, *where, "--waive", "frequency,table",
                                                  "--json", expect=0).stdout)
                    self.assertEqual([kernel["name"] for kernel in report["kernels"]],
                                     ["table.first", "table.second"])

    def test_descriptors_of_impossible_sizes(self):
        text = pathlib.Path("tests/kernel_descriptors.c").read_text()
        for size in ("0", "96", "108"):
            (self.folder / "odd.c").write_text(text.replace("sizeof(descriptor), kernel_name",
                                                            f"{size}, kernel_name"))
            library = self.folder / "odd.so"
            built = run(COMPILER, "-std=c99", "-shared", "-fPIC", self.folder / "odd.c", "-o", library)
            self.assertEqual(built.returncode, 0, built.stderr)
            for where in ((), ("--in-process",)):
                with self.subTest(size=size, where=where):
                    result = self.gate(library, *where, expect=2)
                    self.assertIn(f"kernel descriptor is {size} bytes, this ABI needs 104 or more",
                                  result.stderr)

    def ragged(self, fault="kNone", largest=4095):
        return self.build("ragged_kernels.c", f"-DFAULT={fault}", f"-DLARGEST={largest}")

    def test_ragged_batches(self):
        report = json.loads(self.gate(self.ragged(), "--json", expect=0).stdout)
        self.assertEqual({kernel["name"]: kernel["keeps_contract"] for kernel in report["kernels"]},
                         {"ragged.offsets": "PASS", "ragged.from_zero": "PASS", "ragged.positions": "PASS"})

    def test_mistakes_of_ragged_batches(self):
        for fault, kernels in (("kPositionsGoOn", ("offsets", "from_zero")),
                               ("kEmptyCounts", ("offsets",)),
                               ("kOffsetIgnored", ("offsets",)),
                               ("kShortLeftOut", ("offsets", "positions")),
                               ("kLastLeftOut", ("offsets", "from_zero", "positions"))):
            with self.subTest(fault=fault):
                report = json.loads(self.gate(self.ragged(fault), "--json", expect=1).stdout)
                failing = {kernel["name"].removeprefix("ragged.") for kernel in report["kernels"]
                           if kernel["keeps_contract"] == "FAIL"}
                self.assertEqual(failing, set(kernels))

    def test_a_ragged_kernel_says_how_far_it_goes(self):
        for largest in (0, 4096):
            result = self.gate(self.ragged(largest=largest), expect=2)
            self.assertIn("ragged.from_zero: rotate takes positions or offsets with cu_seqlens, or has "
                          "a largest_position in 1..4095", result.stderr)

    def test_a_list_that_is_named_comes_where_it_is_named(self):
        mrope = ("--scheme", "mrope", "--set", "head_dim=16", "--set", "rotary_dim=16", "--set",
                 "section=[2,3,3]", "--positions", "64", "--max-position", "1000", "--waive",
                 "frequency,table")
        flags = ('-DSCHEMES="mrope"', '-DINPUTS="x:f32 section:i64 cos:f32 sin:f32"')
        self.gate(self.build("kernel_descriptors.c", *flags, "-DSECTION"), expect=0, scheme=mrope)
        # It does look.
        flags = ('-DSCHEMES="mrope"', '-DINPUTS="x:f32 section:i32 cos:f32 sin:f32"')
        text = self.gate(self.build("kernel_descriptors.c", *flags, "-DSECTION"), expect=1,
                         scheme=mrope).stdout
        self.assertIn("the list section is not what it should be", text)

    def test_grouped_heads(self):
        alibi = ("--scheme", "alibi", "--set", "heads=4", "--set", "head_dim=8", "--positions", "64",
                 "--max-position", "1000", "--waive", "slopes")
        library = self.build("grouped_scores.c")
        report = json.loads(self.gate(library, "--json", expect=0, scheme=alibi).stdout)
        outcomes = {verdict["check"]: verdict["outcome"] for verdict in report["verdicts"]}
        self.assertEqual(outcomes["grouped_heads"], "PASS")
        text = self.gate(self.build("grouped_scores.c", "-DFAULT=1"), expect=1, scheme=alibi).stdout
        self.assertIn("FAIL grouped_heads", text)
        self.assertNotIn("FAIL contract", text)
        # It reads heads that are not there.
        text = self.gate(self.build("grouped_scores.c", "-DFAULT=2"), expect=3, scheme=alibi).stdout
        self.assertIn("FAIL grouped_heads  grouped.scores  overrun", text)

    def test_time_for_a_whole_run(self):
        library = self.ragged()
        result = self.gate(library, "--run-time-limit", "1e-9", "--json", expect=4)
        report = json.loads(result.stdout)
        self.assertEqual({verdict["outcome"] for verdict in report["verdicts"]}, {"not run"})
        self.assertIn("NOTHING PROVEN", report["conclusion"][0])
        # A kernel that takes its time: the contract was begun, and goes on; no law was.
        text = pathlib.Path("tests/ragged_kernels.c").read_text()
        slow = self.folder / "slow.c"
        slow.write_text("#define _POSIX_C_SOURCE 200112L\n#include <time.h>\n" + text.replace(
            "  int64_t filled = 0;", "  const struct timespec nap = {0, 200000000};\n"
            "  nanosleep(&nap, NULL);\n  int64_t filled = 0;"))
        built = run(COMPILER, "-std=c99", "-O1", "-shared", "-fPIC", "-DLARGEST=4095", "-I", INCLUDE, slow,
                    "-o", library, "-lm")
        self.assertEqual(built.returncode, 0, built.stderr)
        limit = ("--kernel", "ragged.offsets", "--run-time-limit", "0.3")
        report = json.loads(self.gate(library, *limit, "--json", expect=1).stdout)
        outcomes = {verdict["check"]: verdict["outcome"] for verdict in report["verdicts"]}
        self.assertEqual(outcomes.pop("contract"), "PASS")
        self.assertEqual(set(outcomes.values()), {"not run"})
        self.assertIn("--run-time-limit 0.3 was over", report["verdicts"][-1]["note"])
        text = self.gate(library, *limit, expect=1).stdout
        self.assertRegex(text, r"NOT COVERED: 1 checks passed, .*, \d+ not run; ")
        self.assertRegex(text, r"not covered: \d+ checks that were not run; allow more by --run-time-limit")
        for limit in ("0", "-1", "nan"):
            self.assertIn("--run-time-limit", self.gate(library, "--run-time-limit", limit, expect=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
