"""The rotary module of rotary.py against the golden vectors of rope, linear, llama3 and yarn.

    python3 -m unittest        or        pytest          in this folder

A test is one case in one pipeline: f64 throughout; f32 throughout; bf16, whose angles, cos and sin
are in float32 and which then works in bfloat16, as models do. It fails where a value is farther from
the real number than that arithmetic can lead (bounds.py); a value whose bound is wider than a tenth
of its size cannot fail and is counted as blind, never as passed.

Keeping to float32 is not the same as being right. The report at the end names the cases in which the
f32 and bf16 pipelines are more than 2 units of their dtype from the real number, and from which
position on. That is what this arithmetic costs; no test fails for it.
"""

import collections
import unittest

import torch

import bounds
import golden
import rotary

PIPELINES = {"f64": (torch.float64, torch.float64), "f32": (torch.float32, torch.float32),
             "bf16": (torch.float32, torch.bfloat16)}
UNITS = 2
TALLY = collections.Counter()
BEYOND = {}  # {case: {pipeline: (pairs beyond, pairs, first position)}}


def not_of_this_module(case):
    """Why the module has no answer, if so."""
    scheme = case.scheme
    if case.quantity in ("scores", "magnitude"):
        return f"not computed here: {case.quantity}"
    if scheme["direction"] != "counterclockwise":
        return "transformers turns counterclockwise alone"
    if scheme["scheme"] == "yarn" and (
            scheme["ramp"] != "pairs" or scheme["inverted_ramp"] == "ggml"
            or scheme["magnitude"] != "huggingface" or scheme["length"] is not None
            or scheme["extrapolation_factor"] != 1 or scheme["attention_multiplier"] != 1):
        return "a variant that transformers' YaRN does not have"
    return None


def answers(case, compute, dtype):
    """{output: (result, bound, size)}."""
    config = case.scheme
    if case.quantity == "frequencies":
        exact = rotary.INV_FREQ[config["scheme"]](config, torch.float64)
        module = rotary.RotaryEmbedding(config, compute)
        return {"frequencies": (module.inv_freq, bounds.PAYS * bounds.inv_freq(config, compute) * exact,
                                exact)}
    positions = case.inputs["positions"]
    cos, sin = rotary.RotaryEmbedding(config, compute)(positions, dtype)
    if case.quantity == "table":
        off = bounds.table(config, positions, compute, dtype)
        size = torch.full_like(off, rotary.attention_scaling(config))
        return {"cos": (cos, off, size), "sin": (sin, off, size)}

    x = case.inputs["x"]
    turning = slice(config["rotary_offset"], config["rotary_offset"] + config["rotary_dim"])
    given = x.to(dtype)
    result = given.clone()
    if case.quantity == "rotate":
        result[..., turning] = rotary.apply_rotary_pos_emb(given[..., turning], cos, sin,
                                                           config["pairing"])
    else:  # x is the gradient of the output; autograd transposes
        source = torch.zeros_like(given[..., turning], requires_grad=True)
        turned = rotary.apply_rotary_pos_emb(source, cos, sin, config["pairing"])
        result[..., turning], = torch.autograd.grad(turned, source, given[..., turning])
    size = x.abs()
    off = size * bounds.unit(dtype) + torch.finfo(dtype).tiny * (size > 0)
    size[..., turning] = bounds.pair_sizes(config, x[..., turning])
    off[..., turning] = bounds.rotate(config, positions, x[..., turning], compute, dtype)
    return {"out": (result, off, size)}


def compare(case, name, result, off, size):
    stored = case.outputs[name + ".f64"]
    difference, own = golden.error(result, case, name)
    blind = ~(off <= bounds.BLIND * size) & stored.isfinite() & (off > 0)
    # An infinity or a NaN of the input spoils its pair: any number that is not finite will do.
    same = torch.where(stored.isnan(), ~result.isfinite(), result.double() == stored)
    wrong = torch.where(stored.isfinite(), ~(difference.abs() <= off + own), ~same) & ~blind
    return wrong, blind, difference


