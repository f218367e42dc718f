#!/usr/bin/env python3
"""Builds one of examples/ against an installed posgauge and gates it; then breaks it, and gates again.

usage: tests/examples_test.py c|cpp|sleef|cuda PREFIX     from the repository's root

Exits with 77 if nothing was run because the machine lacks what the example needs.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

EXAMPLE, PREFIX = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
NOT_RUN = 77
MODELS = pathlib.Path("golden/models")


def run(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)


class Example(unittest.TestCase):
    """A test of the example in the folder of that name."""
    folder = None

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)

    def build(self, *changes):
        """The library, with each (file, old, new) of `changes` made."""
        shutil.copytree(pathlib.Path("examples") / self.folder, self.work / "source", dirs_exist_ok=True)
        for file, old, new in changes:
            path = self.work / "source" / file
            text = path.read_text()
            self.assertEqual(text.count(old), 1, old)
            path.write_text(text.replace(old, new))
        for command in (
                ("cmake", "-S", self.work / "source", "-B", self.work / "build", "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={PREFIX}"),
                ("cmake", "--build", self.work / "build")):
            result = run(*command)
            self.assertEqual(result.returncode, 0, result.stdout)
        [library] = (self.work / "build").glob("*.so")
        return library

    def posgauge(self, *arguments, expect):
        result = run(PREFIX / "bin/posgauge", *arguments)
        self.assertEqual(result.returncode, expect, result.stdout)
        return result.stdout

    def gate(self, library, model, *arguments, expect=0):
        return self.posgauge("gate", MODELS / f"{model}.json", "--library", library, *arguments,
                             expect=expect)

    def assert_holds(self, library, model, *arguments):
        text = self.gate(library, model, *arguments)
        self.assertIn("\nHOLDS: ", text)
        self.assertIn("\ncovered: every stage", text)
        self.assertIn("adequate: all kernels are within 2 spacings", text)

    def assert_fails(self, library, model, kernel, *arguments):
        text = self.gate(library, model, *arguments, expect=1)
        self.assertIn("\nDOES NOT HOLD: ", text)
        self.assertRegex(text, rf"FAIL contract  {kernel}\n(?:  .*\n)+?  first failing +position \d+")
        return text


class C(Example):
    folder = "c"

    def test_holds_in_every_layout(self):
        library = self.build()
        for model in ("mistral-7b-v0.3", "pythia-12b", "gpt-j-6b"):  # half, partial, interleaved
            self.assert_holds(library, model)

    def test_sign_of_the_sine(self):
        library = self.build(("rope.c", "s = sign * sin(angle)", "s = -sign * sin(angle)"))
        text = self.assert_fails(library, "mistral-7b-v0.3", "c.rotate.f32")
        self.assertRegex(text, r"first failing +position 1,")  # at 0 there is no sine


class Cpp(Example):
    folder = "cpp"

    def test_rotations_by_given_frequencies(self):
        library = self.build()
        for model in ("llama-3.1-8b", "gpt-oss-120b", "qwen2-vl-7b"):  # llama3; yarn; mrope, axial
            self.assert_holds(library, model, "--waive", "frequency")
        text = self.gate(library, "llama-3.1-8b", expect=1)
        self.assertIn("not covered: frequency (all)", text)

    def test_alibi(self):
        for model in ("mpt-7b-storywriter", "bloom-176b"):
            self.assert_holds(self.build(), model, "--positions", "256")

    def test_bf16_that_truncates(self):
        library = self.build(("bf16.h", "bits + 0x7FFF + ((bits >> 16) & 1)", "bits"))
        text = self.assert_fails(library, "llama-3.1-8b", "cpp.rotate.bf16", "--waive", "frequency")
        self.assertNotIn("FAIL contract  cpp.rotate.f32", text)

    def test_slopes_of_powers_of_two_only(self):
        library = self.build(("alibi.h", "2 * (head - n) + 1", "2 * (head - n) + 2"))
        self.assert_fails(library, "bloom-176b", "cpp.alibi.f32", "--positions", "64")


class Sleef(Example):
    folder = "sleef"
    model = "llama-3.1-8b"

    def first_failure(self, text):
        return int(re.search(r"first failing +position (\d+), channel", text).group(1))

    def test_its_angles_are_in_float(self):
        library, cases = self.build(), self.work / "cases"
        text = self.gate(library, self.model, "--waive", "frequency", "--dump", cases)
        self.assertIn("\nHOLDS: ", text)
        self.assertIn("not within 2 spacings of exact arithmetic everywhere: sleef.table.f32", text)

        # Held to the contract that it does not declare, in everything but the angle the same.
        def compare(angle, expect):
            return self.posgauge(
                "compare", cases / "all.table.f32.case.safetensors", cases / "all.sleef.table.f32.safetensors",
                "--contract", f"position=f32 frequency=f32:rn angle={angle} trig=1ulp:f32 table=f32 "
                "store=f32:rne flush=no", expect=expect)
        compare("f32", 0)
        self.assertLess(self.first_failure(compare("exact", 1)), 131071)

        # Held to two spacings of exact arithmetic: up to the position that the report names.
        adequate = ("--waive", "frequency", "--require", "adequate", "--exhaustive", "--max-position")
        first = self.first_failure(self.gate(library, self.model, *adequate, "4095", expect=1))
        self.assertLess(first, 4095)
        self.gate(library, self.model, *adequate, str(first - 1))

    def test_exact_angles_that_it_does_not_form(self):
        library = self.build(("table.cc", "angle=f32", "angle=exact"))
        text = self.assert_fails(library, self.model, "sleef.table.f32", "--waive", "frequency")
        self.assertLess(self.first_failure(text), 131071)


class Cuda(Example):
    folder = "cuda"

    def test_holds(self):
        if shutil.which(os.environ.get("CUDACXX", "nvcc")) is None:
            self.skipTest("not run: no nvcc")
        library = self.build()
        if shutil.which("nvidia-smi") is None or run("nvidia-smi", "-L").returncode != 0:
            self.skipTest("built, not run: no device")
        for model in ("llama-3.1-8b", "gpt-j-6b"):
            self.assert_holds(library, model, "--waive", "frequency,table")


if __name__ == "__main__":
    case = {kind.folder: kind for kind in Example.__subclasses__()}[EXAMPLE]
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    for _, reason in result.skipped:
        print(f"{EXAMPLE}: {reason}")
    sys.exit(NOT_RUN if result.skipped else not result.wasSuccessful())
