#!/usr/bin/env python3
"""`posgauge dialects`: the errors of known disagreements, against frequencies made apart from it.

usage: tests/dialects_test.py PROGRAM     from the repository's root
"""

import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import effective_frequencies as made

PROGRAM = sys.argv.pop(1)
MODELS = pathlib.Path("golden/models")
GPT_OSS = (64, 150000, 32, 4096)

# Configs beside those of golden/models, by what is changed in one of them.
CHANGED = {
    "attn_factor": ("gpt-oss-120b", ("rope_scaling",), {"attn_factor": 1.25}),
    "extrapolation_factor": ("gpt-oss-120b", ("rope_scaling",), {"extrapolation_factor": 0.5}),
    "mscale_deepseek": ("deepseek-v2-lite", ("rope_scaling",), {"mscale_all_dim": 0}),
    "mscale_common": ("gpt-oss-120b", ("rope_scaling",), {"mscale": 0.707}),
    "telechat3": ("gpt-oss-120b", ("rope_scaling",), {"rope_type": "telechat3-yarn", "factor": 8}),
    "apply_yarn_scaling": ("gpt-oss-120b", ("rope_scaling",), {"apply_yarn_scaling": False}),
    "partial": ("gpt-oss-120b", (), {"partial_rotary_factor": 0.5}),
    "mscales": ("phi-4-mini", ("rope_scaling",), {"short_mscale": 1.1, "long_mscale": 1.25}),
    "proportional_factor": ("gemma-4-12b", ("text_config", "rope_parameters", "full_attention"),
                            {"factor": 8}),
    "half_pair": ("gemma-4-12b", ("text_config", "rope_parameters", "full_attention"),
                  {"partial_rotary_factor": 0.251}),
    "t5_distance": ("t5-base", (), {"relative_attention_max_distance": 256}),
}
QWEN3_VL = {"model_type": "qwen3_vl_text", "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 36,
            "max_position_embeddings": 262144, "rope_theta": 5000000,
            "rope_scaling": {"mrope_interleaved": True, "mrope_section": [24, 20, 20],
                             "rope_type": "default"}}
BLOCKS = {"model_type": "gemma3_text", "head_dim": 64, "hidden_size": 2048,
          "num_attention_heads": 32, "num_hidden_layers": 2, "max_position_embeddings": 131072,
          "layer_types": ["sliding_attention", "full_attention"],
          "rope_parameters": {
              "sliding_attention": {"rope_type": "default", "rope_theta": 10000},
              "full_attention": {"rope_type": "yarn", "rope_theta": 150000, "factor": 32,
                                 "original_max_position_embeddings": 4096, "truncate": False}}}


def run(*arguments):
    return subprocess.run([PROGRAM, "dialects", *map(str, arguments)], capture_output=True,
                          text=True, timeout=120)


