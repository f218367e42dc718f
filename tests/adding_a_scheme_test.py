#!/usr/bin/env python3
"""Adds a scheme to a copy of the tree, by the steps of CONTRIBUTING.md and nothing else.

usage: adding_a_scheme_test.py COPY

Every fenced block of the chapter 'Adding a scheme' whose fence names a file (```cpp schemes/toy.h) is
that file. Without any one of them the copy must refuse to configure and name what is missing; with all
it must configure and keep to the rules of the sources. The copy stays: .ci/run builds it with sanitizers
and runs every quick test in it, the scheme's own among them.
"""

import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ["schemes", "reference", "fast", "properties", "golden", "tests"]


def steps(document):
    """The files that the chapter asks for: {path: content}."""
    chapter = re.search(r"^## Adding a scheme$(.*?)(?=^## |\Z)", document, re.M | re.S)
    return dict(re.findall(r"^```\w+ (\S+)$\n(.*?)^```$", chapter.group(1), re.M | re.S))


def fail(message):
    print(message)
    sys.exit(1)


def run(copy, *command):
    """Exit status and all that was printed."""
    result = subprocess.run(command, cwd=copy, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def must(copy, *command):
    status, output = run(copy, *command)
    if status != 0:
        fail(f"{' '.join(command)}: exit {status}\n{output}")
    return output


def make_copy(copy):
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(SOURCE, copy, symlinks=True,
                    ignore=lambda folder, names: [name for name in names if name == ".git" or
                        name.startswith("build") and pathlib.Path(folder) == SOURCE])


def main():
    copy = pathlib.Path(sys.argv[1]).resolve()
    files = steps((SOURCE / "CONTRIBUTING.md").read_text())
    names = {re.split(r"[._]", pathlib.Path(file).name)[0] for file in files}
    if sorted(file.split("/")[0] for file in files) != sorted(ROOMS) or len(names) != 1:
        fail(f"a scheme is six files of one name, the chapter has {sorted(files)}")
    name = names.pop()
    if (SOURCE / "schemes" / f"{name}.h").exists():
        fail(f"the chapter's scheme {name} is in the tree already")

    make_copy(copy)
    for file, content in files.items():
        (copy / file).write_text(content)

    configure = ["cmake", "--preset", "asan"]
    for file in sorted(files):
        if file.startswith("schemes/"):
            continue  # without it there is no scheme
        (copy / file).unlink()
        status, output = run(copy, *configure)
        if status == 0 or f"missing: {file}." not in " ".join(output.split()):
            fail(f"without {file} the build must refuse to configure and name it:\n{output}")
        (copy / file).write_text(files[file])

    print(must(copy, sys.executable, "tools/check-sources.py"), end="")
    must(copy, *configure)
    print(f"{name}: {len(files)} files added")


if __name__ == "__main__":
    main()
