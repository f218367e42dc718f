#!/usr/bin/env python3
"""The program as its users run it: exit codes, refusals, red gates and what repeats them.

usage: tests/command_line_test.py PROGRAM FAULTY_LIBRARY     from the repository's root
"""

import hashlib
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

PROGRAM, FAULTY = sys.argv[1:3]
MODELS = pathlib.Path("golden/models")
LLAMA = str(MODELS / "llama-3.1-8b.json")
# Lengths for configs whose frequencies depend on the current one.
NEEDED = {"internlm2.5-7b": ["--length", "65536"], "phi-4-mini": ["--length", "131072"],
          "qwen-7b": ["--length", "16384"]}
# Of the model whose weights take longest, two kernels.
SOME = {"transfo-xl-wt103": ["--kernel", "fast.scores.*.f32", "--kernel", "fast.attention.*.bf16"]}
ONE_DTYPE = ["--kernel", "fast.frequencies", "--kernel", "*.bf16"]
# Of schemes whose equations cost most, one dtype at once.
COSTLY = {"dinov2-base", "qwen2.5-7b-1m", "torchscale-xpos", "xlnet-base"}


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


class Refusals(unittest.TestCase):
    """Bad input is one line on stderr and exit 2."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def refuse(self, *arguments, says):
        result = run(*arguments)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(says, result.stderr)

    def config(self, **changes):
        config = json.loads(pathlib.Path(LLAMA).read_text())
        for key, value in changes.items():
            if value is None:
                config.pop(key, None)
            else:
                config[key] = value
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        return path

    def test_missing_file(self):
        self.refuse("gate", self.folder / "none.json", says="No such file")

    def test_malformed_json(self):
        path = self.folder / "config.json"
        path.write_text('{"model_type": "llama",')
        self.refuse("describe", path, says=str(path))

    def test_unknown_rope_type(self):
        path = self.config(rope_scaling={"rope_type": "spiral", "factor": 2.0})
        self.refuse("describe", path, says="spiral")

    def test_type_of_a_later_scheme_is_not_silently_something_else(self):
        path = self.config(rope_scaling={"rope_type": "yarn", "factor": 4.0,
                                         "original_max_position_embeddings": 8192,
                                         "mrope_section": [16, 24, 24]})
        self.refuse("describe", path, says="mrope_section")

    def test_sections_that_do_not_sum_to_the_pairs(self):
        path = self.config(rope_scaling={"rope_type": "mrope", "mrope_section": [16, 24, 23]})
        self.refuse("describe", path, says="section")

    def test_original_length_missing(self):
        path = self.config(rope_scaling={"rope_type": "yarn", "factor": 4.0})
        self.refuse("describe", path, says="original_max_position_embeddings")

    def test_factor_zero(self):
        path = self.config(rope_scaling={"rope_type": "linear", "factor": 0.0})
        self.refuse("describe", path, says="factor")

    def test_huge_and_not_finite_numbers(self):
        path = self.folder / "config.json"
        for number in ("1e400", "NaN", "-Infinity", "1" * 400):
            path.write_text('{"model_type":"llama","head_dim":128,"rope_theta":%s}' % number)
            self.refuse("describe", path, says=str(path))

    def test_scheme_parameters(self):
        for settings, says in (
            (["rope", "rotary_dim=7"], "even"),
            (["rope", "base=0"], "base"),
            (["rope", "base=-10000"], "base"),
            (["rope", "base=nan"], "finite"),
            (["rope", "base=1e400"], "finite"),
            (["yarn", "base=1"], "base"),
            (["yarn", "factor=0"], "factor"),
            (["ntk", "rotary_dim=2"], "rotary_dim"),
            (["ntk", "form=dynamic"], "length"),
            (["llama3", "high_frequency_factor=0.5"], "high_frequency_factor"),
            (["rope", "bass=3"], "bass"),
            (["rope", "base"], "field=value"),
            (["spiral"], "spiral"),
            (["yarn", "original_length=4", "factor=4"], "inverted"),
        ):
            arguments = ["describe", "--scheme", settings[0]]
            for setting in settings[1:]:
                arguments += ["--set", setting]
            with self.subTest(settings=settings):
                self.refuse(*arguments, says=says)

    def test_flags(self):
        self.refuse("gate", LLAMA, "--no-such-flag", says="--no-such-flag")
        self.refuse("gate", LLAMA, "--require", "luck", says="--require")
        self.refuse("gate", LLAMA, "--contract", "", says="--contract: must not be empty")
        self.refuse("gate", LLAMA, "--waive", "everything", says="--waive")
        self.refuse("gate", LLAMA, "--heads", "0", says="--heads")
        self.refuse("gate", LLAMA, "--positions", "0", says="positions")
        self.refuse("gate", LLAMA, "--max-position", "-1", says="position")
        self.refuse("gate", LLAMA, "--kernel", "nobody", says="nobody")
        self.refuse("gate", LLAMA, "--golden", self.folder / "none", says="none")
        self.refuse("gate", LLAMA, "--library", self.folder / "none.so", says="none.so")
        self.refuse("gate", says="config")
        self.refuse("audit", LLAMA, "--contract", "angle=f33", says="f33")
        self.refuse("audit", LLAMA, "--dtype", "f8", says="f8")
        self.refuse("repro", "contract/fast.table.f32", says="repro id")
        for seed in ("-1", "1.5", "18446744073709551616", ""):
            self.refuse("gate", LLAMA, "--seed", seed, says="--seed: must be a whole number")
            self.refuse("golden", "make", LLAMA, "--out", self.folder, "--seed", seed, says="--seed")
        for budget in ("inf", "1e400", "nan", "0"):
            self.refuse("gate", LLAMA, "--budget", budget, says="--budget")
        self.refuse("audit", LLAMA, "--phase", "inf", says="--phase")
        self.refuse("gate", LLAMA, "--exhaustive", "--positions", 8, says="--positions")
        self.refuse("gate", LLAMA, "--junit", "", says="--junit: must not be empty")
        self.refuse("audit", LLAMA, "--contract", "", says="--contract: must not be empty")
        self.refuse("compare", LLAMA, LLAMA, "--contract", "", says="--contract: must not be empty")
        self.refuse("describe", "--scheme", "rope", "--length", 5, says="length")
        self.refuse("foo", says='there is no command "foo"')
        self.refuse("describe", "--scheme", "yarn", "--set", "factor=4", "base=5", says="--set of its own")
        self.refuse("describe", LLAMA, "--set", "factor=4", "base=5", says="--set of its own")
        self.refuse("repro", "contract/fast.table.f32/rope/pfar/h4/s1", says="position")

    def test_library_that_is_none(self):
        path = self.folder / "text.so"
        path.write_text("no library")
        self.refuse("gate", LLAMA, "--library", path, says="cannot load")

    def test_golden_files(self):
        name = sorted(pathlib.Path("golden/vectors/rope").glob("*.json"))[0].stem
        for suffix in (".json", ".safetensors"):
            shutil.copy(f"golden/vectors/rope/{name}{suffix}", self.folder)
        payload = self.folder / f"{name}.safetensors"
        manifest = self.folder / f"{name}.json"
        whole, text = payload.read_bytes(), manifest.read_text()
        tampered = whole[:-1] + bytes([whole[-1] ^ 1])
        for bytes_now in (whole[:-1], tampered):
            payload.write_bytes(bytes_now)
            self.refuse("golden", "show", manifest, says=name)
            self.refuse("gate", LLAMA, "--golden", self.folder, says=name)
            # Finding a difference is what verify is for.
            self.assertEqual(run("golden", "verify", self.folder).returncode, 1)
        payload.write_bytes(whole)
        self.assertEqual(run("golden", "verify", self.folder).returncode, 0)
        manifest.write_text(text[: len(text) // 2])
        self.refuse("golden", "show", manifest, says=str(manifest))

    def test_case_files(self):
        run("gate", LLAMA, "--kernel", "fast.rotate.f32", "--positions", 8, "--waive",
            "frequency,table", "--dump", self.folder)
        case = self.folder / "all.rotate.f32.case.safetensors"
        whole = case.read_bytes()
        case.write_bytes(whole[:-1])
        self.refuse("compare", case, case, says=str(case))
        case.write_bytes(struct.pack("<Q", 1 << 60) + whole[8:])
        self.refuse("compare", case, case, says=str(case))

    def test_full_disk_leaves_nothing(self):
        # A limit on the size of files stands for a full disk.
        out = self.folder / "report.xml"
        script = 'ulimit -f 0; trap "" XFSZ; exec "$@"'
        result = subprocess.run(
            ["bash", "-c", script, "bash", PROGRAM, "gate", LLAMA, "--positions", "8", "--kernel",
             "fast.frequencies", "--junit", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, timeout=300)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(str(out), result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


class Notes(unittest.TestCase):
    """What a config leaves open is said by every command that fills it in."""

    def test_every_command(self):
        with tempfile.TemporaryDirectory() as folder:
            config = json.loads(pathlib.Path(LLAMA).read_text())
            del config["max_position_embeddings"]
            path = pathlib.Path(folder) / "config.json"
            path.write_text(json.dumps(config))
            says = "gives no max_position_embeddings"
            gate = ("gate", path, "--positions", 8, "--kernel", "fast.frequencies")
            for arguments in (gate, ("audit", path, "--positions", 8), ("describe", path),
                              ("table", path, "--positions", "0:8")):
                for options in ((), ("--json",)):
                    with self.subTest(command=arguments[0], options=options):
                        result = run(*arguments, *options)
                        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                        self.assertIn(says, result.stdout)
            self.assertNotIn("note:", run("gate", LLAMA, *gate[2:]).stdout)

    def test_options_that_the_model_overrules(self):
        gate = ("--positions", 8, "--kernel", "fast.frequencies")
        self.assertIn("the given pairing interleaved is not that of model_type llama",
                      run("gate", LLAMA, "--pairing", "interleaved", *gate).stdout)
        self.assertIn("the given length has no effect", run("gate", LLAMA, "--length", 5, *gate).stdout)


class LostOutput(unittest.TestCase):
    def test_full_output_is_no_success(self):
        for arguments in (("schemes",), ("--help",), ("--version",), ("describe", LLAMA),
                          ("audit", LLAMA, "--positions", "8"),
                          ("gate", LLAMA, "--positions", "8", "--kernel", "fast.frequencies"),
                          ("golden", "show", "golden/vectors/rope/one-pair.json")):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=300)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(result.stderr, "posgauge: standard output cannot be written\n")


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refuse(self, *arguments, says):
        result = run("table", "--scheme", "rope", *arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_both_paths_give_the_same_bytes(self):
        result = run("table", MODELS / "phi-4-mini.json", "--length", 131072, "--positions",
                     "4090:4100", "--dtype", "all", "--second-path", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        for table in json.loads(result.stdout)["groups"][0]["tables"]:
            self.assertTrue(table["second_path_agrees"])
            self.assertEqual((table["values"], table["undecided"]), (960, 0))

    def test_file_is_what_the_sums_say(self):
        out = self.folder / "out.safetensors"
        result = run("table", "--scheme", "rope", "--set", "rotary_dim=6", "--positions", "3:8",
                     "--dtype", "bf16", "--dtype", "f64", "--out", out, "--json")
        tables = json.loads(result.stdout)["groups"][0]["tables"]
        content = out.read_bytes()
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8:8 + size])
        for table in tables:
            for part in ("cos", "sin"):
                entry = header[f"all.{table['dtype']}.{part}"]
                self.assertEqual(entry["shape"], [5, 3])
                begin, end = entry["data_offsets"]
                self.assertEqual(hashlib.sha256(content[8 + size + begin:8 + size + end]).hexdigest(),
                                 table[f"sha256_{part}"])

    def test_killed_run_leaves_nothing(self):
        out = self.folder / "out.safetensors"
        process = subprocess.Popen([PROGRAM, "table", "--scheme", "rope", "--positions",
                                    "0:2147483647", "--dtype", "f8e5m2", "--set", "rotary_dim=2",
                                    "--out", out], stdout=subprocess.DEVNULL)
        time.sleep(0.5)
        process.kill()
        self.assertEqual(process.wait(), -9)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_length_bounds_the_positions(self):
        for length in (1, 100):
            result = run("table", MODELS / "phi-4-mini.json", "--length", length, "--json")
            self.assertEqual(json.loads(result.stdout)["end_position"], length)

    def test_refusals(self):
        out = self.folder / "out.safetensors"
        self.refuse("--out", "", says="no file name")
        self.refuse("--out", self.folder, says="not a regular file")
        self.refuse("--out", self.folder / "missing" / "out", says="No such file")
        self.refuse("--positions", "0:2147483648", "--dtype", "all", "--set", "rotary_dim=65536",
                    "--set", "head_dim=65536", "--out", out, says="cannot write")
        for text in ("", "5", "5:5", "7:3", "0:2147483649", "0:4:8", "a:b", "0:1e3"):
            self.refuse("--positions", text, says="FIRST:END")
        self.refuse("--dtype", "i32", says="must be one of f64")
        self.refuse("--threads", "-1", says="--threads")


class Gate(unittest.TestCase):
    def test_every_model(self):
        configs = sorted(MODELS.glob("*.json"))
        self.assertGreaterEqual(len(configs), 6)
        gated = set()  # schemes that every kernel has been gated on; after it those of one dtype
        for config in configs:
            needed = NEEDED.get(config.stem, [])
            model = json.loads(run("describe", config, "--json", *needed).stdout)
            schemes = {group["scheme"]["scheme"] for group in model["groups"]}
            whole = schemes - gated and config.stem not in COSTLY
            kernels = SOME.get(config.stem, [] if whole else ONE_DTYPE)
            gated |= schemes
            with self.subTest(config=config.name):
                result = run("gate", config, "--positions", 32, "--heads", 1, *needed, *kernels)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn("HOLDS", result.stdout)

    def test_json_and_junit_say_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            junit = pathlib.Path(folder) / "gate.xml"
            result = run("gate", LLAMA, "--positions", 64, "--json", "--junit", junit)
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stdout)
            suite = xml.etree.ElementTree.parse(junit).getroot()
            self.assertEqual(int(suite.get("tests")), len(report["verdicts"]))
            self.assertEqual(int(suite.get("failures")), 0)
            self.assertEqual(report["exit_code"], 0)

    def test_same_seed_same_report(self):
        reports = []
        for _ in range(2):
            report = json.loads(run("gate", LLAMA, "--positions", 32, "--json", "--seed", 7).stdout)
            del report["conclusion"]  # holds the time
            reports.append(report)
        self.assertEqual(*reports)

    def test_supplied_stages_are_not_a_pass(self):
        result = run("gate", LLAMA, "--kernel", "fast.rotate.f32", "--positions", 32)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not covered: frequency", result.stdout)
        result = run("gate", LLAMA, "--kernel", "fast.rotate.f32", "--positions", 32, "--waive",
                     "frequency,table")
        self.assertEqual(result.returncode, 0)
        self.assertIn("waived", result.stdout)


    def test_layers_that_no_kernel_serves_are_not_covered(self):
        # This model's encoder adds sines, its decoder learned rows.
        arguments = ("gate", MODELS / "whisper-small.json", "--positions", 16, "--kernel",
                     "fast.embed.learned.f32")
        result = run(*arguments)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("\nNOT COVERED: ", result.stdout)
        self.assertIn("not covered: layers encoder: no kernel serves sinusoidal; gate a kernel that does",
                      result.stdout)
        result = run(*arguments, "--waive", "layers")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("waived: layers encoder", result.stdout)

    def test_nothing_executed_is_not_a_pass(self):
        # Without a channel that rotates a table has no entry.
        arguments = ("gate", "--scheme", "rope", "--set", "rotary_dim=0", "--set", "head_dim=8",
                     "--positions", 32, "--waive", "frequency,table", "--kernel")
        result = run(*arguments, "fast.table.*")
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertIn("NOTHING PROVEN: 0 checks passed, 0 failed", result.stdout)
        # The others have something to compare: a magnitude, channels that are copied.
        for kernel in ("fast.frequencies", "fast.rotate.f32"):
            result = run(*arguments, kernel)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class Baselines(unittest.TestCase):
    """A kernel that keeps its contract may still have become worse."""

    GATE = ("gate", LLAMA, "--positions", 64, "--kernel", "fast.rotate_positions.f32", "--waive",
            "frequency")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.file = self.folder / "baseline.json"

    def gate(self, *more, expect):
        result = run(*self.GATE, "--baseline", self.file, *more)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def change(self, factor):
        baseline = json.loads(self.file.read_text())
        checks = baseline["uses"]["fast.rotate_positions.f32"]
        checks["all: contract"] *= factor
        self.file.write_text(json.dumps(baseline))

    def test_recorded_compared_updated(self):
        self.assertIn(f"baseline: recorded in {self.file}", self.gate(expect=0).stdout)
        recorded = self.file.read_text()
        self.assertIn("of 0 kernels some use more", self.gate(expect=0).stdout)
        self.change(0.5)
        worse = self.gate("--junit", self.folder / "junit.xml", expect=1).stdout
        self.assertIn("FAIL baseline  fast.rotate_positions.f32", worse)
        self.assertIn("\nDOES NOT HOLD: ", worse)
        self.assertIn("note: all: contract 0", worse)
        suite = xml.etree.ElementTree.parse(self.folder / "junit.xml").getroot()
        self.assertEqual(suite.get("failures"), "1")
        self.change(8)
        self.assertIn("1 checks use less than half", self.gate("--update-baseline", expect=0).stdout)
        self.assertEqual(self.file.read_text(), recorded)

    def test_what_is_not_run_any_more_fails(self):
        self.gate(expect=0)
        baseline = json.loads(self.file.read_text())
        baseline["uses"]["fast.rotate_positions.f32"]["all: lost"] = 0.5
        self.file.write_text(json.dumps(baseline))
        self.assertIn("all: lost did not pass, or was not run", self.gate(expect=1).stdout)

    def test_refusals(self):
        self.gate(expect=0)
        recorded = self.file.read_text()
        self.assertIn("recorded for golden/models/llama-3.1-8b.json, 64 positions",
                      self.gate("--seed", 2, expect=2).stderr)
        for text in ("{", "{}", "[]", recorded.replace('"posgauge_baseline": 1', '"posgauge_baseline": 2'),
                     recorded.replace('"uses": {', '"uses": 3, "x": {'),
                     recorded.replace('"uses": {', '"uses": {}, "x": {'),
                     recorded.replace('"fast.rotate', '"a": 3, "fast.rotate'),
                     recorded.replace('"all: contract": ', '"all: contract": -')):
            self.file.write_text(text)
            result = self.gate(expect=2)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(str(self.file), result.stderr)
            self.assertEqual(self.file.read_text(), text)

    def test_a_gate_that_does_not_hold_records_nothing(self):
        result = run(*self.GATE[:-2], "--baseline", self.file)
        self.assertEqual(result.returncode, 1)
        self.assertFalse(self.file.exists())

    def test_summary_is_added(self):
        summary = self.folder / "summary.md"
        summary.write_text("# Before\n")
        result = run(*self.GATE, "--summary", summary)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = summary.read_text()
        self.assertTrue(text.startswith("# Before\n## posgauge gate "), text)
        self.assertIn("HOLDS: ", text)


class FaultyKernels(unittest.TestCase):
    """Wrong kernels through the same interface: red, with a place and a line that repeats it."""

    def gate(self, kernel):
        return run("gate", LLAMA, "--library", FAULTY, "--kernel", kernel, "--positions", 64,
                   "--waive", "frequency,table")

    def test_honest_ones_pass(self):
        for kernel in ("honest.rotate.f32", "honest.rotate.bf16", "honest.table.f16",
                       "honest.rotate.f8e4m3", "honest.rotate_backward.f8e5m2",
                       "honest.table.f8e4m3", "honest.table.f8e5m2"):
            with self.subTest(kernel=kernel):
                result = self.gate(kernel)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_faults_are_red_and_repeatable(self):
        for fault in ("frequency_bit", "sin_sign", "pairing_swapped", "position_plus_one"):
            for dtype in ("f32", "bf16"):
                kernel = f"faulty.{fault}.rotate.{dtype}"
                with self.subTest(kernel=kernel):
                    result = self.gate(kernel)
                    self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                    self.assertIn("first failing", result.stdout)
                    self.assertIn("note: by the usual rules: torch.testing.assert_close ", result.stdout)
                    repro = next(line for line in result.stdout.splitlines()
                                 if "posgauge repro contract/" in line)
                    arguments = repro.split("posgauge ", 1)[1].split()
                    again = run(*arguments)
                    self.assertEqual(again.returncode, 1, again.stdout + again.stderr)
                    self.assertIn("FAIL contract", again.stdout)


class Compare(unittest.TestCase):
    def test_case_and_result(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run("gate", LLAMA, "--kernel", "fast.table.f32", "--positions", 64, "--waive",
                "frequency", "--dump", folder)
            case = folder / "all.table.f32.case.safetensors"
            answer = folder / "all.fast.table.f32.safetensors"
            contract = ("position=exact frequency=dd angle=turn96 trig=2ulp:f64 table=f32 rotate=f32 "
                        "store=f32:rne flush=no")
            result = run("compare", case, answer, "--contract", contract, "--require", "adequate")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("keeps its contract  PASS", result.stdout)
            # The lowest bit but one of a value near the end.
            whole = bytearray(answer.read_bytes())
            whole[-4] ^= 2
            answer.write_bytes(whole)
            result = run("compare", case, answer, "--contract", contract)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertIn("first failing", result.stdout)
            self.assertEqual(run("compare", case, case).returncode, 2)
            # A file without a case: numbers, and no verdict.
            golden = sorted(pathlib.Path("golden/vectors/rope").glob("*.safetensors"))[0]
            result = run("compare", golden, golden)
            self.assertEqual(result.returncode, 4, result.stderr)
            self.assertIn("no verdict", result.stdout)


class AddedRows(unittest.TestCase):
    """A scheme that does not rotate goes the same ways."""

    SCHEME = ("--scheme", "sinusoidal", "--set", "width=9", "--set", "layout=halves", "--set",
              "frequency_shift=1", "--set", "odd_width=zero", "--set", "start=2", "--set",
              "padding_index=1", "--positions", "64", "--max-position", "4095")

    def test_our_kernels_hold(self):
        result = run("gate", *self.SCHEME, "--json")
        self.assertEqual(result.returncode, 0, result.stdout)
        kernels = [kernel["name"] for kernel in json.loads(result.stdout)["kernels"]]
        self.assertIn("fast.rows.f32", kernels)
        self.assertIn("fast.embed.bf16", kernels)
        self.assertNotIn("fast.rotate.f32", kernels)

    def test_a_fault_is_found_and_repeated(self):
        for kernel in ("faulty.start_ignored.embed.f32", "faulty.sin_sign.rows.bf16"):
            result = run("gate", *self.SCHEME, "--library", FAULTY, "--kernel", kernel)
            self.assertEqual(result.returncode, 1, result.stdout)
            command = [line.split("posgauge repro ")[1] for line in result.stdout.splitlines()
                       if "posgauge repro contract/" in line][0]
            again = run("repro", *command.split())
            self.assertEqual(again.returncode, 1, again.stdout)
            self.assertIn(kernel, again.stdout)

    def test_dumped_answers_are_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run("gate", *self.SCHEME, "--library", FAULTY, "--dump", folder)
            for quantity, form in (("table", "rows"), ("embed", "embed")):
                case = folder / f"all.{quantity}.f32.case.safetensors"
                honest = run("compare", case, folder / f"all.honest.{form}.f32.safetensors")
                self.assertEqual(honest.returncode, 0, honest.stdout + honest.stderr)
                faulty = run("compare", case, folder / f"all.faulty.sin_sign.{form}.f32.safetensors")
                self.assertEqual(faulty.returncode, 1, faulty.stdout + faulty.stderr)

    def test_what_asks_for_a_rotation_is_refused_in_one_line(self):
        for command, instead in (("audit", "`posgauge gate`"), ("table", "`posgauge golden make`")):
            result = run(command, "--scheme", "sinusoidal")
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr.count("\n"), 1)
            self.assertIn("sinusoidal is", result.stderr)
            self.assertIn(instead, result.stderr)


class SeveralAxes(unittest.TestCase):
    """Positions of time, height and width go the same ways."""

    SCHEME = ("--scheme", "mrope", "--set", "head_dim=32", "--set", "section=[6,6,4]", "--set",
              "order=interleaved")
    PLAN = ("--positions", "64", "--max-position", "4095")

    def test_our_kernels_hold(self):
        result = run("gate", *self.SCHEME, *self.PLAN, "--json")
        self.assertEqual(result.returncode, 0, result.stdout)
        kernels = [kernel["name"] for kernel in json.loads(result.stdout)["kernels"]]
        self.assertIn("fast.rotate_positions.bf16", kernels)
        self.assertIn("fast.table.f32", kernels)

    def test_a_fault_is_found_and_repeated(self):
        for kernel in ("faulty.first_axis.rotate.f32", "faulty.axes_reversed.table.bf16"):
            result = run("gate", *self.SCHEME, *self.PLAN, "--library", FAULTY, "--kernel", kernel)
            self.assertEqual(result.returncode, 1, result.stdout)
            command = [line.split("posgauge repro ")[1] for line in result.stdout.splitlines()
                       if "posgauge repro contract/" in line][0]
            again = run("repro", *command.split())
            self.assertEqual(again.returncode, 1, again.stdout)
            self.assertIn(kernel, again.stdout)
            self.assertIn(" on axis ", again.stdout)

    def test_dumped_answers_are_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run("gate", *self.SCHEME, *self.PLAN, "--library", FAULTY, "--dump", folder)
            for quantity in ("table", "rotate"):
                case = folder / f"all.{quantity}.f32.case.safetensors"
                contract = ("--contract", "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 "
                            "table=f32 rotate=f32 store=f32:rne flush=no")
                honest = run("compare", case, folder / f"all.honest.{quantity}.f32.safetensors",
                             *contract)
                self.assertEqual(honest.returncode, 0, honest.stdout + honest.stderr)
                faulty = run("compare", case,
                             folder / f"all.faulty.first_axis.{quantity}.f32.safetensors", *contract)
                self.assertEqual(faulty.returncode, 1, faulty.stdout + faulty.stderr)

    def test_golden_make_takes_one_number_an_axis(self):
        with tempfile.TemporaryDirectory() as folder:
            make = ("golden", "make", "--quantity", "table", "--out", folder, "--name", "a")
            result = run(*make, *self.SCHEME, "--positions", "0:2,3/4/5")
            self.assertEqual(result.returncode, 0, result.stderr)
            manifest = json.loads((pathlib.Path(folder) / "a.json").read_text())
            positions = manifest["cases"][0]["inputs"]["positions"]
            self.assertEqual(positions, {"shape": [3, 3], "values": [0, 0, 0, 1, 1, 1, 3, 4, 5]})
            self.assertEqual(run("golden", "verify", folder).returncode, 0)
            for scheme, given, says in ((self.SCHEME, "3/4", "3 numbers, one an axis"),
                                        (("--scheme", "rope"), "3/4/5", "one number"),
                                        (self.SCHEME, "3/x/5", "'x'")):
                result = run(*make, *scheme, "--positions", given)
                self.assertEqual(result.returncode, 2, result.stdout)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(says, result.stderr)

    def test_table_has_the_same_position_on_every_axis(self):
        tables = [json.loads(run("table", *scheme, "--positions", "5:9", "--json").stdout)["groups"][0]
                  ["tables"] for scheme in (self.SCHEME, ("--scheme", "rope", "--set", "head_dim=32"))]
        self.assertEqual(*tables)

    def test_audit_and_describe(self):
        result = run("audit", *self.SCHEME, "--positions", "64", "--max-position", "4095", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        pairs = json.loads(run("describe", *self.SCHEME, "--json").stdout)["groups"][0]["pairs"]
        self.assertEqual([pair["axis"] for pair in pairs], [0, 1, 2] * 4 + [0, 1, 0, 0])
        self.assertIn("axis 1                 5 pairs: 1, 4, 7, 10, 13",
                      run("describe", *self.SCHEME).stdout)


class GoldenWrite(unittest.TestCase):
    def test_vectors_that_no_plan_names_go(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            plans, out = folder / "plans", folder / "vectors"
            shutil.copytree("golden", plans, ignore=shutil.ignore_patterns("vectors"))
            plan = json.loads((plans / "rope.json").read_text())
            names = [manifest["name"] for manifest in plan["manifests"]]
            write = ("golden", "write", "--plans", plans, "--out", out)
            self.assertEqual(run(*write).returncode, 0)
            # A file of somebody else, and one that is no manifest, of names that no plan has.
            other = json.loads((out / "rope" / f"{names[0]}.json").read_text())
            other["generator"]["name"] = "somebody"
            (out / "rope" / "theirs.json").write_text(json.dumps(other))
            (out / "rope" / "notes.json").write_text("[")
            del plan["manifests"][0]
            (plans / "rope.json").write_text(json.dumps(plan))
            result = run(*write)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{names[0]}.json: removed, no plan names it", result.stdout)
            self.assertEqual(result.stdout.count("removed"), 1)
            left = {path.name for path in (out / "rope").iterdir()}
            self.assertEqual(left, {"theirs.json", "notes.json"} | {
                name + suffix for name in names[1:] for suffix in (".json", ".safetensors")})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
