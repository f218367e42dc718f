#!/usr/bin/env python3
"""The gate on a library whose kernels crash, hang, leave and scribble, beside one that is honest.

usage: tests/isolated_gate_test.py PROGRAM LIBRARY     from the repository's root
"""

import json
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM, LIBRARY = sys.argv[1:3]
SCHEME = ("--scheme", "rope", "--set", "head_dim=8", "--set", "rotary_dim=8", "--positions", "16",
          "--max-position", "1000", "--waive", "frequency,table")
BROKEN = {
    "crash": "crash", "jump": "crash", "overflow_stack": "crash", "abort": "crash", "loop": "hang",
    "leave": "exit", "throw": "exception", "throw_number": "exception", "write_beyond": "overrun",
    "write_before": "overrun", "read_beyond": "overrun", "read_before": "overrun",
    "scribble": "input_written", "close_files": "descriptors", "allocate": "memory",
}
WRONG = {"leave_tail": "unwritten", "use_heap": "unstable", "use_stack": "unstable",
         "alternate": "unstable", "move_results": "unstable", "change_answer": "answered"}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def gate(*arguments):
    return run("gate", *SCHEME, "--library", LIBRARY, *arguments)


def contracts(report):
    return {verdict["subject"]: verdict for verdict in report["verdicts"]
            if verdict["check"] == "contract"}


class IsolatedGate(unittest.TestCase):
    def test_the_whole_library(self):
        with tempfile.TemporaryDirectory() as folder:
            junit = pathlib.Path(folder) / "junit.xml"
            result = gate("--time-limit", "1", "--memory-limit", "200", "--json", "--junit", junit)
            cases = xml.etree.ElementTree.parse(junit).getroot().findall("testcase")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(result.stderr, "")
        report = json.loads(result.stdout)
        self.assertEqual(report["exit_code"], 3)
        verdicts = contracts(report)
        types = {case.get("classname"): case.find("failure").get("type") for case in cases
                 if case.get("name") == "contract" and case.find("failure") is not None}
        for deed, failure in (BROKEN | WRONG).items():
            with self.subTest(deed=deed):
                verdict = verdicts[f"hostile.{deed}"]
                self.assertEqual((verdict["outcome"], verdict["failure"]), ("FAIL", failure),
                                 verdict["note"])
                self.assertEqual(types[f"hostile.{deed}"], failure)
        for name in ("honest.rotate", "odd.print", "odd.move_results", "odd.return_twice"):
            self.assertEqual(verdicts[name]["outcome"], "PASS", verdicts[name])
            for verdict in report["verdicts"]:
                if verdict["subject"] == name:
                    # Some laws are of what these kernels do not declare or have no partner for.
                    self.assertIn(verdict["outcome"], ("PASS", "unsupported"), verdict)
                    self.assertIsNone(verdict["failure"])
        broken = {line.split(":")[0]: line.split(": ")[1].split(", ") for line in report["conclusion"]
                  if line.split(":")[0] in BROKEN.values()}
        beside = {f"hostile.{what}_{where}" for what in ("read", "write") for where in ("before", "beyond")}
        self.assertLessEqual(beside, set(broken["overrun"]))
        self.assertNotIn("unwritten", broken)

    def test_each_decides_the_exit_code_and_is_repeated(self):
        for deed, code, failure in (("crash", 3, "crash"), ("scribble", 3, "input_written"),
                                    ("leave_tail", 1, "unwritten"), ("loop", 3, "hang")):
            with self.subTest(deed=deed):
                result = gate("--kernel", f"hostile.{deed}", "--kernel", "honest.*",
                              "--time-limit", "0.5")
                self.assertEqual(result.returncode, code, result.stdout + result.stderr)
                self.assertIn(f"FAIL contract  hostile.{deed}  {failure}\n", result.stdout)
                self.assertIn("DOES NOT HOLD", result.stdout)
                self.assertRegex(result.stdout, r"honest.rotate +PASS")
                repro = re.search(r"posgauge (repro contract/.*)", result.stdout).group(1)
                self.assertIn("--time-limit 0.5", repro)
                again = run(*shlex.split(repro))
                self.assertEqual(again.returncode, code, again.stdout + again.stderr)
                self.assertIn(f"FAIL contract  hostile.{deed}  {failure}\n", again.stdout)

    def test_in_process(self):
        self.assertEqual(gate("--in-process", "--kernel", "honest.rotate").returncode, 0)
        self.assertEqual(gate("--in-process", "--kernel", "hostile.crash").returncode, -signal.SIGSEGV)
        result = gate("--in-process", "--kernel", "hostile.scribble")
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("wrote to its input x", result.stdout)
        self.assertIn("--in-process", re.search("posgauge repro.*", result.stdout).group())

    def test_options_are_checked(self):
        for arguments, says in ((("--time-limit", "0"), "--time-limit"),
                                (("--time-limit", "nan"), "--time-limit"),
                                (("--memory-limit", "0"), "--memory-limit"),
                                (("--in-process", "--time-limit", "1"), "excludes")):
            result = gate(*arguments)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(says, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
