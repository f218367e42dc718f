"""Disentangled attention and attention within a window of tokens.

He et al., arXiv:2006.03654, eq. 4, and make_log_bucket_position of microsoft/DeBERTa's
deberta/da_utils.py (deberta); Liu et al., arXiv:2103.14030, eq. 4, and
relative_position_index of models/swin_transformer.py (swin); Liu et al., arXiv:2111.09883, eqs. 2-4
(swin2).
"""
import math
from fractions import Fraction

from mpmath import iv

from independent.attention import Plain, divide, dot, exp, fraction, total
from independent.ball import (ONE, ZERO, add, ball_of_fraction, ball_of_interval, dyadic, multiply,
                              negate, signed)
from independent.powers import integer_root
from independent.reals import NotDecided, interval, less


class Deberta(Plain):
    def span(self):
        return self.scheme["position_buckets"] or self.scheme["max_position"]

    def steps(self, distance):
        """ceil((mid - 1) ln(distance/mid) / ln((max_position - 1)/mid)); a whole number of steps is
        told by rational powers."""
        mid = self.scheme["position_buckets"] // 2
        ratio, last = Fraction(distance, mid), Fraction(self.scheme["max_position"] - 1, mid)
        place = iv.log(interval(ratio)) / iv.log(interval(last)) * (mid - 1)
        low, high = (math.ceil(dyadic(*signed(end))) for end in place._mpi_)
        if high - low == 1 and ratio ** (mid - 1) == last ** low:
            return low
        if low != high:
            raise NotDecided
        return low

    def index(self, relative):
        key = "index", relative
        if key not in self.kept:
            s, span, sign = self.scheme, self.span(), -1 if relative < 0 else 1
            distance = abs(relative)
            if s["position_buckets"]:
                if s["far"] == "clamp":
                    distance = min(distance, s["max_position"] - 1)
                mid = s["position_buckets"] // 2
                if distance > mid:
                    distance = mid + self.steps(distance)
            self.kept[key] = min(max(span + sign * distance, 0), 2 * span - 1)
        return self.kept[key]

    def relative(self, i, j):
        return int(self.queries[i] - self.keys[j])

    def buckets(self):
        return [(self.index(self.relative(i, j)), 0, 0)
                for i in range(len(self.queries)) for j in range(len(self.keys))]

    def entry(self, table, head, row):
        d = self.scheme["head_dim"]
        at = (head * 2 * self.span() + row) * d
        return self.given[table][at:at + d]

    def score(self, head, i, j):
        s, relative = self.scheme, self.relative(i, j)
        q, k = self.row("q", i, head), self.row("k", j, head)
        terms = [dot(q, k)]
        if s["c2p"]:
            terms.append(dot(q, self.entry("position_keys", head, self.index(relative))))
        if s["p2c"]:
            back = -relative if s["p2c_index"] == "reversed" else relative
            terms.append(dot(k, self.entry("position_queries", head, self.index(back))))
        square = len(terms) * s["head_dim"]
        if s["scale"] == "one":
            return total(terms)
        root = math.isqrt(square)
        if root ** 2 == square:
            return divide(total(terms), (root, 0, 0), self.bits)
        return multiply(total(terms), ball_of_interval(1 / iv.sqrt(iv.mpf(square))))


class Window(Plain):
    def apart(self, i, j):
        """Rows and columns from key to query."""
        width = self.scheme["window_w"]
        query, key = (divmod(int(at), width) for at in (self.queries[i], self.keys[j]))
        return query[0] - key[0], query[1] - key[1]


class Swin(Window):
    def index(self, i, j):
        """As the code does it: coordinates shifted to start from 0, the first one times a row's."""
        height, width = self.scheme["window_h"], self.scheme["window_w"]
        rows, columns = self.apart(i, j)
        rows, columns = rows + height - 1, columns + width - 1
        return rows * (2 * width - 1) + columns

    def buckets(self):
        return [(self.index(i, j), 0, 0)
                for i in range(len(self.queries)) for j in range(len(self.keys))]

    def bias(self, head, i, j):
        return self.given["table"][self.index(i, j) * self.scheme["heads"] + head]


