#!/usr/bin/env python3
"""Checks what the compiler cannot: which room includes which, and words that must not appear.

usage: tools/check-sources.py [TREE]

Prints `file:line: what is wrong` for each finding; exits 1 if there is any.
"""

import pathlib
import re
import sys

# The arrows of docs/architecture.md: what the sources of a room may include, as posgauge/<this>.
# The kernel interface is the one thing that fast/ shares with verify/.
ARROWS = {
    "schemes": ["schemes/"],
    "reference": ["schemes/", "reference/"],
    "verify": ["schemes/", "reference/", "verify/", "kernel.h"],
    "fast": ["schemes/", "fast/", "kernel.h", "verify/kernel.h"],
    "properties": ["schemes/", "reference/", "verify/", "properties/", "kernel.h"],
    "golden": ["schemes/", "reference/", "verify/", "golden/", "kernel.h"],
    "fuzz": ["schemes/", "verify/", "golden/"],
    "examples": ["kernel.h"],
}

# Libraries that only some rooms may use: who includes one elsewhere spreads it.
LIBRARIES = {
    r"hwy/": ["fast", "reference", "bench", "tests"],
    r"rapidcheck": ["properties", "tests"],
    r"(boost/|mpfr\.h|gmp\.h)": ["reference", "tests", "bench"],
    r"CLI/": ["cli"],
    r"toml": ["verify"],
    r"zlib\.h": ["verify"],
    r"g(test|mock)/": ["tests"],
    r"benchmark/": ["bench"],
}

CODE = (".h", ".cc", ".c", ".cu")
BUILD = (".cmake", "CMakeLists.txt", "CMakePresets.json", "Makefile")
ANY = CODE + BUILD + (".py", ".sh", ".md", ".json", ".toml", ".in", "run")

# (which files, what must not appear, why). Bracketed so that this file does not find itself. bench/
# may compile plain loops for this machine: they are what the kernels race against.
WORDS = [
    (CODE, r"\b(EXPECT|ASSERT)_(NEA[R]|FLOAT_E[Q]|DOUBLE_E[Q])\b",
     "a typed-in tolerance: derive a bound, or compare exactly"),
    (CODE, r"\bGTEST_SKI[P]\b|\bDISABLE[D]_", "a test that does not run: mend it or remove it"),
    (CODE, r"\bstd::(s?ran[d]|random_devic[e])\b",
     "randomness that no seed replays"),
    (ANY, r"\b(TO[D]O|FIXM[E]|XX[X]|HAC[K]|not implemente[d])\b",
     "left open: finish it, or write an issue"),
    (ANY, r"(?<![\w.~$}/-])/(hom[e]|roo[t]|User[s]|wor[k]|far[m]|mn[t]|tm[p])/",
     "an absolute path of some machine"),
    (ANY, r"\.\./share[d]\b", "a path outside the repository"),
    (BUILD, r"-march=nativ[e]|-mav[x]|-Ofas[t]|(?<!-fno)-ffast-mat[h]",
     "proofs hold for IEEE arithmetic, and Highway dispatches at run time"),
]

FORBIDDEN_NAMES = re.compile(r"^(util|utils|common|helper|helpers|misc)\b")


def sources(tree):
    """Every file below `tree` except hidden ones (but .ci) and build folders."""
    for path in sorted(tree.iterdir()):
        if path.name.startswith(".") and path.name != ".ci" or path.name.startswith("build"):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from sources(path)
        elif path.is_file():
            yield path


def findings(tree):
    for path in sources(tree):
        where = path.relative_to(tree)
        room = where.parts[0]
        if FORBIDDEN_NAMES.match(path.name):
            yield f"{where}:1: a file is named for the one thing that it holds"
        if not path.name.endswith(ANY):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            at = f"{where}:{number}"
            include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if include and path.name.endswith(CODE):
                yield from include_findings(at, room, *include.groups())
            for files, pattern, why in WORDS:
                if room == "bench" and files is BUILD:
                    continue
                found = path.name.endswith(files) and re.search(pattern, line)
                if found:
                    yield f"{at}: '{found.group().strip()}': {why}"


def include_findings(at, room, bracket, target):
    if target.startswith("posgauge/"):
        target = target.removeprefix("posgauge/")
        allowed = ARROWS.get(room)
        if allowed and not target.startswith(tuple(allowed)):
            yield f"{at}: {room}/ may not include posgauge/{target} (docs/architecture.md, Rooms)"
        return
    if bracket == '"' and "/" not in target and f"{room}/" in ARROWS.get(room, []):
        yield f'{at}: write the full path, "posgauge/{room}/...", not "{target}"'
    for library, rooms in LIBRARIES.items():
        if re.match(library, target) and room not in rooms:
            yield f"{at}: {target} is used in {', '.join(rooms)} only"


def main():
    default = pathlib.Path(__file__).resolve().parent.parent
    tree = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    count = 0
    for finding in findings(tree):
        print(finding)
        count += 1
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
