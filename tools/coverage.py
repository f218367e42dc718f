#!/usr/bin/env python3
"""Runs the tests of the coverage preset and prints the line coverage of the rooms.

usage: tools/coverage.py [--jobs N] [--minimum PERCENT] [--no-run]

Exits 1 if a room, or all together, is below the minimum (default 95).
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
ROOMS = ["reference", "schemes", "fast", "golden"]


def run(*command, folder=ROOT):
    subprocess.run([str(word) for word in command], cwd=folder, check=True, stdin=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minimum", type=float, default=95)
    parser.add_argument("--no-run", action="store_true", help="use the counts of the last run")
    arguments = parser.parse_args()

    if not arguments.no_run:
        run("cmake", "--build", BUILD, "-j", arguments.jobs)
        for counts in BUILD.rglob("*.gcda"):
            counts.unlink()
        run("ctest", "--preset", "coverage", "-j", arguments.jobs)

    summary = BUILD / "coverage.json"
    filters = [f"--filter={ROOT}/{room}/" for room in ROOMS]
    run("gcovr", "--root", ROOT, "--object-directory", BUILD, *filters, "-j", arguments.jobs,
        "--exclude-unreachable-branches", "--json-summary", "--json-summary-pretty",
        "--output", summary, BUILD, folder=BUILD)  # gcov drops its files where it runs

    files = json.loads(summary.read_text())["files"]
    below = False
    print(f"\n{'room':12}{'lines':>8}{'covered':>9}{'percent':>9}")
    for name in [*ROOMS, "together"]:
        rows = [file for file in files
                if name == "together" or file["filename"].startswith(name + "/")]
        lines = sum(file["line_total"] for file in rows)
        covered = sum(file["line_covered"] for file in rows)
        percent = 100 * covered / lines if lines else 0
        mark = "" if percent >= arguments.minimum else f"  below {arguments.minimum:g}"
        below |= bool(mark)
        print(f"{name:12}{lines:8}{covered:9}{percent:9.1f}{mark}")
    sys.exit(below)


if __name__ == "__main__":
    main()
