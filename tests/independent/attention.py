"""Attention without positional encoding, which every scheme that acts in it extends.

Vaswani et al., arXiv:1706.03762, eq. 1.
"""
import collections
import math
from fractions import Fraction

from mpmath import iv
from mpmath.libmp import from_man_exp

from independent.ball import (ONE, ZERO, add, ball_of_float, ball_of_fraction, ball_of_interval,
                              cos_sin, dyadic, multiply)
from independent import reals
from independent.powers import Power


def interval_of(ball):
    middle, radius, exponent = ball
    return iv.make_mpf((from_man_exp(middle - radius, exponent),
                        from_man_exp(middle + radius, exponent)))


def exp(ball):
    if ball == ZERO or ball[:2] == (0, 0):
        return ONE
    middle, radius, exponent = ball
    if dyadic(middle + radius, exponent) < -20000:
        return 1, 1, -28853  # in 0..2^-28852, and e^-20000 < 2^-28853
    return ball_of_interval(reals.exp(interval_of(ball)))


def divide(a, b, bits):
    if not a[1] and not b[1]:
        return ball_of_fraction(fraction(a) / fraction(b), bits)
    return ball_of_interval(interval_of(a) / interval_of(b))


def fraction(ball):
    return dyadic(ball[0], ball[2])


def total(balls):
    result = ZERO
    for ball in balls:
        result = add(result, ball)
    return result


def dot(a, b):
    """Of balls."""
    return total(multiply(x, y) for x, y in zip(a, b))


def from_fraction_or_interval(x, bits):
    return ball_of_fraction(x, bits) if isinstance(x, Fraction) else ball_of_interval(x)


class Plain:
    """softmax(q k / sqrt(d)), nothing added. The parent of the others: positions and tensors of a
    call as balls, positions as Fractions."""

    def __init__(self, scheme, bits, given):
        self.scheme, self.bits = scheme, bits
        self.given = {name: [ball_of_float(x) for x in values] for name, values in given.items()}
        self.queries = [Fraction(x) for x in given.get("query_positions", [])]
        self.keys = [Fraction(x) for x in given.get("key_positions", [])]
        self.kept = {}
        root = math.isqrt(scheme["head_dim"])
        if scheme["scale"] == "one":
            self.scale = ONE
        elif root ** 2 == scheme["head_dim"]:
            self.scale = None
            self.root = root
        else:
            self.scale = ball_of_interval(1 / iv.sqrt(iv.mpf(scheme["head_dim"])))

    def scaled(self, x):
        if self.scale is None:
            return divide(x, (self.root, 0, 0), self.bits)
        return multiply(self.scale, x)

    def heads(self):
        return range(self.scheme["heads"])

    def row(self, name, row, head):
        """[head_dim] of q, k or v."""
        d = self.scheme["head_dim"]
        at = (row * self.scheme["heads"] + head) * d
        return self.given[name][at:at + d]

    def dot(self, head, i, j):
        return dot(self.row("q", i, head), self.row("k", j, head))

    def sees(self, i, j):
        return not self.scheme["causal"] or self.keys[j] <= self.queries[i]

    def bias(self, head, i, j):  # pylint: disable=unused-argument
        return ZERO

    def score(self, head, i, j):
        return add(self.scaled(self.dot(head, i, j)), self.bias(head, i, j))

    def value(self, head, i, j):  # pylint: disable=unused-argument
        return self.row("v", j, head)

    def output(self, head, i):
        seen = [j for j in range(len(self.keys)) if self.sees(i, j)]
        scores = [self.score(head, i, j) for j in seen]
        values = [self.value(head, i, j) for j in seen]
        highest = max(Fraction(round(fraction(score))) for score in scores)
        shift = int(-highest), 0, 0
        weights = [exp(add(score, shift)) for score in scores]
        sum_of_weights = total(weights)
        result = []
        for channel in zip(*values):
            mean = self.rational_mean(scores, channel)
            result.append(ball_of_fraction(mean, self.bits) if mean is not None else
                          divide(dot(weights, channel), sum_of_weights, self.bits))
        return result

    @staticmethod
    def rational_mean(scores, values):
        """The output where it is rational. Exponentials of different algebraic numbers are linearly
        independent (Lindemann, Weierstrass), so the keys of equal score must have one mean, the
        same for every score. One key alone may have any score."""
        if any(value[1] for value in values):
            return None
        if len({fraction(value) for value in values}) == 1:
            return fraction(values[0])
        if any(score[1] for score in scores):
            return None
        groups = collections.defaultdict(list)
        for score, value in zip(scores, values):
            groups[fraction(score)].append(fraction(value))
        means = {sum(group) / len(group) for group in groups.values()}
        return means.pop() if len(means) == 1 else None


class Waves(Plain):
    """Sinusoids of positions."""

    def waves(self, first, width):
        key = "waves", first
        if key not in self.kept:
            power, self.kept[key] = Power([Fraction(self.scheme["base"])]), []
            for k in range(first, first + width // 2):
                exponents = [Fraction(-2 * k, width)]
                exact = power.rational(exponents)
                self.kept[key].append(from_fraction_or_interval(
                    power.interval(exponents) if exact is None else exact, self.bits))
        return self.kept[key]

    def turns(self, position, first, width):
        """(cos, sin) of every wave."""
        key = "turns", position
        if key not in self.kept:
            at = ball_of_fraction(position, self.bits)
            self.kept[key] = [cos_sin(multiply(at, wave), self.bits)
                              for wave in self.waves(first, width)]
        return self.kept[key]
