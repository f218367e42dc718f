"""Schemes that act in attention, from the papers and the code that follows them.

Vaswani et al., arXiv:1706.03762, eq. 1 (none); Press et al., arXiv:2108.12409, and the recursion of
their fairseq/models/transformer.py (alibi); Raffel et al., arXiv:1910.10683, and mesh's
_relative_position_bucket (t5); Chi et al., arXiv:2205.09921, eqs. 4, 5 (kerple); Chi et al.,
arXiv:2212.10356: inner products of sinusoidal rows (sandwich); Li et al., arXiv:2310.04418, eqs. 6-8
(fire); Shaw et al., arXiv:1803.02155, eqs. 3, 4; Dai et al., arXiv:1901.02860, sec. 3.3, all four
terms (transformer_xl); Golovneva et al., arXiv:2405.18719, eqs. 3-5 (cope).
"""
import collections
import functools
import math
from fractions import Fraction

from mpmath import iv
from mpmath.libmp import from_man_exp

from independent.ball import (ONE, ZERO, add, ball_of_float, ball_of_fraction, ball_of_interval,
                              cos_sin, dyadic, multiply, negate)
from independent.powers import Power
from independent.reals import NotDecided, interval


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
    return ball_of_interval(iv.exp(interval_of(ball)))


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


class None_:  # pylint: disable=invalid-name
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


@functools.lru_cache(maxsize=None)
def slope_exponents(heads):
    """Of 2^-max_bias, as the authors' get_slopes recurses."""
    if heads & (heads - 1) == 0:
        return [Fraction(n, heads) for n in range(1, heads + 1)]
    closest = 1 << (heads.bit_length() - 1)
    return slope_exponents(closest) + slope_exponents(2 * closest)[0::2][:heads - closest]


class Alibi(None_):
    def slope(self, head):
        key = "slope", head
        if key not in self.kept:
            s = self.scheme
            heads = s["heads"] if s["total_heads"] is None else s["total_heads"]
            exponent = [-Fraction(s["max_bias"]) * slope_exponents(heads)[s["first_head"] + head]]
            power = Power([Fraction(2)])
            exact = power.rational(exponent) if abs(exponent[0]) < 4096 else None
            self.kept[key] = from_fraction_or_interval(
                power.interval(exponent) if exact is None else exact, self.bits)
        return self.kept[key]

    def slopes(self):
        return [self.slope(head) for head in self.heads()]

    def bias(self, head, i, j):
        p, t = self.queries[i], self.keys[j]
        times = {"relative": t - p, "symmetric": -abs(p - t), "key": t,
                 "key_from_last": t - self.keys[-1]}[self.scheme["form"]]
        return multiply(self.slope(head), ball_of_fraction(times, self.bits))


class T5(None_):
    def bucket(self, i, j):
        """_relative_position_bucket in real numbers: where a logarithm is a whole number of its
        steps, that is told by rational powers."""
        n = int(self.queries[i] - self.keys[j])
        buckets, first = self.scheme["num_buckets"], 0
        if self.scheme["bidirectional"]:
            buckets //= 2
            first = buckets if n < 0 else 0
            n = abs(n)
        else:
            n = max(n, 0)
        exact = buckets // 2
        if n < exact:
            return first + n
        ratio, step = Fraction(n, exact), Fraction(self.scheme["max_distance"], exact)
        count = buckets - exact
        place = iv.log(interval(ratio)) / iv.log(interval(step)) * count
        low, high = (math.floor(Fraction(*map(int, [*mp_ratio(end)]))) for end in place._mpi_)
        if low != high:
            if high - low > 1:
                raise NotDecided
            whole = ratio ** count == step ** high  # the logarithm is `high` steps exactly
            if not whole:
                raise NotDecided
        return first + min(exact + high, buckets - 1)

    def buckets(self):
        return [(self.bucket(i, j), 0, 0)
                for i in range(len(self.queries)) for j in range(len(self.keys))]

    def bias(self, head, i, j):
        key = i, j
        if key not in self.kept:
            self.kept[key] = self.bucket(i, j)
        return self.given["table"][self.kept[key] * self.scheme["heads"] + head]


def mp_ratio(raw):
    """Numerator and denominator of mpmath's raw (sign, man, exp, bc)."""
    sign, man, exponent, _ = raw
    return dyadic(-int(man) if sign else int(man), exponent).as_integer_ratio()


class Kerple(None_):
    def power(self, distance, exponent):
        """distance^exponent for distance >= 0."""
        key = distance, exponent
        if key not in self.kept:
            if distance == 0:
                self.kept[key] = ZERO
            else:
                power, exponents = Power([distance]), [fraction(exponent)]
                exact = power.rational(exponents)
                self.kept[key] = from_fraction_or_interval(
                    power.interval(exponents) if exact is None else exact, self.bits)
        return self.kept[key]

    def distance(self, i, j):
        return abs(self.queries[i] - self.keys[j])

    def bias(self, head, i, j):
        r1, r2 = self.given["r1"][head], self.given["r2"][head]
        distance = self.distance(i, j)
        if self.scheme["kernel"] == "power":
            return negate(multiply(r1, self.power(distance, r2)))
        if distance == 0:
            return ZERO
        argument = 1 + fraction(r2) * distance
        return negate(multiply(r1, ball_of_interval(iv.log(interval(argument)))))

    def score(self, head, i, j):
        content = self.scaled(self.dot(head, i, j))
        if self.scheme["weighted"]:
            power = self.power(self.distance(i, j), self.given["w2"][head])
            content = multiply(content, exp(negate(multiply(self.given["w1"][head], power))))
        return add(content, self.bias(head, i, j))


