"""Rope, linear, llama3, yarn, alibi, t5 and sinusoidal in numpy against the golden vectors.

    python3 -m unittest        or        pytest          in this folder

A test is one case in one dtype. It fails where a value is farther from the real number than the
arithmetic of schemes.py can lead (bounds.py); a value whose bound is wider than a tenth of its size
cannot fail and is counted as blind, never as passed.
"""

import collections
import unittest

import numpy as np

import bounds
import golden
import schemes

ROTARY = ("rope", "linear", "llama3", "yarn")
TALLY = collections.Counter()


def tearDownModule():
    print(f"\n{TALLY['values']} values, {TALLY['blind']} of them blind")


def rotary(case, T):
    scheme, inputs = case.scheme, case.inputs
    if case.quantity == "frequencies":
        exact = schemes.scaled_frequencies(scheme, np.float64)
        off = bounds.PAYS * bounds.frequencies(scheme, T) * exact
        return {"frequencies": (schemes.frequencies(scheme, T), off, exact)}
    if case.quantity == "magnitude":
        results = [np.array([T(value)]) for value in schemes.magnitude(scheme)]
        off = bounds.PAYS * (bounds.magnitude() + bounds.unit(T))
        return {name: (result, off * result.astype(float), result.astype(float))
                for name, result in zip(("magnitude", "softmax_multiplier"), results)}
    positions = inputs.get("positions")
    if case.quantity == "table":
        off = bounds.table(scheme, positions, T)
        size = np.full_like(off, schemes.magnitude(scheme)[0])
        return {name: (result, off, size)
                for name, result in zip(("cos", "sin"), schemes.table(scheme, positions, T))}
    if case.quantity in ("rotate", "rotate_backward"):
        backward = case.quantity == "rotate_backward"
        return {"out": (schemes.rotate(scheme, positions, inputs["x"], T, backward),
                        *bounds.rotate(scheme, positions, inputs["x"], T))}


def sinusoidal(case, T):
    scheme, inputs = case.scheme, case.inputs
    if case.quantity == "frequencies":
        exact = schemes.sinusoidal_frequencies(scheme, np.float64)
        off = bounds.PAYS * bounds.sinusoidal_frequencies(scheme, T) * exact
        return {"frequencies": (schemes.sinusoidal_frequencies(scheme, T), off, exact)}
    rows = schemes.rows(scheme, inputs["positions"], T)
    off = bounds.rows(scheme, inputs["positions"], T)
    if case.quantity == "table":
        return {"rows": (rows, off, np.ones_like(off))}
    x = inputs["x"]  # rounded to T on its way in, and the sum rounded
    off = off + bounds.PAYS * bounds.unit(T) * (2 * abs(x) + 1)
    return {"out": (x.astype(T) + rows, off, 1 + abs(x))}


def alibi(case, T):
    if case.quantity == "slopes":
        exact = schemes.slopes(case.scheme, np.float64)
        return {"slopes": (schemes.slopes(case.scheme, T), bounds.slopes(case.scheme, T) * exact, exact)}
    if case.quantity == "bias" and not case.scheme["before_scale"]:
        positions = case.inputs["query_positions"], case.inputs["key_positions"]
        off = bounds.alibi(case.scheme, *positions, T)
        return {"bias": (schemes.alibi(case.scheme, *positions, T), off, np.full_like(off, np.inf))}


def t5(case, T):
    if case.quantity not in ("buckets", "bias"):
        return None
    positions = case.inputs["query_positions"], case.inputs["key_positions"]
    buckets = schemes.t5_buckets(case.scheme, *positions, T)
    if case.quantity == "buckets":
        return {"buckets": (buckets, bounds.t5_buckets(case.scheme, *positions, T),
                            np.ones(buckets.shape))}
    bias = np.moveaxis(case.inputs["table"].astype(T)[buckets], -1, 0)
    off = bounds.unit(T) * abs(bias.astype(float))  # one conversion
    return {"bias": (bias, off, np.full_like(off, np.inf))}


class Golden(unittest.TestCase):
    maxDiff = None

    def compare(self, case, name, result, off, size):
        if name == "buckets":
            stored, distance = case.outputs["buckets.i32"].astype(float), 0
        else:
            stored, distance = (case.outputs[f"{name}.f64{part}"] for part in ("", ".distance"))
        self.assertEqual(result.shape, stored.shape)
        difference, own = golden.error(result, stored, distance)
        with np.errstate(invalid="ignore"):
            blind = ~(off <= bounds.BLIND * size) & np.isfinite(stored) & (off > 0)
            # An infinity or a NaN of the input spoils its pair: any number that is not finite will do.
            same = np.where(np.isnan(stored), ~np.isfinite(result), result == stored)
            wrong = np.where(np.isfinite(stored), ~(abs(difference) <= off + own), ~same) & ~blind
        return wrong, blind, stored, difference, off

    def check(self, case, T):
        answers = self.answers(case, T)
        compared = 0
        for name, (result, off, size) in answers.items():
            wrong, blind, stored, difference, off = self.compare(case, name, result, off, size)
            compared += np.count_nonzero(~blind)
            TALLY.update(values=wrong.size, blind=np.count_nonzero(blind))
            if case.result == "invalid":
                continue
            if wrong.any():
                at = tuple(int(i) for i in np.argwhere(wrong)[0])
                self.fail(f"{case.name}: {name} {np.dtype(T)}: {np.count_nonzero(wrong)} of {wrong.size} "
                          f"wrong, first at index {at}, {self.place(case, name, at)}: got "
                          f"{float(result[at]).hex()}, the real number is near "
                          f"{float(stored[at]).hex()}: off by {difference[at]:.3g}, at most "
                          f"{off[at]:.3g} is this arithmetic's")
        if compared == 0:
            self.skipTest("blind: this arithmetic's bound is wider than a tenth of every value")

    def check_refused(self, case, T):
        """Wrong on purpose: whoever finds no difference here would find none in a wrong kernel."""
        answers = self.answers(case, T).items()
        self.assertTrue(any(self.compare(case, name, *answer)[0].any() for name, answer in answers),
                        f"{case.name}: agrees with an answer that is wrong on purpose")

    def answers(self, case, T):
        kind = {"alibi": alibi, "t5": t5, "sinusoidal": sinusoidal}.get(case.scheme["scheme"], rotary)
        with np.errstate(invalid="ignore"):  # infinities and NaNs among the inputs
            return kind(case, T)

    @staticmethod
    def place(case, name, at):
        inputs = case.inputs
        if "positions" in inputs:
            return f"position {inputs['positions'][at[0]]:.17g}"
        if "query_positions" in inputs:
            query, key = at[-2:]
            return (f"query position {inputs['query_positions'][query]:.17g}, key position "
                    f"{inputs['key_positions'][key]:.17g}")
        return "no position"


def add_tests():
    for case in golden.cases(*ROTARY, "alibi", "sinusoidal", "t5"):
        for dtype, T in (("f64", np.float64), ("f32", np.float32)):
            if dtype not in case.dtypes and case.quantity != "buckets":
                continue
            if case.result == "acceptable" or (case.result == "invalid" and T is np.float32):
                continue  # of a named dialect; a fault that float32 may hide

            def test(self, case=case, T=T):
                if self.answers(case, T) is None:
                    self.skipTest(f"not computed here: {case.quantity} of {case.scheme['scheme']}")
                (self.check_refused if case.result == "invalid" else self.check)(case, T)

            word = "_".join(case.name.replace("-", "_").split("/"))
            setattr(Golden, f"test_{word}_{dtype}", test)


add_tests()

if __name__ == "__main__":
    unittest.main()
