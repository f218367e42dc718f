#!/usr/bin/env python3
"""Minimal failing cases: kernels that fail only beyond a position, among heads, beside a narrow
rotary block, or by breaking memory are searched; what is found is really minimal, its case is judged
again and its program fails with the kernel and holds with an honest one.

usage: tests/minimal_case_test.py PROGRAM FAULTY INCLUDE CC CXX     from the repository's root
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FAULTY, INCLUDE, CC, CXX = sys.argv[1:6]
KERNEL = pathlib.Path("examples/c/rope.c").read_text()
ANGLE = "(double)position[token * positions->strides[0]] * frequency[pair]"
LATE = "(position[token * positions->strides[0]] >= {} ? 1.01 : 1.0) * "
SECOND = "*second = (float)(u * s + v * c);"
RETURN = "  return POSGAUGE_OK;\n}"


def run(*arguments, expect=1, **options):
    done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)
    if done.returncode != expect:
        raise AssertionError(f"{arguments} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class MinimalCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.honest = cls.build("honest")

    @classmethod
    def build(cls, name, *changes):
        source = KERNEL
        for old, new in changes:
            assert old in source, old
            source = source.replace(old, new)
        path, library = cls.folder / f"{name}.c", cls.folder / f"{name}.so"
        path.write_text(source)
        run(CC, "-std=c99", "-O1", "-shared", "-fPIC", "-I", INCLUDE, path, "-o", library, "-lm",
            expect=0)
        return library

    def gate(self, library, *arguments, check="contract", expect=1):
        """The minimal record of the check, and the files by ending."""
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        text = run(PROGRAM, "gate", "--library", library, "--golden", self.folder, *arguments,
                   "--minimal-case", out, "--json", expect=expect)
        verdict = next(v for v in json.loads(text)["verdicts"] if v["check"] == check)
        self.assertEqual(verdict["outcome"], "FAIL")
        minimal = verdict["minimal"]
        self.assertTrue(minimal["complete"], minimal)
        files = {pathlib.Path(file).suffixes[-2] + pathlib.Path(file).suffix
                 if file.endswith("case.safetensors") else pathlib.Path(file).suffix: file
                 for file in minimal["files"]}
        return minimal, files

    def repeats(self, minimal, files, broken, honest, kernel=None, repro=1):
        """Program, case and id say what the gate said."""
        program = pathlib.Path(files[".cc"]).with_suffix("")
        run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", files[".cc"], "-o", program, "-ldl",
            expect=0)
        said = run(program, broken, expect=1)
        self.assertIn("FAILS", said)
        environment = {**os.environ, **({"KERNEL": kernel} if kernel else {})}
        self.assertIn("HOLDS", run(program, honest, expect=0, env=environment))
        if minimal["note"].startswith("judged by posgauge "):
            words = shlex.split(minimal["note"].split(";")[0])[3:]
            run(PROGRAM, *words, expect=1)
        run(PROGRAM, *shlex.split(minimal["repro"])[1:], expect=repro)
        return said

    def rope(self, name, *changes, settings=("head_dim=16",), expect=1):
        broken = self.build(name, *changes)
        minimal, files = self.gate(broken, "--scheme", "rope", *[
            word for setting in settings for word in ("--set", setting)], "--positions", "200",
            expect=expect)
        self.repeats(minimal, files, broken, self.honest, repro=expect)
        return minimal

    def test_a_position_from_which_on_it_fails(self):
        minimal = self.rope("late", (ANGLE, LATE.format(257) + ANGLE), settings=("head_dim=16", "base=500000"))
        self.assertIn("position >= 257", minimal["matters"])
        for thing in ("heads", "base", "rotary_dim"):
            self.assertIn(thing, minimal["does_not_matter"])
        self.assertIn("head_dim=2 rotary_dim=2", minimal["case"])
        self.assertIn("base=10000", minimal["case"])
        self.assertIn("positions 257; 1 head; x 1 at [0, 0, 0], else 0", minimal["case"])
        self.assertTrue(minimal["repro_is_minimal"])
        self.assertIn("/p257/h1/", minimal["repro"])

    def test_three_heads(self):
        minimal = self.rope("heads", (SECOND, SECOND.replace("u * s", "(heads >= 3 ? -u : u) * s")))
        self.assertIn("heads >= 3", minimal["matters"])
        self.assertIn("3 heads", minimal["case"])
        self.assertIn("position >= 1", minimal["matters"])

    def test_a_block_narrower_than_the_head(self):
        minimal = self.rope(
            "narrow", (RETURN, "  if (head_dim > 2 * pairs) *Channels(out, 0, 0) += 1;\n" + RETURN),
            settings=("head_dim=16", "rotary_dim=8"))
        self.assertIn("rotary_dim < head_dim", minimal["matters"])
        self.assertIn("rotary_dim=2 ", minimal["case"])
        self.assertIn("head_dim=3 ", minimal["case"])
        for thing in ("heads", "position", "values of x"):
            self.assertIn(thing, minimal["does_not_matter"])

    def test_a_value_that_matters(self):
        minimal = self.rope("clamped", (SECOND, "*second = (float)(u * s + v * c);\n"
                                                "        if (u > 2) *second = 0;"))
        self.assertIn("values of x", minimal["matters"])
        self.assertIn("positions 0; 1 head; x 4 at [0, 0, 0], 1 at [0, 0, 1]", minimal["case"])

    def test_one_element_past_the_output(self):
        minimal = self.rope(
            "beyond", (RETURN, "  if (tokens > 0 && position_of(call) >= 40) Channels(out, tokens - 1,"
                               " heads - 1)[head_dim] = 1;\n" + RETURN),
            ("static int32_t Rotate(", "static int64_t position_of(const posgauge_call* call) {\n"
             "  return ((int64_t*)((char*)call->inputs[1].tensor.data + "
             "call->inputs[1].tensor.byte_offset))[call->inputs[1].tensor.shape[0] - 1];\n}\nstatic int32_t Rotate("), expect=3)
        self.assertIn("position >= 40", minimal["matters"])
        self.assertIn("; x 0", minimal["case"])

    def test_every_quantity(self):
        for scheme, kernel, settings, part in (
                ("rope", "position_mod_4096.table.f32", ["head_dim=8"], "positions 4096"),
                ("rope", "wrong_base.frequencies.f64", ["head_dim=8"], "head_dim=4"),
                ("sinusoidal", "position_bf16.embed.f32", ["width=8"], "positions 257"),
                ("alibi", "position_uint8.bias.f32", [], "heads=1"),
                ("alibi", "position_uint8.scores.f32", ["head_dim=8"], "heads=1"),
                ("alibi", "position_uint8.attention.f32", ["head_dim=8"], "heads=1")):
            with self.subTest(kernel=kernel, scheme=scheme):
                minimal, files = self.gate(
                    FAULTY, "--scheme", scheme, "--kernel", "faulty." + kernel, "--positions", "100",
                    *[word for setting in settings for word in ("--set", setting)])
                self.assertIn(part, minimal["case"])
                self.repeats(minimal, files, FAULTY, FAULTY,
                             kernel="honest." + kernel.split(".", 1)[1])

    def test_a_law_has_fewer_heads_and_smaller_positions(self):
        broken = self.build("late_law", (ANGLE, LATE.format(257) + ANGLE))
        minimal, _ = self.gate(broken, "--scheme", "rope", "--set", "head_dim=8", "--positions", "50",
                               check="one_frequency")
        self.assertIn("heads", minimal["does_not_matter"])
        self.assertIn("/h1/", minimal["repro"])
        run(PROGRAM, *shlex.split(minimal["repro"])[1:], expect=1)

    def test_repro_finds_it_too(self):
        broken = self.build("late_again", (ANGLE, LATE.format(9) + ANGLE))
        text = run(PROGRAM, "repro", "contract/c.rotate.f32/rope/p4097/h4/s1", "--library", broken,
                   "--minimize")
        self.assertRegex(text, r"matters +position >= 9\n")
        self.assertRegex(text, r"does not matter .*heads.*base")
        self.assertEqual(text, run(PROGRAM, "repro", "contract/c.rotate.f32/rope/p4097/h4/s1",
                                   "--library", broken, "--minimize"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
