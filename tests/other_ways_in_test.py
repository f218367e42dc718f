#!/usr/bin/env python3
"""Ways in without a library: NumPy's files, and a command that answers a folder of cases.

usage: tests/other_ways_in_test.py PROGRAM     from the repository's root, with NumPy
"""

import importlib.util
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy

PROGRAM = sys.argv[1]
MODEL = "golden/models/mistral-7b-v0.3.json"
PLAN = ("--positions", "64")
ADAPTER = f"{sys.executable} adapters/posgauge_numpy.py adapters/rope_numpy.py"
CONTRACT = ("--contract", "f32")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)


class Files(Folder):
    """Arrays that NumPy itself wrote, beside the same values in safetensors."""

    DTYPES = {"f8": "F64", "f4": "F32", "f2": "F16", "i8": "I64", "i4": "I32", "u1": "U8"}

    def safetensors(self, name, dtype, array):
        data = array.tobytes()
        header = json.dumps({"x": {"dtype": dtype, "shape": array.shape, "data_offsets": [0, len(data)]}})
        path = self.folder / name
        path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + data)
        return path

    def same(self, path, other, name):
        result = run("compare", path, other)
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertIn(f"{name}: 0 of 6 values differ", result.stdout)
        self.assertIn("no verdict", result.stdout)

    def test_every_dtype_version_and_order(self):
        for code, name in self.DTYPES.items():
            array = numpy.array([[1, 2, 3], [40, 50, 60]], code)
            expected = self.safetensors("expected.safetensors", name, array)
            for version in ((1, 0), (2, 0), (3, 0)):
                for order in "CF":
                    with self.subTest(code=code, version=version, order=order):
                        with open(self.folder / "a.npy", "wb") as file:
                            numpy.lib.format.write_array(file, numpy.array(array, order=order), version)
                        self.same(self.folder / "a.npy", expected, "x")
            for save in (numpy.savez, numpy.savez_compressed):
                with self.subTest(code=code, save=save.__name__):
                    save(self.folder / "a.npz", x=array)
                    self.same(self.folder / "a.npz", expected, "x")

    def test_types_that_numpy_has_not(self):
        bits = numpy.array([0x3f80, 0x4000, 0xff80, 1, 0x8000, 0x4049], "<u2")
        numpy.save(self.folder / "a.npy", bits.view("V2"))
        self.same(self.folder / "a.npy", self.safetensors("b.safetensors", "BF16", bits), "x")
        bits = numpy.array([0x38, 0x7e, 0xb8, 1, 0x80, 0], "u1")
        numpy.save(self.folder / "a.npy", bits.view("V1"))
        self.same(self.folder / "a.npy", self.safetensors("b.safetensors", "F8_E4M3", bits), "x")

    def test_differences_are_numbers_and_no_verdict(self):
        numpy.savez(self.folder / "a.npz", x=numpy.array([1.0, 2, 3]), y=numpy.zeros(2))
        numpy.savez(self.folder / "b.npz", x=numpy.array([1.0, 2.5, 3]), y=numpy.zeros(3))
        result = run("compare", self.folder / "a.npz", self.folder / "b.npz")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("x: 1 of 3 values differ, largest difference 0.5 at 1", result.stdout)
        self.assertIn('not compared, having no like of one name and shape: "y"', result.stdout)

    def test_what_is_refused_is_refused_in_one_line(self):
        for array, says in ((numpy.zeros(2, ">f4"), "big-endian"), (numpy.zeros(2, "c8"), '"<c8"'),
                            (numpy.zeros(2, [("a", "f4")]), "structure")):
            numpy.save(self.folder / "a.npy", array)
            result = run("compare", self.folder / "a.npy", self.folder / "a.npy")
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(says, result.stderr)

    def test_numpy_reads_what_is_dumped(self):
        run("gate", MODEL, *PLAN, "--kernel", "fast.rotate.f32", "--kernel", "fast.rotate.bf16", "--dump",
            self.folder, "--format", "npz")
        asked = numpy.load(self.folder / "all.rotate.f32.case.npz")
        self.assertEqual(json.loads(asked["posgauge_case"].tobytes())["quantity"], "rotate")
        self.assertEqual((asked["x"].dtype, asked["positions"].dtype), (numpy.float32, numpy.float64))
        self.assertEqual(asked["x"].shape[0], asked["positions"].shape[0])
        self.assertEqual(numpy.load(self.folder / "all.rotate.bf16.case.npz")["x"].dtype, numpy.dtype("V2"))
        for dtype in ("f32", "bf16"):
            result = run("compare", self.folder / f"all.rotate.{dtype}.case.npz",
                         self.folder / f"all.fast.rotate.{dtype}.npz")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_one_array_answers_a_case(self):
        run("gate", MODEL, *PLAN, "--kernel", "fast.rotate.f32", "--dump", self.folder, "--format", "npz")
        case = self.folder / "all.rotate.f32.case.npz"
        out = numpy.load(self.folder / "all.fast.rotate.f32.npz")["out"]
        numpy.save(self.folder / "a.npy", out)
        self.assertEqual(run("compare", case, self.folder / "a.npy").returncode, 0)
        out[7, 1, 3] += 1
        numpy.save(self.folder / "a.npy", out)
        result = run("compare", case, self.folder / "a.npy")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        numpy.save(self.folder / "a.npy", out[:-1])
        result = run("compare", case, self.folder / "a.npy")
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("out must be a floating tensor", result.stderr)


