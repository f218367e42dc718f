#!/usr/bin/env python3
"""What `posgauge describe` and `posgauge schemes` print.  usage: describe_test.py PROGRAM"""

import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = sys.argv.pop(1)


def run(*arguments):
    result = subprocess.run([PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def describe(*arguments):
    status, output, errors = run("describe", *arguments, "--json")
    assert status == 0, errors
    return json.loads(output)


class Describe(unittest.TestCase):
    def refused(self, message, *arguments):
        status, output, errors = run(*arguments)
        self.assertEqual((status, output, errors), (2, "", f"posgauge: {message}\n"))

    # Digits from 60-digit decimal arithmetic, independent of the program; longer than binary64
    # needs, so that reading them gives the correctly rounded number.
    def test_frequencies_of_llama_3_1(self):
        pairs = describe("golden/models/llama-3.1-8b.json")["groups"][0]["pairs"]
        for pair, digits in ((28, "3.2114459947525910185434e-3"),
                             (29, "2.1665707635033586093415e-3"),
                             (31, "8.5675141291963208107433e-4"),
                             (34, "1.7850781276799641852367e-4"),
                             (35, "9.5562123539646830198683e-5"),
                             (63, "3.0689259889145110890524e-7")):
            self.assertEqual(pairs[pair]["frequency"], float(digits))
            self.assertEqual(pairs[pair]["proof"], "proven")
            self.assertEqual(pairs[pair]["channels"], [pair, pair + 64])
        self.assertEqual(pairs[0]["proof"], "exact")
        self.assertEqual(pairs[63]["ratio"], 1 / 8)

    def test_multiplier_and_suffix_of_deepseek(self):
        group = describe("golden/models/deepseek-v3.json")["groups"][0]
        self.assertEqual(group["channels"], [128, 192])
        self.assertEqual(group["pairs"][0]["channels"], [128, 129])
        self.assertEqual(group["magnitude"], {"value": 1.0, "proof": "exact"})
        self.assertEqual(f"{group['softmax_multiplier']['value']:.5f}", "1.87385")

    def test_groups_of_gemma_3(self):
        groups = describe("golden/models/gemma-3-27b.json")["groups"]
        self.assertEqual([group["kind"] for group in groups],
                         ["full_attention", "sliding_attention"])
        self.assertEqual([group["pairs"][0]["frequency"] for group in groups], [0.125, 1])
        one = describe("golden/models/gemma-3-27b.json", "--layer-kind", "full_attention",
                       "--set", "factor=4")
        self.assertEqual([group["pairs"][0]["frequency"] for group in one["groups"]], [0.25])
        self.assertIn("set by the caller, not by the config: factor=4", one["notes"])

    def test_layers_that_do_not_rotate(self):
        model = "golden/models/smollm3-3b.json"
        record = describe(model)
        self.assertEqual(record["unrotated"], [{"kind": "nope", "layers": list(range(3, 36, 4))}])
        self.assertNotIn(3, record["groups"][0]["layers"])
        self.assertIn("\nnope (layers 3, 7, 11, 15, 19, 23, 27, 31, 35): no rotation\n",
                      run("describe", model)[1])

    def test_pairs_that_stand_still(self):
        model = ("golden/models/gemma-4-12b.json", "--layer-kind", "full_attention")
        pairs = describe(*model)["groups"][0]["pairs"]
        self.assertEqual([pair["pair"] for pair in pairs if pair["frequency"] != 0],
                         list(range(64)))
        self.assertEqual((pairs[64]["proof"], pairs[64]["wavelength"]), ("exact", None))
        self.assertIn("0-511 of 512 rotate, 256 pairs, 192 of them by frequency 0: they stand still",
                      run("describe", *model)[1])

    def test_length_switches_longrope(self):
        # mpmath: mpf(10000)**(-mpf(94)/96), and that over mpf(47.77).
        for length, digits in (("4096", "0.00012115276586285884463586029333229"),
                               ("4097", "0.0000025361684291994732406701623527825")):
            record = describe("golden/models/phi-4-mini.json", "--length", length)
            self.assertEqual(record["groups"][0]["pairs"][47]["frequency"], float(digits))

    def test_text_and_record_agree(self):
        model = "golden/models/gpt-oss-120b.json"
        record = describe(model)
        status, text, _ = run("describe", model, "--pairs", "all")
        self.assertEqual(status, 0)
        for pair in record["groups"][0]["pairs"]:
            rows = [line.split() for line in text.splitlines()]
            found = [float(row[1]) for row in rows if row[:1] == [str(pair["pair"])]]
            self.assertEqual(found, [pair["frequency"]])
        for note in record["notes"]:
            self.assertIn(note, text)

    def test_table_shows_the_first_and_the_last_pair(self):
        for wanted, shown in (("1", [0]), ("2", [0, 63]), ("4", [0, 21, 42, 63])):
            _, text, _ = run("describe", "--scheme", "rope", "--pairs", wanted)
            rows = text.split("of unscaled\n")[1].split("\n\n")[0].splitlines()
            self.assertEqual([int(row.split()[0]) for row in rows], shown)

    def test_scheme_by_name(self):
        record = describe("--scheme", "yarn", "--set", "factor=16", "--pairing", "interleaved")
        scheme = record["groups"][0]["scheme"]
        self.assertEqual((scheme["factor"], scheme["pairing"]), (16, "interleaved"))
        self.assertEqual(record["pairing_source"], "given")

    def test_refusals(self):
        config = "golden/models/llama-3.1-8b.json"
        self.refused("give a model's config.json, or --scheme NAME", "describe")
        self.refused("give a config or --scheme, not both", "describe", config, "--scheme", "rope")
        self.refused("rope.base must be a finite number, got \"1e400\"",
                     "describe", "--scheme", "rope", "--set", "base=1e400")
        self.refused("--pairs must be all or a number above 0, got \"0\"",
                     "describe", config, "--pairs", "0")
        self.refused("--pairing must be one of half, interleaved, half_per_axis, got \"neox\"",
                     "describe", config, "--pairing", "neox")
        self.refused("--layer-kind must be one of all, got \"local\"",
                     "describe", config, "--layer-kind", "local")
        self.refused("nowhere.json: cannot read: No such file or directory",
                     "describe", "nowhere.json")
        self.refused("golden: cannot read: Is a directory", "describe", "golden")
        self.refused("golden/models/internlm2.5-7b.json: rope type 'dynamic' depends on the "
                     "current length in tokens: give --length N (largest position + 1)",
                     "describe", "golden/models/internlm2.5-7b.json")
        self.refused("rope has no field \"length\": its fields are head_dim, rotary_dim, "
                     "rotary_offset, pairing, direction, base",
                     "describe", "--scheme", "rope", "--length", "5")


class Schemes(unittest.TestCase):
    def test_lists_every_scheme(self):
        status, output, _ = run("schemes")
        self.assertEqual(status, 0)
        self.assertEqual([line.split()[0] for line in output.splitlines()],
                         sorted(path.stem for path in (ROOT / "schemes").glob("*.h")))

    def test_fields_and_their_defaults_are_accepted(self):
        for scheme in json.loads(run("schemes", "--json")[1])["schemes"]:
            settings = []
            for field in scheme["fields"]:
                default = field["default"]
                text = default if isinstance(default, str) else json.dumps(default)
                settings += ["--set", f"{field['name']}={text}"]
                if field["type"] == "variant":
                    self.assertIn(default, field["choices"])
            record = describe("--scheme", scheme["name"], *settings)
            for field in scheme["fields"]:
                self.assertEqual(record["groups"][0]["scheme"][field["name"]], field["default"])

    def test_one_scheme(self):
        _, output, _ = run("schemes", "ntk")
        self.assertTrue(output.startswith("ntk: "))
        self.assertIn("  form  (aware|naive|dynamic|qwen|fixed|mixed; default \"aware\")", output)
        self.assertEqual(run("schemes", "nope")[0], 2)


if __name__ == "__main__":
    unittest.main()