def note_beyond(case, pipeline, dtype, results):
    """Which pairs are more than UNITS units of dtype off: units of the size of the pair."""
    config = case.scheme
    difference = {name: golden.error(result, case, name)[0] for name, (result, _, _) in results.items()}
    size = next(iter(results.values()))[2]
    if case.quantity == "table":
        error = torch.hypot(difference["cos"], difference["sin"])
    else:
        turning = slice(config["rotary_offset"], config["rotary_offset"] + config["rotary_dim"])
        error = bounds.pair_sizes(config, difference["out"][..., turning])
        error = error / rotary.attention_scaling(config)
        size = size[..., turning]
    exponent = torch.frexp(size).exponent.double() - 1
    spacing = torch.pow(torch.tensor(2.0).double(), exponent) * torch.finfo(dtype).eps
    known = size.isfinite() & (size >= torch.finfo(dtype).tiny) & (size <= torch.finfo(dtype).max)
    beyond = (error > UNITS * spacing) & known
    count = beyond.flatten(1).any(1).nonzero().flatten()
    if len(count):
        first = case.inputs["positions"][count].abs().min().item()
        fold = 1 if case.quantity == "table" else 2  # both channels of a pair say the same
        BEYOND.setdefault(case.name, {})[pipeline] = (int(beyond.sum()) // fold,
                                                      beyond.numel() // fold, first)


class Golden(unittest.TestCase):
    def check(self, case, pipeline):
        compute, dtype = PIPELINES[pipeline]
        results = answers(case, compute, dtype)
        compared = 0
        for name, (result, off, size) in results.items():
            self.assertEqual(result.shape, case.outputs[name + ".f64"].shape)
            wrong, blind, difference = compare(case, name, result, off, size)
            compared += int((~blind).sum())
            TALLY.update({pipeline: wrong.numel(), pipeline + " blind": int(blind.sum())})
            if wrong.any():
                at = tuple(wrong.nonzero()[0].tolist())
                place = (f"position {case.inputs['positions'][at[0]].item():.17g}"
                         if "positions" in case.inputs else "no position")
                self.fail(f"{case.name}: {name} {pipeline}: {int(wrong.sum())} of {wrong.numel()} wrong, "
                          f"first at index {at}, {place}: got {result[at].item().hex()}, the real "
                          f"number is near {case.outputs[name + '.f64'][at].item().hex()}: off by "
                          f"{difference[at]:.3g}, at most {off[at]:.3g} is this arithmetic's")
        if pipeline != "f64" and "positions" in case.inputs:
            note_beyond(case, pipeline, dtype, results)
        if compared == 0:
            self.skipTest("blind: this arithmetic's bound is wider than a tenth of every value")

    def check_refused(self, case):
        """Wrong on purpose: whoever finds no difference here would find none in a wrong kernel."""
        results = answers(case, torch.float64, torch.float64)
        self.assertTrue(any(compare(case, name, *answer)[0].any() for name, answer in results.items()),
                        f"{case.name}: agrees with an answer that is wrong on purpose")


def add_tests():
    for case in golden.cases("rope", "linear", "llama3", "yarn"):
        for pipeline in PIPELINES:
            if pipeline not in case.dtypes or (case.quantity == "frequencies" and pipeline == "bf16"):
                continue
            if case.result == "acceptable" or (case.result == "invalid" and pipeline != "f64"):
                continue  # of a named dialect; a fault that fewer digits may hide

            def test(self, case=case, pipeline=pipeline):
                reason = not_of_this_module(case)
                if reason:
                    self.skipTest(reason)
                if case.result == "invalid":
                    self.check_refused(case)
                else:
                    self.check(case, pipeline)

            word = "_".join(case.name.replace("-", "_").split("/"))
            setattr(Golden, f"test_{word}_{pipeline}", test)


add_tests()


def tearDownModule():
    def cell(found):
        if found is None:
            return ""
        return f"{found[0]} of {found[1]} pairs, from position {found[2]:g}" if found[2] % 1 else (
            f"{found[0]} of {found[1]} pairs, from position {int(found[2])}")

    print(f"\n\nMore than {UNITS} units of the dtype from the real number (a report, not failures):")
    print(f"{'case':42}{'f32':42}bf16")
    for case, found in sorted(BEYOND.items()):
        print(f"{case:42}{cell(found.get('f32')):42}{cell(found.get('bf16'))}".rstrip())
    print(", ".join(f"{name}: {TALLY[name]} values, {TALLY[name + ' blind']} of them blind"
                    for name in PIPELINES))


if __name__ == "__main__":
    unittest.main()