class Command(Folder):
    def gate(self, command, *arguments, expect):
        result = run("gate", MODEL, *PLAN, "--command", command, *arguments)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def test_a_function_in_numpy_holds(self):
        text = self.gate(ADAPTER + ":rotate", "--kernel", "rotate.f32", "--kernel", "table.f32", *CONTRACT,
                         expect=0).stdout
        self.assertIn("HOLDS: 2 checks passed", text)
        self.assertRegex(text, r"rotate.f32 +PASS 0\.\d\d")

    def test_a_wrong_one_does_not(self):
        text = self.gate(ADAPTER + ":rotate_interleaved", "--kernel", "rotate.f32", *CONTRACT, "--dump",
                         self.folder, expect=1).stdout
        self.assertIn("DOES NOT HOLD", text)
        self.assertRegex(text, r"first failing +position 1, head 0")
        repro = next(line for line in text.splitlines() if "posgauge compare " in line)
        again = run(*repro.split("posgauge ", 1)[1].split())
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
        # What an earlier run left would count for the next one.
        result = self.gate(ADAPTER + ":rotate", "--dump", self.folder, expect=2)
        self.assertIn("must be empty", result.stderr)

    def test_its_angles_are_not_exact(self):
        text = self.gate(ADAPTER + ":rotate", "--kernel", "rotate.f32", expect=1).stdout
        self.assertIn("FAIL contract  rotate.f32", text)

    def test_what_is_missing_is_named_and_fails(self):
        text = self.gate(ADAPTER + ":rotate", "--kernel", "rotate*.f32", *CONTRACT, expect=1).stdout
        self.assertIn("no result: the command wrote none of all.rotate_backward.f32.safetensors", text)
        self.assertRegex(text, r"rotate.f32 +PASS")
        report = json.loads(self.gate("true", "--json", expect=1).stdout)
        self.assertEqual(report["exit_code"], 1)
        self.assertTrue(report["verdicts"])
        self.assertEqual({verdict["outcome"] for verdict in report["verdicts"]}, {"FAIL"})

    def test_results_that_are_none(self):
        one = ("--kernel", "rotate.f32")
        for script, says in (("touch $2/all.rotate.f32.npy", "not npy"),
                             ("touch $2/all.rotate.f32.npy $2/all.rotate.f32.npz", "one result is wanted"),
                             ("cp $1/all.rotate.f32.case.safetensors $2/all.rotate.f32.safetensors",
                              "needs a tensor out"),
                             ("mkdir $2/all.rotate.f32.npy", "Is a directory")):
            with self.subTest(script=script):
                text = self.gate(f"sh -c '{script}' sh", *one, expect=1).stdout
                self.assertIn(says, text)

    def test_how_it_ends_is_told(self):
        one = ("--kernel", "rotate.f32")
        self.assertIn("it exited with 3", self.gate("exit 3;", *one, expect=3).stdout)
        self.assertIn("exited with 127", self.gate("./no-such-command", *one, expect=3).stdout)
        self.assertIn("signal 11", self.gate("sh -c 'kill -SEGV $$'", *one, expect=3).stdout)
        self.assertIn("signal 9", self.gate("kill -KILL $$;", *one, expect=3).stdout)
        begin = time.monotonic()
        result = self.gate("sleep 60 & sleep 60;", *one, "--time-limit", "0.5", expect=3)
        self.assertIn("did not end in time", result.stdout)
        self.assertLess(time.monotonic() - begin, 30)

    def test_what_it_wrote_before_it_died_is_judged(self):
        text = self.gate(f"f() {{ {ADAPTER}:rotate \"$@\"; exit 5; }}; f", "--kernel", "rotate.f32", *CONTRACT,
                         expect=3).stdout
        self.assertIn("1 checks passed, 1 failed", text)

    def test_its_words_go_to_stderr(self):
        result = self.gate("sh -c 'echo hello' sh", "--kernel", "rotate.f32", "--json", expect=1)
        json.loads(result.stdout)
        self.assertIn("hello", result.stderr)

    def test_bad_usage_is_one_line(self):
        for arguments, says in ((("--kernel", "rotate.f33"), "rotate.bf16"),
                                (("--contract", "store=f32"), "--contract stores f32"),
                                (("--contract", "no-such"), "no-such")):
            result = self.gate("false", *arguments, expect=2)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(says, result.stderr)

    def test_other_kinds_of_schemes(self):
        for scheme in (("sinusoidal", "--set", "width=16"), ("alibi", "--set", "heads=4")):
            with self.subTest(scheme=scheme):
                result = run("gate", "--scheme", *scheme, "--positions", "32", "--max-position", "100", "--dump",
                             self.folder / scheme[0], "--command", "true", "--kernel", "*.f32")
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn("no result", result.stdout)
                self.assertTrue(list((self.folder / scheme[0]).glob("*.f32.case.safetensors")))


if importlib.util.find_spec("torch"):
    class Torch(Folder):
        def test_a_function_in_pytorch_keeps_its_preset(self):
            command = f"{sys.executable} adapters/posgauge_numpy.py --torch adapters/rope_torch.py:rotate"
            kernels = ("--kernel", "rotate.bf16", "--kernel", "rotate.f16", "--kernel", "rotate.f32")
            result = run("gate", MODEL, *PLAN, "--command", command, *kernels, "--contract", "hf-eager")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("HOLDS: 3 checks passed", result.stdout)
            # The table is in bf16, so that pure f32 is more than it keeps.
            result = run("gate", MODEL, *PLAN, "--command", command, "--kernel", "rotate.bf16", "--contract",
                         "f32")
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
else:
    print("PyTorch is not installed: its side of the adapter was not run")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
