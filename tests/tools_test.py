#!/usr/bin/env python3
"""Shows that the checks in tools/ find what they are for, and nothing else."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"


class Tree(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def run_tool(self, *command, **options):
        result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                **options)
        return result.returncode, result.stdout


class CheckSources(Tree):
    def findings(self, name, text):
        path = self.write(name, text)
        status, output = self.run_tool(sys.executable, TOOLS / "check-sources.py", self.root)
        path.unlink()
        self.assertEqual(status, 1 if output else 0)
        return output

    def test_arrows(self):
        for room, target in [
            ("schemes", "reference/proof.h"),
            ("reference", "verify/bound.h"),
            ("reference", "fast/wide.h"),
            ("verify", "golden/plan.h"),
            ("fast", "reference/rotation.h"),
            ("fast", "verify/bound.h"),
            ("properties", "golden/plan.h"),
            ("golden", "properties/laws.h"),
            ("golden", "cli/command.h"),
            ("examples", "verify/bound.h"),
        ]:
            found = self.findings(f"{room}/x.h", f'\n#include "posgauge/{target}"\n')
            self.assertIn(f"{room}/x.h:2: {room}/ may not include posgauge/{target}", found)

    def test_allowed(self):
        for room, target in [
            ("fast", '"posgauge/kernel.h"'),
            ("verify", '"posgauge/reference/proof.h"'),
            ("golden", '"posgauge/verify/tensor.h"'),
            ("tests", '"posgauge/cli/gate.h"'),
            ("reference", "<mpfr.h>"),
            ("fast", "<hwy/highway.h>"),
            ("examples", '"posgauge/kernel.h"'),
            ("examples", '"call.h"'),
        ]:
            self.assertEqual(self.findings(f"{room}/x.h", f"#include {target}\n"), "")

    def test_libraries_stay_in_their_rooms(self):
        for room, header in [
            ("verify", "hwy/highway.h"),
            ("verify", "rapidcheck.h"),
            ("schemes", "mpfr.h"),
            ("golden", "boost/multiprecision/mpfr.hpp"),
            ("golden", "CLI/CLI.hpp"),
            ("properties", "gtest/gtest.h"),
        ]:
            self.assertIn(f"{header} is used in", self.findings(f"{room}/x.cc", f"#include <{header}>\n"))

    def test_includes_are_spelt_in_full(self):
        self.assertIn("full path", self.findings("verify/x.cc", '#include "bound.h"\n'))

    def test_words(self):
        # Put together here so that this file passes the check itself.
        for name, text in [
            ("tests/x_test.cc", "EXPECT_" + "NEAR(a, b, c);"),
            ("tests/x_test.cc", "ASSERT_" + "DOUBLE_EQ(a, b);"),
            ("tests/x_test.cc", "EXPECT_" + "FLOAT_EQ(a, b);"),
            ("tests/x_test.cc", "GTEST_" + "SKIP();"),
            ("tests/x_test.cc", "TEST(x, " + "DISABLED_" + "Y) {}"),
            ("verify/x.cc", "std::" + "random_device seed;"),
            ("docs/x.md", "TO" + "DO: write"),
            ("fast/x.cc", "// FIX" + "ME"),
            ("docs/x.md", "see /ro" + "ot/file"),
            ("tools/x.py", "open('/ho" + "me/someone/file')"),
            ("docs/x.md", "see ../sha" + "red/x"),
            ("cmake/x.cmake", "add_compile_options(-march=" + "native)"),
            ("CMakePresets.json", '{"CMAKE_CXX_FLAGS": "-ffast-' + 'math"}'),
        ]:
            self.assertIn(f"{name}:1: ", self.findings(name, text + "\n"), text)

    def test_names(self):
        self.assertIn("named for the one thing", self.findings("verify/utils.h", ""))
        self.assertEqual(self.findings("verify/utilisation.h", ""), "")

    def test_build_folders_are_not_sources(self):
        self.assertEqual(self.findings("build/x.md", "TO" + "DO\n"), "")


class CheckDocs(Tree):
    def check(self, document, *options):
        program = self.write(
            "bin/posgauge",
            "#!/bin/sh\n"
            'case $1 in lines) printf "one\\ntwo 2.5 s\\nthree\\n";; fail) echo no >&2; exit 1;;\n'
            "*) echo $*;; esac\n", 0o755)
        self.document = self.write("x.md", document)
        return self.run_tool(sys.executable, TOOLS / "check-docs.py", program, *options, self.document)

    def example(self, text):
        return f"text\n```console\n{text}\n```\nmore\n"

    def test_equal(self):
        status, output = self.check(self.example("$ posgauge a b\na b\n$ posgauge c \\\n    d\nc d"))
        self.assertEqual((status, output), (0, "2 commands in 1 documents, 0 wrong\n"))

    def test_different(self):
        for text in ["$ posgauge a\nb", "$ posgauge a", "$ posgauge a\na\na", "$ posgauge lines\none"]:
            self.assertEqual(self.check(self.example(text))[0], 1, text)

    def test_elision(self):
        for expected in ["one\n...", "...\nthree", "...", "one\ntwo ... s\nthree", "one\n...\nthree"]:
            self.assertEqual(self.check(self.example("$ posgauge lines\n" + expected))[0], 0, expected)
        for expected in ["...\ntwo", "two\n...", "one\ntwo ... min\nthree"]:
            self.assertEqual(self.check(self.example("$ posgauge lines\n" + expected))[0], 1, expected)

    def test_status_must_be_shown(self):
        self.assertEqual(self.check(self.example("$ posgauge fail\nno"))[0], 1)
        self.assertEqual(self.check(self.example("$ posgauge fail\nno\n$ echo $?\n1"))[0], 0)
        self.assertEqual(self.check(self.example("$ posgauge fail\nno\n$ echo $?\n2"))[0], 1)

    def test_no_example_is_not_a_pass(self):
        for document in ["nothing\n", self.example("$ make gate"), "```\n$ posgauge a\n```\n"]:
            self.assertEqual(self.check(document)[0], 1, document)

    def test_links_lead_somewhere(self):
        example = self.example("$ posgauge a\na")
        for link, status in [("[x](x.md)", 0), ("[x](bin/posgauge#part)", 0), ("[x](#part)", 0),
                             ("[x](https://example.org/y.md)", 0), ("[x](y.md)", 1)]:
            self.assertEqual(self.check(example + link)[0], status, link)

    def test_a_document_that_a_command_writes(self):
        first = "<!-- written by: posgauge echo -->"
        program = self.write("bin/posgauge", f"#!/bin/sh\necho '{first}'; echo $1; [ $1 != fail ]\n",
                             0o755)
        def check(document, *options):
            self.document = self.write("x.md", document)
            return self.run_tool(sys.executable, TOOLS / "check-docs.py", program, *options,
                                 self.document)[0]
        self.assertEqual(check(f"{first}\necho\n"), 0)
        for other in (f"{first}\n", f"{first}\necho\nmore\n",
                      "<!-- written by: posgauge fail -->\nfail\n"):
            self.assertEqual(check(other), 1, other)
        self.assertEqual(check("<!-- written by: posgauge fail -->\nold\n", "--write"), 1)
        self.assertIn("old", self.document.read_text())
        self.assertEqual(check(f"{first}\nold\n", "--write"), 0)
        self.assertEqual(self.document.read_text(), f"{first}\necho\n")

    def test_write(self):
        self.check(self.example("$ posgauge lines\n...\n$ posgauge a\nb\n$ posgauge c"), "--write")
        self.assertEqual(self.document.read_text(), self.example(
            "$ posgauge lines\none\ntwo 2.5 s\nthree\n$ posgauge a\na\n$ posgauge c\nc"))

    def test_a_file_of_examples_is_shown_as_it_is(self):
        def document(shown, name="examples/c/CMakeLists.txt"):
            return self.example("$ posgauge a\na") + f"```cmake {name}\n{shown}```\n"

        text = (TOOLS.parent / "examples/c/CMakeLists.txt").read_text()
        self.assertEqual(self.check(document(text))[0], 0)
        self.assertEqual(self.check(document(text, "examples/c/none.txt"))[0], 1)
        self.assertEqual(self.check(document("other\n", "elsewhere.txt"))[0], 0)
        status, output = self.check(document(text + "more\n"))
        self.assertEqual(status, 1)
        self.assertIn("x.md:7: examples/c/CMakeLists.txt is not this", output)
        self.check(document("stale\n"), "--write")
        self.assertEqual(self.document.read_text(), document(text))


class InstallDependencies(Tree):
    def install(self, installed, apt_status=0):
        log = self.root / "log"
        self.write("bin/dpkg-query", f"#!/bin/sh\nfor p in {installed}; do echo installed $p; done\n",
                   0o755)
        self.write("bin/apt-get", f'#!/bin/sh\necho "$@" >>{log}\nexit {apt_status}\n', 0o755)
        self.write("bin/sudo", '#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n', 0o755)
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        status, output = self.run_tool(TOOLS / "install-dependencies.sh", "check", env=environment)
        return status, output, log.read_text() if log.exists() else ""

    def test_says_and_does_nothing_when_nothing_is_missing(self):
        self.assertEqual(self.install("clang-format-14 clang-tidy-14 gcovr"), (0, "", ""))

    def test_installs_what_is_missing(self):
        status, output, log = self.install("clang-format-14 gcovr")
        self.assertEqual(status, 0)
        self.assertIn("apt-get install -y --no-install-recommends clang-tidy-14\n", output)
        self.assertEqual([line.split()[-1] for line in log.splitlines()], ["update", "clang-tidy-14"])

    def test_without_rights_gives_the_line_to_run(self):
        # A copy that believes it runs as an ordinary user on a machine without sudo.
        script = (TOOLS / "install-dependencies.sh").read_text().replace("EUID", "1000")
        self.write("bin/dpkg-query", "#!/bin/sh\n", 0o755)
        copy = self.write("copy.sh", script.replace("command -v sudo", "false"), 0o755)
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        status, output = self.run_tool(copy, "bench", env=environment)
        self.assertEqual(status, 1)
        self.assertIn("Run as root: apt-get update && apt-get install -y "
                      "--no-install-recommends libbenchmark-dev\n", output)

    def test_failure_gives_the_line_to_run(self):
        status, output, _ = self.install("", apt_status=100)
        self.assertEqual(status, 1)
        self.assertIn("Run as root: apt-get update && apt-get install", output)


if __name__ == "__main__":
    unittest.main()
