#!/usr/bin/env python3
"""`posgauge describe --against`: every known cause is named on real configs, honest files never are.

usage: tests/describe_against_test.py PROGRAM     from the repository's root

Files are made by tests/effective_frequencies.py, apart from the program.
"""

import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import numpy as np

import effective_frequencies as made

PROGRAM = sys.argv.pop(1)
MODELS = pathlib.Path("golden/models")
SCHEMA = json.loads(pathlib.Path("docs/effective-parameters.schema.json").read_text())
IDS = re.findall(r'^    \{"(\w+)",', pathlib.Path("verify/effective_cause.cc").read_text(), re.M)

LLAMA3 = (8, 1, 4, 8192)
PLAIN_LLAMA = made.plain(128, 500000)
PLAIN_MISTRAL = made.plain(128, 1000000)
DEEPSEEK = (64, 10000, 40, 4096)
GPT_OSS = (64, 150000, 32, 4096)
GPT_OSS_FACTOR = 0.1 * math.log(32) + 1
LENGTH = ("--length", "2000")
LONG = json.loads((MODELS / "phi-4-mini.json").read_text())["rope_scaling"]["long_factor"]
CLAMPED = ("--scheme", "yarn", *(word for setting in
           ("rotary_dim=64", "head_dim=64", "factor=4", "original_length=131072", "base=10000")
           for word in ("--set", setting)))
GIVEN_FACTOR = ("--scheme", "yarn", "--set", "factor=128", "--set", "attention_factor=1.4852")
HALF_PAIR = ("--scheme", "proportional", "--set", "rotary_dim=100", "--set", "proportion=0.29")
SLICE = ("--scheme", "alibi", "--set", "heads=8", "--set", "total_heads=16", "--set", "first_head=8")


def model(name):
    return (str(MODELS / f"{name}.json"),)


def held(values, dtype="f32", **more):
    return {"dtype": dtype, "inv_freq": [float(value) for value in values], **more}


def of(layer, fields):
    return {"layers": {layer: fields}}


def sloped(values):
    return {"dtype": "f32", "slopes": [float(value) for value in values]}


def proportional(live, width, base=10000):
    frequencies = made.plain(width, base)
    frequencies[live:] = 0
    return frequencies


def period_blend():
    """The blend of ml-explore/mlx-examples PR 907's draft."""
    values = made.llama3(PLAIN_LLAMA, *LLAMA3).astype(np.float64)
    for i, frequency in enumerate(made.plain(128, 500000, np.float64)):
        period = 2 * math.pi / frequency
        if 2048 < period < 8192:
            share = (period - 2048) / (8192 - 2048)
            values[i] = 1 / (period / (2 * math.pi) * ((1 - share) * 8 + share))
    return values


def reversed_blend():
    scaled, own = made.llama3(PLAIN_LLAMA, *LLAMA3).astype(np.float64), PLAIN_LLAMA.astype(float)
    on_ramp = (scaled < own * 0.999) & (scaled > own / 8 * 1.001)
    return np.where(on_ramp, own + own / 8 - scaled, scaled)


def swapped_betas():
    low = math.floor(made.turns_pair(64, 10000, 4096, 1))
    high = math.ceil(made.turns_pair(64, 10000, 4096, 32))
    ramp = np.clip((np.arange(32) - low) / (high - low), 0, 1)
    own = made.plain(64, 10000)
    return own / 40 * ramp + own * (1 - ramp)


