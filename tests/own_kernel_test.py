#!/usr/bin/env python3
"""The kernel of docs/kernel-abi.md, compiled and gated as it says; then broken, one way at a time.

usage: tests/own_kernel_test.py PROGRAM INCLUDE COMPILER     from the repository's root
"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, INCLUDE, COMPILER = sys.argv[1:4]
MODEL = "golden/models/mistral-7b-v0.3.json"
# Its name stands in reports alone.
KERNEL = pathlib.Path("examples/c/rope.c").read_text().replace('"c.rotate.f32"', '"mine.rotate.f32"')
COMPILE = re.search(r"^\$ cc (.*) -I include examples/c/rope.c -o rope.so -lm$",
                    pathlib.Path("docs/kernel-abi.md").read_text(), re.M).group(1)
WAIVE = ("--waive", "frequency,table")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


class OwnKernel(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def build(self, *changes, name="mine.so", flags=(), source=KERNEL):
        """The kernel with each (old, new) of `changes` made."""
        for old, new in changes:
            self.assertIn(old, source)
            source = source.replace(old, new)
        (self.folder / "mine.c").write_text("#include <stdio.h>\n" + source)
        library = self.folder / name
        subprocess.run([COMPILER, *COMPILE.split(), *flags, "-I", INCLUDE, self.folder / "mine.c",
                        "-o", library, "-lm"], check=True, timeout=300)
        return library

    def gate(self, library, *arguments, expect, positions=64):
        result = run("gate", MODEL, "--library", library, "--positions", positions, *arguments)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    BEFORE = "  for (int64_t token = 0; token < tokens; ++token) {\n"
    AFTER = "  return POSGAUGE_OK;\n"

    def before(self, code):
        return (self.BEFORE, code + self.BEFORE)

    def after(self, code):
        return (self.AFTER, code + self.AFTER)

    def test_as_it_is(self):
        text = self.gate(self.build(), expect=0).stdout
        self.assertIn("HOLDS", text)
        self.assertIn("covered: every stage", text)
        # Double angles are within two spacings of f32 there; no contract need be shown.
        self.assertIn("adequate: all kernels", text)
        self.assertIn("up to position 32767 at most", text)
        self.assertNotIn("declares", text)

    def test_refusing_the_call_that_counts_is_not_a_pass(self):
        library = self.build(self.before(
            '  if (x->shape[0] > 32) { strncpy(why, "32 tokens", why_size); return POSGAUGE_UNSUPPORTED; }\n'))
        text = self.gate(library, expect=1).stdout
        self.assertIn("not covered: mine.rotate.f32 (all): contract unsupported, 32 tokens", text)
        self.assertNotIn("covered: every stage", text)
        report = json.loads(self.gate(library, "--require", "adequate", "--json", expect=1).stdout)
        self.assertEqual(report["kernels"][0]["keeps_contract"], "unsupported")
        self.assertEqual(report["kernels"][0]["adequate"], "unsupported")
        self.assertEqual(len(report["coverage"]["not_covered"]), 1)

    def test_refusing_every_call_is_nothing(self):
        library = self.build(self.before("  return POSGAUGE_UNSUPPORTED;\n"))
        text = self.gate(library, expect=4).stdout
        self.assertIn("NOTHING PROVEN", text)
        self.assertNotIn("adequate:", text)
        self.assertNotIn("\ncovered:", text)

    def test_positions_that_are_not_served(self):
        library = self.build((".run = Rotate", ".largest_position = 100, .run = Rotate"),
                             self.before("  for (int64_t i = 0; i < x->shape[0]; ++i) if (((int64_t*)positions->data)[i] > 100) return POSGAUGE_FAILED;\n"))
        text = self.gate(library, expect=1).stdout
        self.assertRegex(text, r"not covered: mine.rotate.f32 \(all\) beyond position 100, \d+ of \d+ positions")
        horizon = int(re.search(r"up to position (\d+) at most", text).group(1))
        self.assertTrue(0 < horizon <= 100, text)
        # The golden cases beyond it are left out, not failed.
        self.assertNotIn("FAIL", text)
        text = self.gate(library, "--waive", "range", expect=0).stdout
        self.assertIn("waived: mine.rotate.f32 (all) beyond position 100", text)
        kernel = json.loads(self.gate(library, "--json", expect=1).stdout)["kernels"][0]
        self.assertLess(kernel["positions_served"], kernel["positions_planned"])
        self.gate(library, "--max-position", "100", expect=0)

    def test_a_kernel_that_serves_nothing_is_said_to(self):
        library = self.build(('"rope"', '"yarn"'))
        text = self.gate(library, expect=4).stdout
        self.assertIn("left out, serves yarn: mine.rotate.f32", text)
        library = self.build(("= kLargestRotaryDim,", "= 64,"))
        text = self.gate(library, expect=4).stdout
        self.assertIn("left out, rotates at most 64 channels: mine.rotate.f32", text)

    def test_memory(self):
        for code, says, here in (
            ("  Channels(out, tokens - 1, heads - 1)[head_dim] = 0;\n",
             "wrote to memory outside out: after its end", "wrote to memory outside out: after its end"),
            ("  Channels(out, 0, 0)[-1] = 0;\n",
             "wrote memory 4 bytes before the beginning of out", "outside out: before its beginning"),
            ("  Channels(x, tokens - 1, heads - 1)[head_dim] = 0;\n",
             "wrote memory right after the end of x", "outside x: after its end"),
            ("  ((int64_t*)positions->data)[0] = 7;\n",
             "wrote to its input positions", "wrote to its input positions"),
            ("  if (x->data != out->data) Channels(x, 0, 0)[1] += 1;\n",
             "wrote to its input x", "wrote to its input x"),
        ):
            with self.subTest(says=says):
                library = self.build(self.after(code))
                self.assertIn(f"mine.rotate.f32 {says}", self.gate(library, expect=3).stdout)
                self.assertIn(here, self.gate(library, "--in-process", expect=3).stdout)

    def test_strides_that_are_not_read(self):
        library = self.build(("token * x->strides[0] + head * x->strides[1]",
                              "(token * x->shape[1] + head) * x->shape[2]"))
        text = self.gate(library, expect=3).stdout
        self.assertIn("placement", text)

    def test_packed_rows(self):
        # Compact rows, and rows with the same gap behind each, do not tell.
        library = self.build(("token * x->strides[0] + head", "token * x->shape[1] * x->strides[1] + head"))
        text = self.gate(library, expect=3).stdout
        self.assertIn("FAIL placement", text)
        self.assertNotIn("FAIL contract", text)
        library = self.build(self.after("  if (out->strides[0] > heads * out->strides[1]) Channels(out, 0, heads)[0] = 0;\n"))
        text = self.gate(library, expect=3).stdout
        self.assertIn("wrote to memory outside out: between its rows", text)
        self.assertIn(", packed", text)
        self.assertIn("between its rows", self.gate(library, "--in-process", expect=3).stdout)

    def test_packed_rows_that_are_not_offered(self):
        library = self.build(self.before(
            '  if (x->strides[0] > heads * head_dim) { strncpy(why, "compact rows", why_size); return POSGAUGE_UNSUPPORTED; }\n'))
        text = self.gate(library, expect=0).stdout
        self.assertIn("unsupported: placement, packed rows: compact rows; rows with gaps: compact rows", text)

    def test_heads_beyond_the_plans(self):
        library = self.build(("head < heads; ++head)", "head < heads && head < 8; ++head)"))
        text = self.gate(library, expect=1).stdout
        self.assertIn("FAIL contract", text)
        self.assertIn("/h32/", self.replay(text))

    def replay(self, text):
        """The line that repeats the contract's failure, which it must."""
        repro = next(line for line in text.splitlines() if "posgauge repro contract" in line)
        again = run(*shlex.split(repro.split("posgauge ", 1)[1]))
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        return repro

    def test_heads_of_the_keys(self):
        # This model has 8 of them.
        library = self.build(self.after("  if (heads == 8) Channels(out, 0, 0)[0] += 1;\n"))
        text = self.gate(library, expect=1).stdout
        self.assertIn("FAIL contract", text)
        self.assertIn("/h8/", self.replay(text))

    def test_what_fails_in_long_calls_alone_is_repeated_by_one(self):
        library = self.build(self.after("  if (tokens > 40) Channels(out, tokens - 1, 0)[0] += 1;\n"))
        text = self.gate(library, expect=1).stdout
        self.assertIn("FAIL contract", text)
        self.assertRegex(self.replay(text), "/n[0-9]+-")

    def test_a_contract_that_is_not_its_own_is_said(self):
        text = self.gate(self.build(), "--contract", "f32", expect=0).stdout
        self.assertIn("held to --contract f32, not to what kernels declare", text)

    def test_weak_contract(self):
        source = re.sub(r'\.contract =\s*".*?",', '.contract = "",', KERNEL, flags=re.S)
        text = self.gate(self.build(source=source), expect=4).stdout
        self.assertIn("declares position=bf16", text)
        self.assertRegex(text, r"[\d.]+ % blind")

    def test_not_adequate_shows_the_contract(self):
        library = self.build(("angle = (double)position[token * positions->strides[0]] * frequency[pair]",
                              "angle = (float)position[token] * (float)frequency[pair]"),
                             ("angle=f64", "angle=f32"))
        text = self.gate(library, expect=0).stdout
        self.assertIn("not within 2 spacings", text)
        self.assertRegex(text, r"\n +declares .*angle=f32")

    def test_golden_failure_is_one_of_many(self):
        # Only golden cases have two heads.
        library = self.build(self.before(
            '  if (x->shape[1] == 2) { strncpy(why, "two heads", why_size); return POSGAUGE_FAILED; }\n'),
            name="a library's.so")
        text = self.gate(library, expect=1).stdout
        self.assertIn("two heads", text)
        repros = [line for line in text.splitlines() if "posgauge repro golden:" in line]
        self.assertTrue(repros, text)
        arguments = shlex.split(repros[0].split("posgauge ", 1)[1])
        again = run(*arguments)
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        self.assertIn("FAIL golden:", again.stdout)
        shutil.copytree("golden/vectors/rope", self.folder / "gold en")
        text = self.gate(library, "--golden", self.folder / "gold en", expect=1).stdout
        repro = next(line for line in text.splitlines() if "posgauge repro golden:" in line)
        again = run(*shlex.split(repro.split("posgauge ", 1)[1]))
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)

    def test_what_a_library_leaves_behind(self):
        # -ffast-math at the link sets flush-to-zero when the library is loaded.
        library = self.build(flags=("-Ofast",), name="fast.so")
        self.gate(library, "--waive", "range", expect=0)
        self.gate(library, "--waive", "range", "--in-process", expect=0)
        library = self.build(('#include <math.h>', '#include <math.h>\n#include <fenv.h>'),
                             self.after("  fesetround(FE_UPWARD);\n"))
        self.gate(library, expect=0)
        library = self.build(self.before('  printf("hello\\n");\n'))
        result = self.gate(library, "--json", expect=0)
        self.assertEqual(json.loads(result.stdout)["exit_code"], 0)
        self.assertEqual(result.stderr, "")
        result = self.gate(library, "--json", "--in-process", expect=0)
        self.assertEqual(json.loads(result.stdout)["exit_code"], 0)
        self.assertIn("hello", result.stderr)

    def test_two_libraries_with_one_name(self):
        first, second = self.build(name="a.so"), self.build(name="b.so")
        result = run("gate", MODEL, "--library", first, "--library", second)
        self.assertEqual(result.returncode, 2)
        self.assertIn("two libraries have a kernel mine.rotate.f32", result.stderr)

    def test_descriptors(self):
        for change, says in (
            ((".run = Rotate", ".largest_position = -1, .run = Rotate"), "largest_position"),
            ((".run = Rotate", ".largest_position = NAN, .run = Rotate"), "largest_position"),
            (("= kLargestRotaryDim,", "= -1,"), "largest_rotary_dim"),
            (('"rope"', '"rpoe"'), "rpoe"),
            (('"rope"', '""'), "schemes"),
            (("alignment", "threads"), "threads"),
        ):
            with self.subTest(change=change):
                result = run("gate", MODEL, "--library", self.build(change))
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertIn(says, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
