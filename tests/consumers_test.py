#!/usr/bin/env python3
"""Copies one folder of examples/consumers/ as a stranger would, and runs it on the golden vectors: all
must hold. Then breaks it, and breaks the vectors: both must be found, and where.

usage: tests/consumers_test.py numpy|torch|c|node|go|rust     from the repository's root

Exits with 77 if nothing was run because the machine lacks what the consumer needs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

NAME = sys.argv[1]
NOT_RUN = 77
VECTORS = pathlib.Path("golden/vectors").resolve()
PYTHON = (sys.executable, "-W", "error", "-m", "unittest")
# What builds it if anything does, what runs it in its folder, and what counts the tests that hold.
CONSUMERS = {
    "numpy": (None, PYTHON, r"Ran (\d+) tests"),
    "torch": (None, PYTHON, r"Ran (\d+) tests"),
    "c": (("cc", "-std=c99", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-O2", "golden_rope.c",
           "-o", "golden_rope", "-lm"), ("./golden_rope",), r"# (\d+) passed"),
    "node": (None, ("node", "--test"), r"[#ℹ] pass ([1-9]\d*)"),
    "go": (None, ("go", "test", "-count=1", "-v"), r"--- PASS: (TestGolden)"),
    "rust": (None, ("cargo", "test", "--offline", "--", "--nocapture"), r"ok\. ([1-9]\d*) passed"),
}
# scheme/file/case: tensor and dtype, index, position.
FAILURE = (r"\w+/[\w-]+/[\w-]+: \w+ (?:f|float|bf)\d+\b.*?\bindex [\d(), ]+, (?:\w+ )*position -?\d")
# Where Go and rustup put themselves.
PLACES = ["/usr/local/go/bin", str(pathlib.Path("~/.cargo/bin").expanduser())]


def missing():
    """What the machine lacks, in words, or None."""
    if NAME in ("numpy", "torch"):
        found = subprocess.run([sys.executable, "-c", f"import {NAME}"], stderr=subprocess.DEVNULL)
        return None if found.returncode == 0 else f"no {NAME} for {sys.executable}"
    build, run, _ = CONSUMERS[NAME]
    program = (build or run)[0]
    return None if shutil.which(program) else f"no {program}"


class Consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.folder = cls.work / NAME
        shutil.copytree(pathlib.Path("examples/consumers") / NAME, cls.folder,
                        ignore=shutil.ignore_patterns("__pycache__", "target"))
        build, _, _ = CONSUMERS[NAME]
        if build:
            subprocess.run(build, cwd=cls.folder, check=True)

    def run_it(self, vectors=VECTORS, **more):
        _, command, _ = CONSUMERS[NAME]
        if NAME == "c":
            command += tuple(str(path) for path in sorted((vectors / "rope").glob("*.json")))
        environment = {**os.environ, "POSGAUGE_GOLDEN": str(vectors), "GOPROXY": "off",
                       "GOTOOLCHAIN": "local", **more}
        environment.pop("NODE_TEST_CONTEXT", None)
        return subprocess.run(command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)

    def test_holds(self):
        result = self.run_it()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, CONSUMERS[NAME][2])
        if NAME == "torch":  # what float32 and bfloat16 miss is a report
            self.assertRegex(result.stdout, r"rope/llama-2-7b/far-positions +\d+ of 256 pairs, from position "
                             r"15962 +\d+ of 256 pairs, from position 1048575")

    def test_a_flipped_sign_is_found_and_named(self):
        result = self.run_it(POSGAUGE_BREAK="1")
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, FAILURE)

    def changed(self, file, change):
        """A copy of the vectors in which change(manifest, payload) rewrote one file."""
        vectors = self.work / self.id()
        shutil.copytree(VECTORS, vectors)
        path = vectors / file
        manifest = json.loads(path.read_text())
        payload = path.with_suffix(".safetensors")
        payload.write_bytes(change(manifest, bytearray(payload.read_bytes())))
        path.write_text(json.dumps(manifest))
        return vectors

    def test_right_answers_said_to_be_wrong_are_found(self):
        """A consumer that allows what is labelled invalid is broken, so it must look."""

        def change(manifest, payload):
            for case in manifest["cases"]:
                case.update(result="invalid", fault="none")
            return payload

        file = "alibi/heads-16.json" if NAME == "node" else "rope/one-pair.json"
        result = self.run_it(self.changed(file, change))
        if NAME == "c":  # float alone may hide what is wrong: it counts such cases as skipped
            self.assertRegex(result.stdout, r"one-pair/positions # SKIP wrong on purpose")
            return
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn("wrong on purpose", result.stdout)

    def test_a_payload_of_another_manifest_is_found(self):
        file = "alibi/heads-16.json" if NAME == "node" else "rope/one-pair.json"
        result = self.run_it(self.changed(file, lambda _, payload: payload + b"\0"))
        self.assertNotEqual(result.returncode, 0, result.stdout)


if __name__ == "__main__":
    os.environ["PATH"] += os.pathsep + os.pathsep.join(PLACES)
    reason = missing()
    if reason:
        print(f"{NAME}: not run: {reason}")
        sys.exit(NOT_RUN)
    sys.exit(not unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful())