class Linear:
    """A rational number plus rational multiples of logarithms of rationals to the base 8."""

    def __init__(self, constant=Fraction(0), logs=None):
        self.constant, self.logs = constant, logs or {}

    def plus(self, factor, other):
        logs = dict(self.logs)
        for ratio, multiple in other.logs.items():
            logs[ratio] = logs.get(ratio, 0) + factor * multiple
        return Linear(self.constant + factor * other.constant,
                      {ratio: multiple for ratio, multiple in logs.items() if multiple})

    def ball(self, bits):
        result = ball_of_fraction(self.constant, bits)
        for ratio, multiple in self.logs.items():
            log = ball_of_interval(iv.log(interval(ratio)) / iv.log(iv.mpf(8)))
            result = add(result, multiply(ball_of_fraction(multiple, bits), log))
        return result

    def positive(self, bits):
        if not self.logs:
            return self.constant > 0
        middle, radius, _ = self.ball(bits)
        if abs(middle) <= radius:
            raise NotDecided
        return middle > 0


class Swin2(Window):
    def coordinate(self, apart, axis):
        s = self.scheme
        extent = s["pretrained_" + axis] or s["window_" + axis]
        if apart == 0 or extent == 1:
            return Linear()
        sign, ratio = (-1 if apart < 0 else 1), 1 + Fraction(8 * abs(apart), extent - 1)
        if ratio.denominator == 1 and ratio.numerator & (ratio.numerator - 1) == 0:
            return Linear(Fraction(sign * (ratio.numerator.bit_length() - 1), 3))
        return Linear(Fraction(0), {ratio: Fraction(sign)})

    def network(self, head, rows, columns):
        """w2 . relu(w1 (y, x) + b1)."""
        key = "hidden", rows, columns
        if key not in self.kept:
            y, x, w1 = self.coordinate(rows, "h"), self.coordinate(columns, "w"), self.given["w1"]
            units = []
            for unit, b1 in enumerate(self.given["b1"]):
                hidden = Linear(fraction(b1)).plus(fraction(w1[2 * unit]), y).plus(
                    fraction(w1[2 * unit + 1]), x)
                units.append(hidden if hidden.positive(self.bits) else Linear())
            self.kept[key] = units
        result = Linear()
        first = head * self.scheme["mlp_width"]
        for unit, hidden in enumerate(self.kept[key]):
            result = result.plus(fraction(self.given["w2"][first + unit]), hidden)
        return result

    def bias(self, head, i, j):
        apart = self.apart(i, j)
        key = "bias", head, apart
        if key not in self.kept:
            x = self.network(head, *apart).ball(self.bits)
            self.kept[key] = divide((16, 0, 0), add(ONE, exp(negate(x))), self.bits)
        return self.kept[key]

    def factor(self, head):
        tau = self.given["tau"][head]
        if less(fraction(tau), iv.log(iv.mpf(100))):
            return exp(tau)
        return 100, 0, 0

    def cosine(self, head, i, j):
        q, k = self.row("q", i, head), self.row("k", j, head)
        squared = Fraction(1)
        for vector in (q, k):
            squared *= max(fraction(dot(vector, vector)), Fraction(1, 10 ** 24))
        product = fraction(dot(q, k))
        if product == 0:
            return ZERO
        roots = [integer_root(n, 2) for n in (squared.numerator, squared.denominator)]
        if roots[0] ** 2 == squared.numerator and roots[1] ** 2 == squared.denominator:
            return ball_of_fraction(product / Fraction(*roots), self.bits)
        return ball_of_interval(interval(product) / iv.sqrt(interval(squared)))

    def score(self, head, i, j):
        return add(multiply(self.cosine(head, i, j), self.factor(head)), self.bias(head, i, j))


WINDOWS = {"deberta": Deberta, "swin": Swin, "swin2": Swin2}