class Dialects(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def groups(self, config, *arguments):
        result = run(config, *arguments, "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["groups"]

    def written(self, config):
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        return path

    def changed(self, name):
        model, keys, values = CHANGED[name]
        config = json.loads((MODELS / f"{model}.json").read_text())
        place = config
        for key in keys:
            place = place[key]
        place.update(values)
        if name == "telechat3":
            place.pop("type", None)
        return self.written(config)

    def difference(self, group, identifier, framework):
        found = [row for row in group["differences"]
                 if (row["id"], row["framework"]) == (identifier, framework)]
        self.assertEqual(len(found), 1, group["differences"])
        return found[0]

    def check_angles(self, row, own, other, last):
        """The farthest pair's error: the program's numbers are rounded to binary64 from proven
        ones, those here are off by some 2^-50 of a frequency, so both agree to 2^-40 of the larger
        angle."""
        off = np.abs(np.asarray(own) - np.asarray(other))
        positions = [error["position"] for error in row["errors"]]
        self.assertEqual((positions[:2], positions[-1]), ([1, 128], last))
        for error in row["errors"]:
            slack = 2.0 ** -40 * error["position"] * max(np.max(own), np.max(other))
            self.assertLessEqual(abs(error["angle"] - error["position"] * off.max()), slack)
            self.assertEqual(error["pair"], int(off.argmax()))

    def test_rounded_ramp_of_gpt_oss(self):
        group = self.groups(MODELS / "gpt-oss-120b.json")[0]
        own = made.yarn(*GPT_OSS, truncate=False, kind=np.float64)
        rounded = made.yarn(*GPT_OSS, kind=np.float64)
        for framework in ("mlx", "llama.cpp"):
            row = self.difference(group, "truncate", framework)
            self.check_angles(row, own, rounded, 131071)
            self.assertEqual({error["norm"] for error in row["errors"]}, {0})
        self.assertEqual(group["differences"][0]["id"], "truncate")
        # The catalogue's independent number: up to 76 % of a frequency, at pair 17.
        ratio = np.maximum(own / rounded, rounded / own)
        self.assertEqual((int(ratio.argmax()), f"{ratio.max():.2f}"), (17, "1.76"))
        paper = self.difference(group, "ramp_over", "papers")
        self.check_angles(paper, own, made.yarn_of_paper(*GPT_OSS), 131071)

    def test_step_of_llama_4(self):
        group = self.groups(MODELS / "llama-4-scout.json", "--framework", "flashinfer,megatron")[0]
        plain = made.plain(128, 500000, np.float64)
        step = np.where(2 * math.pi / plain < 8192, plain, plain / 16)
        self.check_angles(self.difference(group, "llama3_step", "flashinfer"), step, plain,
                          10485759)
        self.check_angles(self.difference(group, "llama3_constants", "megatron"), step,
                          made.llama3(plain, 16, 1, 4, 8192), 10485759)

    def test_static_alpha_of_hunyuan(self):
        group = self.groups(MODELS / "hunyuan-a13b.json")[0]
        own = made.plain(128, 10000 * 1000 ** (128 / 126), np.float64)
        self.check_angles(self.difference(group, "static_alpha", "transformers"), own,
                          made.plain(128, 10000, np.float64), 32767)
        self.check_angles(self.difference(group, "naive_ntk", "diffusers"), own,
                          made.plain(128, 10000000, np.float64), 32767)

    def test_dynamic_length_of_internlm(self):
        group = self.groups(MODELS / "internlm2.5-7b.json", "--length", 1000)[0]
        own = made.plain(128, 1000000, np.float64)
        fixed = made.plain(128, 1000000 * 3 ** (128 / 126), np.float64)  # s^2 - s + 1, s = 2
        self.check_angles(self.difference(group, "dynamic_length", "vllm"), own, fixed, 999)
        same = self.difference(group, "dynamic_unscaled", "vllm")
        self.assertFalse(same["differs"])

    def test_regimes_of_phi(self):
        scaling = json.loads((MODELS / "phi-4-mini.json").read_text())["rope_scaling"]
        plain = made.plain(96, 10000, np.float64)
        short, long = (plain / np.array(scaling[key]) for key in ("short_factor", "long_factor"))
        group = self.groups(MODELS / "phi-4-mini.json", "--length", 2000)[0]
        for framework in ("vllm", "llama.cpp", "mlx"):
            self.check_angles(self.difference(group, "longrope_regime", framework), short, long,
                              1999)
        group = self.groups(MODELS / "phi-4-mini.json", "--length", 9000)[0]
        self.assertEqual([row["differs"] for row in group["differences"]], [False] * 3)

    def test_missing_factor_of_gemma_cpp(self):
        groups = self.groups(MODELS / "gemma-3-27b.json")
        plain = made.plain(128, 1000000, np.float64)
        self.check_angles(self.difference(groups[0], "gemma3_factor", "gemma.cpp"), plain / 8,
                          plain, 131071)
        self.assertEqual(groups[1]["differences"], [])

    def test_fourth_axis_of_ggml(self):
        """The catalogue's independent numbers: pairs 61 and 62 stand still for text, angles of
        0.108 and 0.085 radians at position 262143."""
        group = self.groups(self.written(QWEN3_VL))[0]
        row = self.difference(group, "imrope_tail", "llama.cpp")
        self.assertEqual((row["errors"][-1]["position"], row["errors"][-1]["pair"],
                          f"{row['errors'][-1]['angle']:.3f}"), (262143, 61, "0.108"))

    def test_magnitudes(self):
        """1.3689 and 1.2608 for mscale 0.707 and factor 40; 1.1456 and 1.2079 for TeleChat3."""
        def g(factor, scale, slope=0.1):
            return slope * scale * math.log(factor) + 1
        for name, identifier, frameworks, own, other in (
                ("mscale_deepseek", "mscale_alone", ["transformers"], g(40, .707), g(40, 1)),
                ("mscale_common", "mscale_alone", ["vllm", "mlx", "megatron"], g(32, 1),
                 g(32, .707)),
                ("telechat3", "telechat3", ["mlx"], g(8, 1, 0.07), g(8, 1)),
                ("attn_factor", "attn_factor", ["transformers"], 1.25 * g(32, 1), g(32, 1)),
                ("mscales", "longrope_mscale", ["transformers", "mlx"], 1.1,
                 math.sqrt(1 + math.log(32) / math.log(4096)))):
            group = self.groups(self.changed(name), *(["--length", 2000] if name == "mscales" else []))[0]
            for framework in frameworks:
                with self.subTest(name=name, framework=framework):
                    row = self.difference(group, identifier, framework)
                    norm = {error["norm"] for error in row["errors"]}
                    self.assertEqual(len(norm), 1)
                    # Two quotients of numbers good to some ulp: 2^-48.
                    self.assertLessEqual(abs(norm.pop() - abs(other / own - 1)), 2.0 ** -48)

    def test_same_result_is_no_difference(self):
        """DeepSeek's own magnitude and transformers' agree where mscale is mscale_all_dim."""
        group = self.groups(MODELS / "deepseek-v3.json")[0]
        row = self.difference(group, "deepseek_magnitude", "deepseek")
        self.assertFalse(row["differs"])
        self.assertIn("deepseek", group["alike"])
        self.assertEqual(group["differences"][-1], row)
        text = run(MODELS / "deepseek-v3.json").stdout
        self.assertIn("comes to the same for this config", text)

    def test_first_other_bucket(self):
        groups = self.groups(self.changed("t5_distance"))
        for group, exact in zip(groups, (8, 16)):  # buckets of one distance each, one way
            log = lambda n, most: exact + math.floor(
                math.log(n / exact) / math.log(most / exact) * exact + 1e-12)
            first = next(n for n in range(exact, 300) if log(n, 128) != log(n, 256))
            row = self.difference(group, "t5_distance", "llama.cpp")
            self.assertEqual(row["first_other_bucket"], first)

    def test_truncate_in_blocks(self):
        groups = self.groups(self.written(BLOCKS))
        full = next(group for group in groups if group["kind"] == "full_attention")
        self.difference(full, "truncate_in_blocks", "transformers")
        one = self.groups(MODELS / "gpt-oss-120b.json")[0]
        self.assertIn("truncate_in_blocks", [row["id"] for row in one["not_applicable"]])

    def test_all_alike(self):
        for model in ("mistral-7b-v0.3", "llama-3.1-8b"):
            text = run(MODELS / f"{model}.json").stdout
            self.assertIn("all read it alike, as far as the table knows", text)
        self.assertNotIn("all read it alike", run(MODELS / "gpt-oss-120b.json").stdout)

    def test_every_row_differs_somewhere(self):
        """Each row of the table differs for some config here, and cites what it was read in."""
        listed = run("--list", "--json")
        self.assertEqual(listed.returncode, 0)
        rows = json.loads(listed.stdout)["rows"]
        keys = [(row["id"], row["framework"]) for row in rows]
        self.assertEqual(len(set(keys)), len(keys))
        for row in rows:
            self.assertTrue(row["link"].startswith("https://"), row)
            self.assertTrue(all(row[key] for key in ("version", "parameter", "reads", "when")), row)
        found = {}
        paths = [(path, "--length", length) for path in sorted(MODELS.glob("*.json"))
                 for length in (1000, 100000)]
        for arguments in paths:
            for group in self.groups(*arguments):
                found.update({(row["id"], row["framework"]): row for row in group["differences"]
                              if row["differs"]})
        documents = [self.changed(name).read_text() for name in CHANGED]
        documents += [json.dumps(QWEN3_VL), json.dumps(BLOCKS)]
        for document in documents:
            path = self.written(json.loads(document))
            for group in self.groups(path, "--length", 2000):
                found.update({(row["id"], row["framework"]): row for row in group["differences"]
                              if row["differs"]})
        # Where mscale and mscale_all_dim differ, DeepSeek's own code does too.
        config = json.loads((MODELS / "deepseek-v2-lite.json").read_text())
        config["rope_scaling"]["mscale_all_dim"] = 1
        for group in self.groups(self.written(config)):
            found.update({(row["id"], row["framework"]): row for row in group["differences"]
                          if row["differs"]})
        self.assertEqual(set(keys) - set(found), set())

    def test_bad_usage(self):
        for arguments, message in (
                (("--framework", "tensorflow", MODELS / "gpt2.json"), "--framework must be of"),
                ((), "give a model's config.json"), (("none.json",), "none.json")):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