# Cause, public reports of it below https://github.com/ if any, arguments, file.
CASES = [
    ("base_ignored", "deepspeedai/DeepSpeed/issues/4442", model("mistral-7b-v0.3"),
     held(made.plain(128, 10000))),
    ("base_ignored", "google/gemma.cpp/issues/986", model("llama-3.1-8b"),
     held(made.llama3(made.plain(128, 1000000), *LLAMA3), pairing="half")),
    ("factor_ignored", "onnxruntime/mobius/pull/293", model("hunyuan-a13b"),
     held(made.plain(128, 10000))),
    ("factor_ignored", "lablup/mlxcel/issues/1340 Blaizzy/mlx-vlm/pull/1709", model("gemma-3-27b"),
     of("full_attention", held(PLAIN_MISTRAL))),
    ("scaling_ignored", "lablup/mlxcel/issues/1355", model("llama-3.1-8b"), held(PLAIN_LLAMA)),
    ("scaling_ignored", "felafax/felafax/issues/59", model("llama-3.1-8b"),
     held(made.by_exp(128, 500000), scheme="rope")),
    ("scaling_ignored", "apple/coreai-models/pull/246", model("phi-4-mini") + ("--length", "9000"),
     held(made.plain(96, 10000), attention_factor=1)),
    ("scaling_ignored", "NVIDIA/TensorRT-LLM/issues/4728 huggingface/optimum-executorch/pull/245", model("phi-4-mini") + LENGTH,
     held(made.plain(96, 10000), attention_factor=1)),
    ("scaling_ignored", "vllm-project/vllm/pull/29172", model("ministral-3-3b"),
     held(PLAIN_MISTRAL)),
    ("rotary_dim_ignored", "vllm-project/vllm/pull/43770", model("pythia-12b"),
     held(made.plain(128, 10000), rotary_dim=128)),
    ("pairing_other", "kvark/meganeura/pull/38", model("llama-3.1-8b"), {"pairing": "interleaved"}),
    ("pairing_other", "ohdearquant/lattice/pull/96 jmaczan/tiny-vllm/issues/4", model("gpt-j-6b"),
     held(made.plain(64, 10000), pairing="half")),
    ("factor_of_other_kind", "antonellof/ferrox/issues/39", model("gemma-3-27b"),
     of("sliding_attention", held(made.plain(128, 10000) / 8))),
    ("other_kind_used", "ollama/ollama/pull/13452", model("gemma-3-27b"),
     of("full_attention", held(made.plain(128, 10000)))),
    ("rotation_unasked", "pytorch/executorch/issues/22043", model("smollm3-3b"),
     of("3", held(made.plain(128, 5000000)))),
    ("rotation_missing", "sqliteai/warp/pull/27", model("mistral-7b-v0.3"), {"scheme": "none"}),
    ("proportion_ignored", "jagmarques/nexusquant/pull/12", model("gemma-4-12b"),
     of("full_attention", held(made.plain(512, 1000000)))),
    ("proportion_as_prefix", "", model("gemma-4-12b"),
     of("full_attention", held(made.plain(128, 1000000), rotary_dim=128))),
    ("proportion_ceiling", "", HALF_PAIR, held(proportional(15, 100))),
    ("other_factor_list", "lablup/mlxcel/issues/1358", model("phi-4-mini") + LENGTH,
     held(made.plain(96, 10000) / np.array(LONG, np.float32), attention_factor=1.1902380714238083)),
    ("other_factor_list", "ggml-org/llama.cpp/issues/24823 trymirai/lalamo/pull/326",
     model("phi-4-mini") + ("--length", "4096"),
     held(made.plain(96, 10000) / np.array(LONG, np.float32))),
    ("length_fixed", "vllm-project/vllm/issues/41236 vllm-project/vllm/issues/5093",
     model("internlm2.5-7b") + ("--length", "1000"),
     held(made.plain(128, 1000000 * 3 ** (128 / 126), np.float64), "f64")),
    ("factor_inverted", "keras-team/keras-hub/pull/1605", model("llama-2-7b-32k"),
     held(made.plain(128, 10000) * 8)),
    ("factor_inverted", "", model("llama-3.1-8b"),
     held(made.llama3(made.plain(128, 500000, np.float64), 1 / 8, 1, 4, 8192), "f64")),
    ("factor_twice", "", model("llama-2-7b-32k"), held(made.plain(128, 10000) / 64)),
    ("factor_other", "TransformerLensOrg/TransformerLens/pull/910", model("llama-3.1-8b"),
     held(made.llama3(PLAIN_LLAMA, 32, 1, 4, 8192))),
    ("llama3_factors_default", "", model("llama-4-scout"),
     held(made.llama3(PLAIN_LLAMA, 16, 1, 4, 8192))),
    ("llama3_factors_swapped", "", model("llama-3.1-8b"),
     held(np.where(2 * math.pi / PLAIN_LLAMA > 8192, PLAIN_LLAMA / 8, PLAIN_LLAMA))),
    ("llama3_blend_on_period", "ml-explore/mlx-examples/pull/907", model("llama-3.1-8b"),
     held(period_blend())),
    ("llama3_blend_reversed", "", model("llama-3.1-8b"), held(reversed_blend())),
    ("ramp_truncated", "sgl-project/sglang/pull/14270", model("gpt-oss-120b"),
     held(made.yarn(*GPT_OSS), attention_factor=GPT_OSS_FACTOR)),
    ("ramp_not_truncated", "keras-team/keras-hub/pull/2981", model("deepseek-v2-lite"),
     held(made.yarn(*DEEPSEEK, truncate=False))),
    ("ramp_clamp_half", "keras-team/keras-hub/pull/2981", CLAMPED,
     held(made.yarn(64, 10000, 4, 131072, clamp=31))),
    ("betas_swapped", "pytorch/torchtitan/pull/3787", model("deepseek-v2-lite"),
     held(swapped_betas())),
    ("ramp_inverted", "", model("deepseek-v2-lite"), held(made.yarn(*DEEPSEEK, inverted=True))),
    ("ramp_over_turns", "", model("deepseek-v2-lite"), held(made.yarn_of_paper(*DEEPSEEK))),
    ("scale_inside_power", "apache/tvm/pull/18576", model("deepseek-v2-lite"),
     held(made.yarn(*DEEPSEEK, inside=True))),
    ("linear_for_all", "", model("llama-3.1-8b"), held(PLAIN_LLAMA / 8)),
    ("ntk_for_linear", "", model("llama-2-7b-32k"),
     held(made.plain(128, 10000 * 8 ** (128 / 126), np.float64), "f64")),
    ("ntk_naive", "turboderp/exllama/issues/126", model("hunyuan-a13b"),
     held(made.plain(128, 10000 * 1000))),
    ("ntk_exponent", "", model("hunyuan-a13b"),
     held(made.plain(128, 10000 * 1000 ** (128 / 127), np.float64), "f64")),
    ("original_length_other", "", model("gpt-oss-120b"),
     held(made.yarn(64, 150000, 32, 131072, truncate=False))),
    ("exponent_over_head", "", model("pythia-12b"), held(made.plain(128, 10000, pairs=16))),
    ("exponent_ends_at_base", "", model("mistral-7b-v0.3"),
     held(1000000.0 ** (-np.arange(64) / 63))),
    ("exponent_without_two", "BrianPulfer/PapersReimplementations/issues/9",
     model("mistral-7b-v0.3"), held(1000000.0 ** (-np.arange(64) / 128))),
    ("frequency_inverted", "", model("mistral-7b-v0.3"), held(1 / PLAIN_MISTRAL)),
    ("frequencies_reversed", "", model("mistral-7b-v0.3"), held(PLAIN_MISTRAL[::-1])),
    ("direction_reversed", "", model("mistral-7b-v0.3"), held(-PLAIN_MISTRAL)),
    ("rotary_offset_ignored", "", model("deepseek-v3"), {"rotary_offset": 0, "rotary_dim": 64}),
    ("base_other", "", model("mistral-7b-v0.3"), held(made.plain(128, 250000))),
    ("attention_factor_ignored", "", model("gpt-oss-120b"), {"attention_factor": 1}),
    ("attention_factor_ignored", "apple/coreai-models/pull/246",
     model("phi-4-mini") + ("--length", "9000"), {"attention_factor": 1}),
    ("attention_factor_times_rule", "sgl-project/sglang/pull/33558", GIVEN_FACTOR,
     {"attention_factor": 1.4852 * (0.1 * math.log(128) + 1)}),
    ("attention_factor_by_rule", "",
     ("--scheme", "yarn", "--set", "factor=40", "--set", "attention_factor=1.25"),
     {"attention_factor": 0.1 * math.log(40) + 1}),
    ("attn_factor_ignored", "deepseek-ai/DeepSeek-R1/issues/684",
     ("--scheme", "yarn", "--set", "factor=40", "--set", "attention_multiplier=0.878"),
     {"attention_factor": 0.1 * math.log(40) + 1}),
    ("mscales_ignored", "ggml-org/llama.cpp/issues/7118", model("deepseek-v2-lite"),
     {"attention_factor": 0.1 * math.log(40) + 1}),
    ("mscale_alone", "kekzl/imp/pull/880", model("deepseek-v2-lite"),
     {"attention_factor": 1.2608038}),
    ("mscale_raw", "youssofal/MTPLX/pull/394", model("deepseek-v2-lite"),
     {"attention_factor": 0.707}),
    ("attention_factor_squared", "", model("gpt-oss-120b"),
     {"attention_factor": GPT_OSS_FACTOR ** 2}),
    ("attention_factor_inverted", "", model("gpt-oss-120b"),
     {"attention_factor": 1 / GPT_OSS_FACTOR}),
    ("attention_factor_logged_twice", "", model("gpt-oss-120b"),
     {"attention_factor": 0.1 * GPT_OSS_FACTOR * math.log(32) + 1}),
    ("softmax_multiplier_ignored", "onnxruntime/mobius/pull/548", model("deepseek-v3"),
     {"softmax_multiplier": 1}),
    ("softmax_multiplier_ignored", "onnxruntime/mobius/pull/548", model("deepseek-v2-lite"),
     {"logit_scale": 192 ** -0.5}),
    ("softmax_multiplier_root", "", model("deepseek-v3"),
     {"softmax_multiplier": 0.1 * math.log(40) + 1}),
    ("softmax_multiplier_squared", "", model("deepseek-v3"),
     {"softmax_multiplier": (0.1 * math.log(40) + 1) ** 4}),
    ("logit_scale_other", "", model("deepseek-v3"),
     {"logit_scale": (0.1 * math.log(40) + 1) ** 2 / 8}),
    ("logit_scale_other", "", model("t5-base"), of("encoder", {"logit_scale": 0.125})),
    ("slopes_of_slice", "flashinfer-ai/flashinfer/issues/1606", SLICE, sloped(made.slopes(8))),
    ("slopes_first_of_next_power", "mosaicml/examples/pull/307", model("bloom-176b"),
     sloped(made.slopes(128)[:112])),
    ("slopes_power_of_two_rule", "", model("bloom-176b"),
     sloped(2 ** (-8 * h / 112) for h in range(1, 113))),
    ("max_bias_ignored", "", model("mpt-7b-storywriter"), sloped(made.slopes(32))),
    ("slopes_negated", "meta-pytorch/attention-gym/pull/86", model("bloom-176b"),
     sloped(-slope for slope in made.slopes(112))),
    ("buckets_other", "", model("t5-base"), of("decoder", {"max_distance": 64})),
    ("frequency_bf16", "okoge-kaz/llm-recipes/pull/6 EleutherAI/gpt-neox/pull/1016 huggingface/candle/pull/3005", model("mistral-7b-v0.3"),
     held(made.to_bf16(PLAIN_MISTRAL), "bf16")),
    ("frequency_bf16", "sgl-project/sglang-jax/issues/1472", model("llama-3.1-8b"),
     held(made.to_bf16(made.llama3(PLAIN_LLAMA, *LLAMA3)))),
    ("slopes_bf16", "NVIDIA/TensorRT-Model-Connect/issues/667", model("bloom-176b"),
     {"dtype": "bf16", "slopes": made.to_bf16(made.slopes(112)).tolist()}),
    ("slopes_f16", "", model("bloom-176b"),
     {"dtype": "f16", "slopes": np.array(made.slopes(112), np.float16).tolist()}),
    ("frequency_f16", "", model("pythia-12b"),
     held(made.plain(32, 10000).astype(np.float16), "f16")),
]


