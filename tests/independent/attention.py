"""Schemes that act in attention, from the papers and the code that follows them.

s_ij = scale <q_i, k_j> + bias(i, j), then softmax over the keys that are seen, then the average of
their values (Vaswani et al., arXiv:1706.03762, eq. 1). A scheme gives its bias.
"""
import math
from fractions import Fraction

from mpmath import iv
from mpmath.libmp import from_man_exp

from independent.ball import (ZERO, add, ball_of_float, ball_of_fraction, ball_of_interval,
                              multiply)
from independent.reals import interval

QUANTITIES = ["slopes", "buckets", "bias", "scores", "attention"]


class Alibi:
    """Press, Smith, Lewis, arXiv:2108.12409, sec. 3, with slopes by the recursion of the authors'
    code: those of the largest power of two, then every second one of twice that power."""

    yields = ("slopes", "bias", "scores", "attention")

    def __init__(self, scheme):
        self.scheme = scheme
        total = scheme["total_heads"] or scheme["heads"]
        exponents = self.exponents(total)
        self.own = exponents[scheme["first_head"]:scheme["first_head"] + scheme["heads"]]

    def exponents(self, heads):
        """-log2 of the slopes of a model with so many heads."""
        power = 1 << (heads.bit_length() - 1)
        step = Fraction(self.scheme["max_bias"]) / power
        first = [step * (h + 1) for h in range(power)]
        if power == heads:
            return first
        return first + self.exponents(2 * power)[0::2][:heads - power]

    def slope(self, head, bits):
        exponent = self.own[head]
        if exponent.denominator == 1:
            return 1, 0, -int(exponent)
        return ball_of_interval(iv.exp(-interval(exponent) * iv.log(iv.mpf(2))))

    def bias(self, head, query, key, given, bits):
        i, j, last = Fraction(query), Fraction(key), Fraction(given["key_positions"][-1])
        along = {"relative": j - i, "symmetric": -abs(i - j), "key": j,
                 "key_from_last": j - last}[self.scheme["form"]]
        return multiply(self.slope(head, bits), ball_of_fraction(along, bits))


ATTENTION = {"alibi": Alibi}


class InAttention:
    """The quantities of one scheme. Inputs are flat lists, in C order."""

    def __init__(self, scheme):
        self.scheme = scheme
        self.equations = ATTENTION[scheme["scheme"]](scheme)

    def slopes(self, bits):
        return [[self.equations.slope(head, bits) for head in range(self.scheme["heads"])]]

    def bias(self, bits, **given):
        return [[self.equations.bias(head, i, j, given, bits)
                 for head in range(self.scheme["heads"])
                 for i in given["query_positions"] for j in given["key_positions"]]]

    def scores(self, bits, **given):
        return [[score if self.sees(given, i, j) else -math.inf
                 for head in range(self.scheme["heads"])
                 for i in range(len(given["query_positions"]))
                 for j, score in enumerate(self.row(head, i, given, bits))]]

    def attention(self, bits, **given):
        heads, width = self.scheme["heads"], self.scheme["head_dim"]
        result = []
        for i in range(len(given["query_positions"])):
            for head in range(heads):
                row = self.row(head, i, given, bits)
                seen = [j for j in range(len(row)) if self.sees(given, i, j)]
                highest = max(row[j][0] * Fraction(2) ** row[j][2] for j in seen)
                weights = {j: iv.exp(interval_of(row[j]) - interval(highest)) for j in seen}
                total = sum(weights.values())
                for c in range(width):
                    values = {j: given["v"][(j * heads + head) * width + c] for j in seen}
                    out = sum(weights[j] * interval(Fraction(values[j])) for j in seen) / total
                    result.append(ball_of_interval(out))
        return [result]

    def sees(self, given, i, j):
        return not self.scheme["causal"] or given["key_positions"][j] <= given["query_positions"][i]

    def row(self, head, i, given, bits):
        """Scores of one query with every key."""
        heads, width = self.scheme["heads"], self.scheme["head_dim"]
        scale = self.scale(bits)
        row = []
        for j, key in enumerate(given["key_positions"]):
            dot = ZERO
            for c in range(width):
                dot = add(dot, multiply(ball_of_float(given["q"][(i * heads + head) * width + c]),
                                        ball_of_float(given["k"][(j * heads + head) * width + c])))
            score = multiply(scale, dot)
            if hasattr(self.equations, "bias"):
                score = add(score, self.equations.bias(head, given["query_positions"][i], key,
                                                       given, bits))
            row.append(score)
        return row

    def scale(self, bits):
        width = self.scheme["head_dim"]
        if self.scheme["scale"] == "one":
            return 1, 0, 0
        root = math.isqrt(width)
        if root * root == width:
            return ball_of_fraction(Fraction(1, root), bits)
        return ball_of_interval(1 / iv.sqrt(iv.mpf(width)))


def interval_of(ball):
    middle, radius, exponent = ball
    return iv.make_mpf((from_man_exp(middle - radius, exponent),
                        from_man_exp(middle + radius, exponent)))