class Waves(None_):
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


class Sandwich(Waves):
    def bias(self, head, i, j):
        s = self.scheme
        p, t, width = self.queries[i], self.keys[j], s["sandwich_width"]
        if p == t:
            product = width // 2, 0, 0
        else:
            rows = [self.turns(at, s["first_index"], width) for at in (p, t)]
            product = total(dot(a, b) for a, b in zip(*rows))
        if s["centred"]:
            product = add(product, (-(width // 2), 0, 0))
        return divide(multiply(product, (s["heads"], 0, 0)), (8 * (head + 1), 0, 0), self.bits)


class Fire(None_):
    def log(self, t):
        """ln(1 + c t) for t > 0."""
        return iv.log(interval(1 + fraction(self.given["c"][0]) * t))

    def normalised(self, i, j):
        distance = abs(self.queries[i] - self.keys[j])
        longest = max(fraction(self.given["threshold"][0]), self.queries[i])
        epsilon = Fraction(self.scheme["epsilon"])
        if distance == 0:
            return ZERO
        if epsilon == 0 and distance == longest:
            return ONE
        below = self.log(longest) + interval(epsilon)
        if not below.a > 0:
            raise NotDecided
        return ball_of_interval(self.log(distance) / below)

    def bias(self, head, i, j):
        key = i, j
        if key not in self.kept:
            x = self.normalised(i, j)
            self.kept[key] = [add(multiply(w, x), b)
                              for w, b in zip(self.given["w1"], self.given["b1"])]
        width = self.scheme["mlp_width"]
        result = self.given["b2"][head]
        for hidden, w in zip(self.kept[key], self.given["w2"][head * width:]):
            if abs(hidden[0]) < hidden[1]:
                raise NotDecided
            if hidden[0] > 0:
                result = add(result, multiply(w, hidden))
        return result


class Shaw(None_):
    def entry(self, table, head, i, j):
        s = self.scheme
        offset = self.keys[j] - self.queries[i]
        if s["index"] == "query_minus_key":
            offset = -offset
        d, clip = s["head_dim"], s["clip"]
        if abs(offset) > clip:
            if s["outside"] == "zero":
                return [ZERO] * d
            offset = clip if offset > 0 else -clip
        row = (head if s["per_head"] else 0) * (2 * clip + 1) + int(offset) + clip
        return self.given[table][row * d:(row + 1) * d]

    def score(self, head, i, j):
        relative = dot(self.row("q", i, head), self.entry("key_table", head, i, j))
        return self.scaled(add(self.dot(head, i, j), relative))

    def value(self, head, i, j):
        plain = self.row("v", j, head)
        if not self.scheme["values"]:
            return plain
        return [add(a, b) for a, b in zip(plain, self.entry("value_table", head, i, j))]


class TransformerXl(Waves):
    def projected(self, head, offset):
        """W R_o of one head."""
        key = head, offset
        if key not in self.kept:
            s = self.scheme
            width = s["model_width"]
            turns = self.turns(offset, 0, width)
            signal = [sin for _, sin in turns] + [cos for cos, _ in turns]
            first = head * s["head_dim"] * width
            weight = self.given["position_weight"]
            self.kept[key] = [dot(weight[first + c * width:first + (c + 1) * width], signal)
                              for c in range(s["head_dim"])]
        return self.kept[key]

    def score(self, head, i, j):
        s = self.scheme
        offset = self.queries[i] - self.keys[j]
        if s["clamp_length"] is not None:
            offset = min(offset, Fraction(s["clamp_length"]))
        d = s["head_dim"]
        q, k, r = self.row("q", i, head), self.row("k", j, head), self.projected(head, offset)
        u, v = (self.given[name][head * d:(head + 1) * d]
                for name in ("content_bias", "position_bias"))
        return self.scaled(total(map(dot, (q, q, u, v), (k, r, k, r))))


class Cope(None_):
    def score(self, head, i, j):
        return self.scores_of(head, i)[j]

    def scores_of(self, head, i):
        key = head, i
        if key not in self.kept:
            s, d = self.scheme, self.scheme["head_dim"]
            last = s["num_positions"] - 1
            q, e = self.row("q", i, head), self.given["embedding"]
            logits = [dot(q, e[n * d:(n + 1) * d]) for n in range(last + 1)]
            scores, position = [], ZERO
            for j in reversed(range(len(self.keys))):
                content = self.dot(head, i, j)
                if self.sees(i, j):
                    position = add(position, self.gate(self.scaled(content)))
                at = self.logit(logits, position, last)
                scores.append(self.scaled(add(content, at)) if s["placement"] == "before_scale"
                              else add(self.scaled(content), at))
            self.kept[key] = scores[::-1]
        return self.kept[key]

    def gate(self, logit):
        return divide(ONE, add(ONE, exp(negate(logit))), self.bits)

    @staticmethod
    def logit(logits, position, last):
        """w z[ceil] + (1 - w) z[floor]."""
        middle, radius, exponent = position
        low, high = (math.floor(dyadic(middle + end, exponent)) for end in (-radius, radius))
        if min(low, high) >= last:
            return logits[last]
        if low != high:
            raise NotDecided
        weight = add(position, (-low, 0, 0))
        return add(multiply(weight, logits[min(low + 1, last)]),
                   multiply(add(ONE, negate(weight)), logits[low]))


ATTENTIONS = {"none": None_, "alibi": Alibi, "t5": T5, "kerple": Kerple, "sandwich": Sandwich,
              "fire": Fire, "shaw": Shaw, "transformer_xl": TransformerXl, "cope": Cope}
