#!/usr/bin/env python3
"""Runs the examples in the documentation, compares what they print, and checks its links.

usage: tools/check-docs.py PROGRAM [--write] [FILE...]  default files: *.md docs/*.md examples/*.md

An example is a ```console block with a line `$ posgauge ...`. Its commands (lines that begin with
`$ `; a trailing backslash continues one) run in order, in a folder where the repository's files are
readable under their own names and new files are thrown away. The lines after a command are what it
prints, stdout and stderr together; `...` stands for any text in a line, and a line of its own for
any lines. A command that does not exit with 0 must be followed by `$ echo $?`.

A block of another language with a path below examples/ (```c examples/c/rope.c) is that file.

A document whose first line is `<!-- written by: posgauge ... -->` is what that command prints.

--write puts what is printed now in place of output that differs or is only `...`, and files as they are.
Exits 1 if an example or a file differs, if there is no example, or if a link leads to no file of the
repository.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 300


@dataclasses.dataclass
class Command:
    line: int  # of the first `$ `, from 1
    text: str
    expected: list[str]
    first: int  # index of the first expected line in the file, from 0
    shows_status: bool = False  # the next command is `echo $?`


def blocks(lines):
    """The examples of a document: lists of commands."""
    inside, block = False, []
    for index, line in enumerate(lines):
        if not inside and re.match(r"\s*```console\s*$", line):
            inside, block = True, []
        elif inside and line.strip() == "```":
            inside = False
            for command, following in zip(block, block[1:]):
                command.shows_status = following.text.strip() == "echo $?"
            if any(command.text.startswith("posgauge ") for command in block):
                yield block
        elif inside and block and block[-1].text.endswith("\\") and not block[-1].expected:
            block[-1].text = block[-1].text[:-1] + line.strip()
            block[-1].first = index + 1
        elif inside and line.startswith("$ "):
            block.append(Command(index + 1, line[2:], [], index + 1))
        elif inside and block:
            block[-1].expected.append(line)


def matches(expected, actual):
    """Whether the printed lines are as expected, `...` standing for anything."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(".*".join(re.escape(part) for part in line.rstrip().split("...")) + r"\n")
    return re.fullmatch("".join(parts), "".join(line.rstrip() + "\n" for line in actual)) is not None


def run(text, status, program, folder):
    """Printed lines and exit status; `$?` begins as the status of the command before."""
    script = f"export PATH={program.parent}:$PATH\n(exit {status})\n{text}\n"
    result = subprocess.run(["bash", "-c", script], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=TIMEOUT_SECONDS)
    return result.stdout.splitlines(), result.returncode


def broken_links(path):
    """Relative links to files that are not there, as findings."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if fenced:
            continue
        for target in re.findall(r"\]\(([^)#\s]+)", line):
            if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
                yield f"{path}:{number}: no such file: {target}"


def check_quotes(path, write):
    """The number of blocks that show a file of examples/ otherwise than it is."""
    def is_there(block):
        return (ROOT / block["file"]).is_file()

    def as_it_is(block):
        return block["opening"] + (ROOT / block["file"]).read_text() if is_there(block) else block[0]

    quote = re.compile(r"(?P<opening>^```\w+ (?P<file>examples/\S+)\n).*?(?=^```$)", re.M | re.S)
    if write:
        path.write_text(quote.sub(as_it_is, path.read_text()))
    wrong, text = 0, path.read_text()
    for block in quote.finditer(text):
        if not is_there(block) or block[0] != as_it_is(block):
            wrong += 1
            print(f"{path}:{text.count(chr(10), 0, block.start()) + 1}: {block['file']} is not this; "
                  "tools/check-docs.py PROGRAM --write shows it")
    return wrong


def check_whole(path, command, program, write):
    """The same of a document that one command writes."""
    actual, status = run(command, 0, program, ROOT)
    if write and status == 0:
        path.write_text("\n".join(actual) + "\n")
    elif status != 0 or actual != path.read_text().splitlines():
        print(f"{path}:1: '{command}' exits with {status} and prints something else; "
              "tools/check-docs.py PROGRAM --write puts that in its place")
        return 1, 1
    return 1, 0


def check(path, program, write):
    """The number of commands that ran and of findings."""
    wrong = check_quotes(path, write)
    lines = path.read_text().splitlines()
    if written := re.match(r"<!-- written by: (posgauge .*) -->", lines[0] if lines else ""):
        return check_whole(path, written.group(1), program, write)
    ran, edits = 0, []
    for block in blocks(lines):
        with tempfile.TemporaryDirectory() as folder:
            for entry in ROOT.iterdir():
                (pathlib.Path(folder) / entry.name).symlink_to(entry)
            status = 0
            for command in block:
                actual, status = run(command.text, status, program, folder)
                ran += 1
                where = f"{path}:{command.line}"
                if status != 0 and not command.shows_status:
                    wrong += 1
                    print(f"{where}: '{command.text}' exits with {status}; "
                          "show that by a `$ echo $?` after it")
                if not matches(command.expected, actual):
                    if not write:
                        wrong += 1
                        print(f"{where}: '{command.text}' prints\n" + "\n".join(actual))
                        print("but the document says\n" + "\n".join(command.expected) + "\n")
                    edits.append((command, actual))
                elif [line.strip() for line in command.expected] == ["..."]:
                    edits.append((command, actual))
    if write:
        for command, actual in reversed(edits):
            lines[command.first : command.first + len(command.expected)] = actual
        path.write_text("\n".join(lines) + "\n")
    return ran, wrong


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_intermixed_args()
    files = arguments.files or [
        path for folder in (".", "docs", "examples") for path in sorted((ROOT / folder).glob("*.md"))]
    counts = [check(path, arguments.program.resolve(), arguments.write) for path in files]
    ran, wrong = (sum(column) for column in zip(*counts))
    broken = [finding for path in files for finding in broken_links(path)]
    print("\n".join(broken), end="\n" if broken else "")
    print(f"{ran} commands in {len(files)} documents, {wrong} wrong")
    sys.exit(wrong > 0 or ran == 0 or bool(broken))


if __name__ == "__main__":
    main()