class Against(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.validator = jsonschema.Draft7Validator(SCHEMA)

    def run_on(self, path, *arguments):
        return subprocess.run([PROGRAM, "describe", *arguments, "--against", str(path)],
                              capture_output=True, text=True, timeout=120)

    def compare(self, arguments, document):
        """The groups of the record, and the exit status."""
        path = self.folder / "effective.json"
        document = {"version": 1, **document}
        self.validator.validate(document)
        path.write_text(json.dumps(document))
        result = self.run_on(path, *arguments, "--json")
        self.assertIn(result.returncode, (0, 1), result.stderr)
        record = json.loads(result.stdout)
        self.assertEqual(record["same"], result.returncode == 0)
        return record["groups"]

    def causes(self, groups):
        return [[cause["id"] for cause in difference["causes"]] for group in groups
                for difference in group["differences"]]

    def test_every_cause_is_named(self):
        for cause, report, arguments, document in CASES:
            with self.subTest(cause=cause, report=report, arguments=arguments):
                groups = self.compare(arguments, document)
                found = self.causes(groups)
                self.assertTrue(found)
                self.assertEqual({tuple(ids) for ids in found}, {(cause,)},
                                 [group["differences"] for group in groups])

    def test_twins_are_told(self):
        """Plain frequencies at a long length are those of a length that never arrives, and of a
        block that is never read: no number tells them apart."""
        groups = self.compare(model("internlm2.5-7b") + ("--length", "100000"),
                              held(made.plain(128, 1000000)))
        self.assertEqual(self.causes(groups), [["scaling_ignored"]])
        self.assertIn("length_ignored", groups[0]["differences"][0]["twins"])

    def test_reports_are_those_of_the_table(self):
        """A cause with a link has the report among those that its cases stand for."""
        table = dict(re.findall(r'"(\w+)"[^{}]*?"https://github.com/([^"]+)"',
                                pathlib.Path("verify/effective_cause.cc").read_text()))
        reported = {}
        for cause, reports, *_ in CASES:
            reported.setdefault(cause, set()).update(reports.split())
        for cause, report in table.items():
            self.assertIn(report, reported[cause], cause)

    def test_every_cause_is_exercised(self):
        self.assertEqual(set(IDS) - {cause for cause, *_ in CASES}, {"length_ignored"})

    # Names survive what libraries do to the last digits: frequencies two ulp off.
    def test_names_survive_two_ulp(self):
        random = np.random.default_rng(7)
        for cause, report, arguments, document in CASES:
            fields = document.get("layers", {"": document})
            if cause in ("frequency_bf16", "frequency_f16"):
                continue
            for block in fields.values():
                if block.get("dtype") != "f32" or "inv_freq" not in block:
                    continue
                values = np.array(block["inv_freq"], np.float32)
                steps = random.integers(-2, 3, values.size).astype(np.float32)
                noisy = np.where(values == 0, 0, values + steps * np.spacing(values))
                changed = {**block, "inv_freq": [float(value) for value in noisy]}
                layer = next(iter(document.get("layers", {})), None)
                with self.subTest(cause=cause, report=report):
                    groups = self.compare(arguments, of(layer, changed) if layer else changed)
                    self.assertEqual({tuple(ids) for ids in self.causes(groups)}, {(cause,)})

    def test_honest_files_have_no_difference(self):
        honest = [
            (model("mistral-7b-v0.3"), held(PLAIN_MISTRAL, pairing="half", attention_factor=1,
                                            rotary_dim=128, rotary_offset=0, scheme="rope")),
            (model("mistral-7b-v0.3"), held(made.by_exp(128, 1000000))),
            (model("mistral-7b-v0.3"), held(made.by_recurrence(128, 1000000))),
            (model("mistral-7b-v0.3"), held(made.plain(128, 1000000, np.float64), "f64")),
            (model("mistral-7b-v0.3"), held(PLAIN_MISTRAL, "f64")),
            (model("llama-3.1-8b"), held(made.llama3(PLAIN_LLAMA, *LLAMA3))),
            (model("gpt-oss-120b"), held(made.yarn(*GPT_OSS, truncate=False),
                                         attention_factor=float(np.float32(GPT_OSS_FACTOR)))),
            (model("deepseek-v2-lite"), held(made.yarn(*DEEPSEEK), attention_factor=1,
                                             softmax_multiplier=1.5896262, rotary_offset=128,
                                             pairing="interleaved")),
            (model("hunyuan-a13b"), held(made.plain(128, 10000 * 1000 ** (128 / 126)))),
            (model("phi-4-mini") + ("--length", "9000"),
             held(made.plain(96, 10000) / np.array(LONG, np.float32), attention_factor=1.1902381)),
            (model("gemma-4-12b"), {"layers": {
                "full_attention": held(proportional(64, 512, 1000000)),
                "sliding_attention": held(made.plain(256, 10000))}}),
            (model("smollm3-3b"), {**held(made.plain(128, 5000000)), **of("3", {"scheme": "none"})}),
            (model("smollm3-3b"), of("nope", {"dtype": "f32", "inv_freq": []})),
            (model("bloom-176b"), sloped(made.slopes(112))),
            (("--scheme", "alibi"), {"dtype": "bf16", "slopes": made.slopes(8)}),  # powers of two
            (model("mpt-7b-storywriter"), sloped(made.slopes(32, 16))),
            (model("t5-base"), {"num_buckets": 32, "max_distance": 128, "logit_scale": 1,
                                **of("decoder", {"bidirectional": False})}),
        ]
        for arguments, document in honest:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.causes(self.compare(arguments, document)), [])

    def test_every_model_agrees_with_its_own_frequencies(self):
        """All fields that describe prints, in both widths, of every config here."""
        count = 0
        for path in sorted(MODELS.glob("*.json")):
            length = ("--length", "5000")
            result = subprocess.run([PROGRAM, "describe", str(path), *length, "--json"],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, f"{path}: {result.stderr}")
            for group in json.loads(result.stdout)["groups"]:
                if "pairs" not in group:
                    continue
                frequencies = [pair["frequency"] for pair in group["pairs"]]
                scheme = group["scheme"]
                for dtype in ("f64", "f32"):
                    document = held(frequencies, dtype, attention_factor=group["magnitude"]["value"],
                                    softmax_multiplier=group["softmax_multiplier"]["value"],
                                    pairing=scheme["pairing"], rotary_dim=scheme["rotary_dim"],
                                    rotary_offset=scheme["rotary_offset"], scheme=scheme["scheme"])
                    with self.subTest(model=path.name, kind=group["kind"], dtype=dtype):
                        groups = self.compare((str(path), *length), of(group["kind"], document))
                        self.assertEqual(self.causes(groups), [])
                        count += 1
        self.assertGreater(count, 60)

    def test_random_parameters(self):
        """Honest frequencies of any Llama 3 or YaRN block have no difference; without the block, and
        with another base, they have that name."""
        random = np.random.default_rng(11)
        for draw in range(12):
            width = int(random.choice([32, 64, 128, 256]))
            base = float(random.integers(20000, 3000000))
            factor, length = float(random.integers(2, 64)), int(2 ** random.integers(10, 14))
            settings = {"head_dim": width, "rotary_dim": width, "base": base, "factor": factor,
                        "original_length": length}
            if draw % 2 == 0:
                name, own = "llama3", lambda b: made.llama3(
                    made.plain(width, b), factor, 1, 4, length)
            else:
                name, own = "yarn", lambda b: made.yarn(width, b, factor, length)
            words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
            arguments = ("--scheme", name, *words)
            with self.subTest(arguments=arguments):
                self.assertEqual(self.causes(self.compare(arguments, held(own(base)))), [])
                self.assertEqual(self.causes(self.compare(arguments, held(own(10000)))),
                                 [["base_ignored"]])
                groups = self.compare(arguments, held(made.plain(width, base)))
                self.assertEqual(self.causes(groups), [["scaling_ignored"]])

    def test_what_is_not_known_has_no_name(self):
        odd = made.llama3(PLAIN_LLAMA, *LLAMA3)
        odd[40] *= np.float32(1.01)
        for values in (odd, np.linspace(1, 0.01, 64), PLAIN_LLAMA[:32]):
            groups = self.compare(model("llama-3.1-8b"), held(values))
            self.assertEqual(self.causes(groups), [[]])
        first = self.compare(model("llama-3.1-8b"), held(odd))[0]["differences"][0]["first"]
        self.assertEqual(first["index"], 40)
        self.assertEqual(f"{first['ratio']:.4f}", "1.0100")
        groups = self.compare(model("gpt-oss-120b"), {"attention_factor": 1.2})
        self.assertEqual(self.causes(groups), [[]])

    def test_two_causes_together(self):
        llama = model("llama-3.1-8b")
        groups = self.compare(llama, held(made.plain(128, 10000)))
        self.assertEqual(self.causes(groups), [["base_ignored", "scaling_ignored"]])
        groups = self.compare(llama, held(made.to_bf16(PLAIN_LLAMA), pairing="interleaved"))
        self.assertEqual(self.causes(groups), [["scaling_ignored", "frequency_bf16"],
                                               ["pairing_other"]])

    def test_layers_that_differ_are_told_apart(self):
        document = {**held(PLAIN_MISTRAL), **of("7", held(made.plain(128, 10000)))}
        groups = self.compare(model("mistral-7b-v0.3"), document)
        self.assertEqual([(group["layers"], len(group["differences"])) for group in groups],
                         [([layer for layer in range(32) if layer != 7], 0), ([7], 1)])

    def test_own_logit_scale_of_a_config_is_left_out(self):
        config = json.loads((MODELS / "mistral-7b-v0.3.json").read_text())
        path = self.folder / "config.json"
        path.write_text(json.dumps({**config, "query_pre_attn_scalar": 256}))
        groups = self.compare((str(path),), {"logit_scale": 1 / 16, "pairing": "half"})
        self.assertEqual((groups[0]["compared"], self.causes(groups)), (["pairing"], []))

    def test_safetensors(self):
        def write(tensors, metadata):
            header, data = {"__metadata__": metadata}, b""
            for name, values in tensors.items():
                block = np.asarray(values, np.float32).tobytes()
                header[name] = {"dtype": "F32", "shape": [len(values)],
                                "data_offsets": [len(data), len(data) + len(block)]}
                data += block
            text = json.dumps(header).encode()
            text += b" " * (-len(text) % 8)
            path = self.folder / "effective.safetensors"
            path.write_bytes(struct.pack("<Q", len(text)) + text + data)
            return path

        gemma = model("gemma-3-27b")
        tensors = {"inv_freq": made.plain(128, 10000),
                   "layers.full_attention.inv_freq": PLAIN_MISTRAL / 8}
        path = write(tensors, {"pairing": "half", "attention_factor": "1.0", "rotary_dim": "128",
                               "layers.5.rotary_offset": "0", "source": "a test", "format": "pt"})
        result = self.run_on(path, *gemma)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        path = write({**tensors, "layers.5.inv_freq": PLAIN_MISTRAL}, {"layers.0.pairing": "interleaved"})
        result = self.run_on(path, *gemma, "--json")
        found = {(tuple(group["layers"]), *self.causes([group])[0])
                 for group in json.loads(result.stdout)["groups"] if group["differences"]}
        self.assertEqual(found, {((5,), "factor_ignored"), ((0,), "pairing_other")})
        for tensors, metadata, message in (
                ({"freqs": [1]}, {}, "tensor \"freqs\" is not understood"),
                ({"layers..inv_freq": [1]}, {}, "must be layers.LAYER.FIELD"),
                ({"inv_freq": [math.inf]}, {}, "must be finite"),
                ({}, {"pairing": "quarter"}, "pairing must be one of half"),
                ({}, {"base": "1"}, "metadata \"base\" is not understood")):
            result = self.run_on(write(tensors, metadata), *gemma)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(message, result.stderr)

    def test_bad_files_are_refused(self):
        path = self.folder / "bad.json"
        for text, message in (
                ("{", "bad.json:1:"),
                ("[]", "the file must be an object"),
                ('{"inv_freq": [1], "dtype": "f32"}', "version must be 1, got none"),
                ('{"version": 2, "pairing": "half"}', "version must be 1, got 2"),
                ('{"version": 1}', "nothing is said of any layer"),
                ('{"version": 1, "inv_freq": [1]}', "dtype is missing"),
                ('{"version": 1, "inv_freq": [1], "dtype": "f8e4m3"}', "dtype must be f64, f32"),
                ('{"version": 1, "inv_freq": ["1"], "dtype": "f32"}', "inv_freq[0] must be"),
                ('{"version": 1, "base": 10000}', "base is not understood"),
                ('{"version": 1, "scheme": "default"}', "scheme must be a scheme"),
                ('{"version": 1, "layers": []}', "layers must be an object"),
                ('{"version": 1, "layers": {"0": {"source": ""}}}', "layers.0.source is not"),
                ('{"version": 1, "layers": {"32": {"pairing": "half"}}}', "has no such layer"),
                ('{"version": 1, "layers": {"vision": {"pairing": "half"}}}', "has no such layer")):
            path.write_text(text)
            result = self.run_on(path, *model("mistral-7b-v0.3"))
            with self.subTest(text=text):
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertEqual(result.stderr.count("\n"), 1)
                self.assertIn(message, result.stderr)
                self.assertIn("bad.json", result.stderr)
        result = self.run_on(self.folder / "none.json", *model("mistral-7b-v0.3"))
        self.assertEqual(result.returncode, 2)

    def test_schema_refuses_what_the_reader_refuses(self):
        for document in ({"pairing": "half"}, {"version": 1, "inv_freq": [1]},
                         {"version": 1, "base": 1}, {"version": 1, "layers": {"0": {"source": ""}}},
                         {"version": 1, "dtype": "f8e4m3"}):
            self.assertFalse(self.validator.is_valid(document), document)


if __name__ == "__main__":
    unittest.main()
