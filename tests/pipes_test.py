#!/usr/bin/env python3
"""Pipes in place of files: read where somebody writes, else refused.  usage: pipes_test.py PROGRAM"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = sys.argv.pop(1)
CONFIG = "golden/models/llama-3.1-8b.json"


class Pipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=ROOT, capture_output=True,
                              text=True, timeout=60, **options)

    def test_one_that_nobody_writes_to_is_refused(self):
        for name, before, after in [
                ("config.json", ["describe"], []),
                ("contract.toml", ["contract"], []),
                ("x.safetensors", ["compare"], ["golden/vectors/rope/llama-3.1-8b.safetensors"]),
                ("x.npy", ["compare"], ["golden/vectors/rope/llama-3.1-8b.safetensors"]),
                ("x.npz", ["compare"], ["golden/vectors/rope/llama-3.1-8b.safetensors"]),
                ("vectors.json", ["golden", "verify"], []),
                ("contract.toml", ["gate", CONFIG, "--contract"], []),
                ("base.json", ["gate", CONFIG, "--baseline"], [])]:
            with self.subTest(name, command=before[0]):
                pipe = self.folder / name
                os.mkfifo(pipe)
                result = self.run_program(*before, pipe, *after)
                pipe.unlink()
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                self.assertEqual(
                    result.stderr,
                    f"posgauge: {pipe}: cannot read: a pipe that nobody writes to\n")

    def test_standard_input_is_read(self):
        expected = self.run_program("describe", CONFIG, "--json").stdout
        result = self.run_program("describe", "/dev/stdin", "--json",
                                  input=(ROOT / CONFIG).read_text())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, expected.replace(CONFIG, "/dev/stdin"))


if __name__ == "__main__":
    unittest.main()
