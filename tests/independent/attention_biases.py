"""Schemes that add to scores what depends on the positions alone.

Press et al., arXiv:2108.12409, and the recursion of their fairseq/models/transformer.py (alibi);
Raffel et al., arXiv:1910.10683, and mesh's _relative_position_bucket (t5); Chi et al.,
arXiv:2205.09921, eqs. 4, 5 (kerple); Chi et al., arXiv:2212.10356: inner products of sinusoidal
rows (sandwich); Li et al., arXiv:2310.04418, eqs. 6-8 (fire).
"""
import functools
import math
from fractions import Fraction

from mpmath import iv

from independent.attention import (Plain, Waves, divide, dot, exp, fraction,
                                   from_fraction_or_interval, total)
from independent.ball import (ONE, ZERO, add, ball_of_fraction, ball_of_interval, dyadic, multiply,
                              negate)
from independent.powers import Power
from independent.reals import NotDecided, interval


@functools.lru_cache(maxsize=None)
def slope_exponents(heads):
    """Of 2^-max_bias, as the authors' get_slopes recurses."""
    if heads & (heads - 1) == 0:
        return [Fraction(n, heads) for n in range(1, heads + 1)]
    closest = 1 << (heads.bit_length() - 1)
    return slope_exponents(closest) + slope_exponents(2 * closest)[0::2][:heads - closest]


class Alibi(Plain):
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
        product = multiply(self.slope(head), ball_of_fraction(times, self.bits))
        return self.scaled(product) if self.scheme["before_scale"] else product


class T5(Plain):
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


class Kerple(Plain):
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


class Fire(Plain):
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
