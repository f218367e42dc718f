"""What the rotary schemes are, a second time: from the papers, in another language, on mpmath.

Shares no code and no formula with reference/; it needs only Python and mpmath (Debian's
python3-mpmath). A real number is a ball of integers, its rounding is decided where both ends of the
ball round alike, and the precision rises until that is so. What the equations make exact (a power
that is rational, an angle of zero) is decided by integers and has no radius.

Sources: Su et al., arXiv:2104.09864, eqs. 13-16 (rope); Chen et al., arXiv:2306.15595, eq. 4
(linear); Peng et al., arXiv:2309.00071, eqs. 14-16 (ntk), sec. 3.3 (dynamic), eq. 22 and the code
that all frameworks share (yarn); Meta's llama-models `apply_scaling` (llama3).
"""
import functools
import math
import operator
from fractions import Fraction

from mpmath import iv
from mpmath.libmp import from_man_exp, mpf_cos_sin

# Bits of the working precision, tried in turn; 400 bits are 120 digits.
PRECISIONS = (400, 1200, 4800)


class NotDecided(Exception):
    """The precision does not suffice to tell which of two cases holds."""


# ---------------------------------------------------------------------------------------------
# Rounding. A ball (middle, radius, exponent) is the set of reals within radius * 2^exponent of
# middle * 2^exponent, all three integers. A ball of radius 0 is a number.

class Format:
    """A binary floating-point format (IEEE 754): significand bits and the ends of its exponents."""

    def __init__(self, digits, min_exponent, max_exponent):
        self.digits, self.min_exponent, self.max_exponent = digits, min_exponent, max_exponent

    def round(self, n, exponent):
        """Nearest number to n * 2^exponent, n > 0, ties to even; and how far off, in 2^-16 ulp of
        the rounded number, to nearest."""
        top = n.bit_length() - 1 + exponent
        quantum = max(top, self.min_exponent) - self.digits + 1
        significand = nearest(n, exponent - quantum)
        if significand.bit_length() + quantum > self.max_exponent + 1:
            return math.inf, 0
        ulp = quantum + (significand.bit_length() > self.digits)  # carried into the next binade
        low = min(exponent, quantum)
        error = (n << (exponent - low)) - (significand << (quantum - low))
        return math.ldexp(significand, quantum), nearest(error, low - (ulp - 16))


FORMATS = {"f64": Format(53, -1022, 1023), "f32": Format(24, -126, 127),
           "bf16": Format(8, -126, 127), "f16": Format(11, -14, 15)}
WITH_DISTANCES = ("f64", "f32")


def nearest(n, exponent):
    """Integer nearest to n * 2^exponent, ties to even."""
    if exponent >= 0:
        return n << exponent
    quotient, rest = n >> -exponent, n & ((1 << -exponent) - 1)
    half = 1 << (-exponent - 1)
    return quotient + (rest > half or (rest == half and quotient & 1))


def round_ball(ball, dtype):
    """(value, proof, distance), or None where the ball is too wide to tell."""
    middle, radius, exponent = ball
    if radius == 0:
        if middle == 0:
            return 0.0, "e", 0
        value, distance = FORMATS[dtype].round(abs(middle), exponent)
        exact = not math.isinf(value) and Fraction(value) == dyadic(abs(middle), exponent)
        sign = -1 if middle < 0 else 1
        return sign * value, "e" if exact else "p", sign * distance
    if abs(middle) <= radius:
        return None
    sign = -1 if middle < 0 else 1
    low = FORMATS[dtype].round(abs(middle) - radius, exponent)
    if low != FORMATS[dtype].round(abs(middle) + radius, exponent):
        return None
    return sign * low[0], "p", sign * low[1]


def dyadic(n, exponent):
    return Fraction(n << exponent) if exponent >= 0 else Fraction(n, 1 << -exponent)


# ---------------------------------------------------------------------------------------------
# Arithmetic of balls.

ONE, ZERO = (1, 0, 0), (0, 0, 0)


def ball_of_float(x):
    numerator, denominator = x.as_integer_ratio()
    return numerator, 0, 1 - denominator.bit_length()


def ball_of_fraction(x, bits):
    """Without radius if the number is dyadic."""
    shift = x.denominator.bit_length() - 1
    if x.denominator == 1 << shift:
        return x.numerator, 0, -shift
    shift += bits
    return (x.numerator << shift) // x.denominator, 1, -shift


def ball_of_interval(x):
    low, high = x._mpi_
    (low, low_exponent), (high, high_exponent) = signed(low), signed(high)
    exponent = min(low_exponent, high_exponent)
    low <<= low_exponent - exponent
    high <<= high_exponent - exponent
    return low + high, high - low, exponent - 1


def signed(raw):
    """Significand and exponent of mpmath's raw (sign, man, exp, bc)."""
    sign, man, exponent, _ = raw
    assert man or not exponent, "not finite"
    return (-int(man) if sign else int(man)), exponent


def multiply(a, b):
    radius = abs(a[0]) * b[1] + abs(b[0]) * a[1] + a[1] * b[1] if a[1] or b[1] else 0
    return a[0] * b[0], radius, a[2] + b[2]


def add(a, b):
    if not a[0] and not a[1]:
        return b
    if not b[0] and not b[1]:
        return a
    exponent = min(a[2], b[2])
    a_shift, b_shift = a[2] - exponent, b[2] - exponent
    return (a[0] << a_shift) + (b[0] << b_shift), (a[1] << a_shift) + (b[1] << b_shift), exponent


def negate(a):
    return -a[0], a[1], a[2]


def cos_sin(angle, bits):
    """Both functions of a ball. Their derivatives are at most 1, so they move by at most its
    radius; mpmath's values are good to an ulp, for which 4 are allowed."""
    middle, radius, exponent = angle
    if not middle and not radius:
        return ONE, ZERO
    result = []
    for raw in mpf_cos_sin(from_man_exp(middle, exponent), bits):
        man, man_exponent = signed(raw)
        shift = bits - man.bit_length()
        man, man_exponent = man << shift, man_exponent - shift
        moved = exponent - man_exponent
        moved = radius << moved if moved >= 0 else (radius >> -moved) + 1
        result.append((man, moved + 4, man_exponent))
    return result


# ---------------------------------------------------------------------------------------------
# Exact powers. A product of rationals to rational powers is rational exactly if, over pairwise
# coprime bases g = h^t with t as large as can be, every exponent times t is an integer.

def coprime_bases(numbers):
    """Pairwise coprime integers above 1 of which all the numbers are products of powers."""
    bases, waiting = [], [n for n in numbers if n > 1]
    while waiting:
        n = waiting.pop()
        for base in bases:
            shared = math.gcd(n, base)
            if shared > 1:
                bases.remove(base)
                waiting += [m for m in (shared, n // shared, base // shared) if m > 1]
                break
        else:
            bases.append(n)
    return bases


@functools.lru_cache(maxsize=None)
def perfect_power(n):
    """(h, t) with h^t = n and t as large as can be."""
    for t in range(n.bit_length(), 1, -1):
        root = integer_root(n, t)
        if root ** t == n:
            return root, t
    return n, 1


def integer_root(n, t):
    low, high = 1, 1 << (n.bit_length() // t + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle ** t <= n else (low, middle - 1)
    return low


class Power:
    """Products of powers of given positive rationals; the exponents are rationals too."""

    def __init__(self, bases):
        self.bases = [Fraction(base) for base in bases]
        integers = [n for base in self.bases for n in (base.numerator, base.denominator)]
        self.factors = []  # (h, t, multiplicity of h^t in each base)
        for g in coprime_bases(integers):
            root, t = perfect_power(g)
            counts = [multiplicity(b.numerator, g) - multiplicity(b.denominator, g)
                      for b in self.bases]
            self.factors.append((root, t, counts))
        self.logarithms = {}

    def rational(self, exponents):
        """The product if it is rational, else None."""
        product = Fraction(1)
        for root, t, counts in self.factors:
            exponent = t * sum(c * e for c, e in zip(counts, exponents))
            if Fraction(exponent).denominator != 1:
                return None
            product *= Fraction(root) ** int(exponent)
        return product

    def interval(self, exponents):
        if iv.prec not in self.logarithms:
            self.logarithms[iv.prec] = [iv.log(interval(base)) for base in self.bases]
        logarithms = self.logarithms[iv.prec]
        return iv.exp(sum(interval(e) * log for e, log in zip(exponents, logarithms)))


def multiplicity(n, g):
    count = 0
    while n % g == 0:
        n, count = n // g, count + 1
    return count


# ---------------------------------------------------------------------------------------------
# Reals of the equations: a Fraction where the number is known exactly, else an interval.

def interval(x):
    if isinstance(x, Fraction):
        return iv.mpf(x.numerator) / iv.mpf(x.denominator)
    return x if isinstance(x, iv.mpf) else iv.mpf(x)


def less(a, b):
    """Whether a < b; the equations below never ask it of two equal numbers of which one is an
    interval, because the interval's is transcendental (or an irrational root) and the other not."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a < b
    a, b = interval(a), interval(b)
    if a.b < b.a:
        return True
    if b.b < a.a:
        return False
    raise NotDecided


def minus(a, b):
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    return interval(a) - interval(b)


def clamp(x):
    """To 0..1."""
    if less(x, Fraction(0)):
        return Fraction(0)
    return Fraction(1) if less(Fraction(1), x) else x


def floor(x):
    """Of an interval that holds no integer."""
    low, high = (round_down(end) for end in x._mpi_)
    if low != high:
        raise NotDecided
    return Fraction(low)


def round_down(raw):
    n, exponent = signed(raw)
    return n << exponent if exponent >= 0 else n >> -exponent


# ---------------------------------------------------------------------------------------------
# The schemes. Each gives bases and exponents of the unscaled frequency, and what multiplies it.

class Refused(Exception):
    """The scheme has no meaning with these parameters."""


class Rope:
    """frequency_i = base^(-2i/d)."""

    def __init__(self, scheme):
        self.scheme = scheme
        self.d = scheme["rotary_dim"]
        self.power = Power(self.bases())

    def bases(self):
        return [Fraction(self.scheme["base"])]

    def exponents(self, i):
        return [Fraction(-2 * i, self.d)]

    def multiplier(self, i):
        return Fraction(1)

    def magnitude(self):
        return Fraction(1)

    def softmax_multiplier(self):
        return Fraction(1)

    def unscaled(self, i):
        exact = self.power.rational(self.exponents(i))
        return self.power.interval(self.exponents(i)) if exact is None else exact


class Linear(Rope):
    """frequency_i / s."""

    def multiplier(self, i):
        return 1 / Fraction(self.scheme["factor"])


class Ntk(Rope):
    """(b s^(d/(d-2)))^(-2i/d) = b^(-2i/d) s^(-2i/(d-2)), or naively (b s)^(-2i/d)."""

    def bases(self):
        factor = Fraction(self.scheme["factor"])
        if self.scheme["form"] == "dynamic":
            trained = self.scheme["trained_length"]
            factor = factor * max(self.scheme["length"], trained) / trained - (factor - 1)
        return [Fraction(self.scheme["base"]), factor]

    def exponents(self, i):
        naive = self.scheme["form"] == "naive"
        return [Fraction(-2 * i, self.d), Fraction(-2 * i, self.d if naive else self.d - 2)]


class Llama3(Rope):
    """Kept where the pair makes more than high_frequency_factor turns in the original length,
    divided by s below low_frequency_factor, between them the weighted mean."""

    def multiplier(self, i):
        shrunk = 1 / Fraction(self.scheme["factor"])
        if shrunk == 1:
            return shrunk
        turns = interval(self.unscaled(i)) * self.scheme["original_length"] / (2 * iv.pi)
        low = Fraction(self.scheme["low_frequency_factor"])
        high = Fraction(self.scheme["high_frequency_factor"])
        if less(high, turns):
            return Fraction(1)
        if less(turns, low):
            return shrunk
        return mean(shrunk, (turns - interval(low)) / interval(high - low))


class Yarn(Rope):
    """Kept below the ramp's low end, divided by s above its high end, the weighted mean between."""

    def __init__(self, scheme):
        super().__init__(scheme)
        self.ramps = {}

    def pair_with_turns(self, turns):
        s = self.scheme
        wavelengths = s["original_length"] / (2 * iv.pi * interval(Fraction(turns)))
        return self.d * iv.log(wavelengths) / (2 * iv.log(interval(Fraction(s["base"]))))

    def ramp(self):
        """Low end and width."""
        if iv.prec not in self.ramps:
            self.ramps[iv.prec] = self.ramp_of(self.scheme)
        return self.ramps[iv.prec]

    def ramp_of(self, s):
        low = self.pair_with_turns(s["beta_fast"])
        high = low if s["beta_slow"] == s["beta_fast"] else self.pair_with_turns(s["beta_slow"])
        if s["truncate"]:  # neither is an integer: pi would be algebraic
            low, high = floor(low), floor(high) + 1
        if less(low, Fraction(0)):
            low = Fraction(0)
        if less(Fraction(self.d - 1), high):
            high = Fraction(self.d - 1)
        if low is high or (isinstance(low, Fraction) and low == high):
            return low, Fraction(1, 1000)
        if less(high, low):
            if s["inverted_ramp"] == "refuse":
                raise Refused
            if s["inverted_ramp"] == "ggml":
                return low, Fraction(1, 1000)
        return low, minus(high, low)

    def multiplier(self, i):
        s = self.scheme
        shrunk, kept = 1 / Fraction(s["factor"]), Fraction(s["extrapolation_factor"])
        low, width = self.ramp()
        if shrunk == 1 or kept == 0:
            return shrunk
        along = minus(Fraction(i), low)
        if along == 0:
            return mean(shrunk, kept)
        if isinstance(along, Fraction) and isinstance(width, Fraction):
            return mean(shrunk, (1 - clamp(along / width)) * kept)
        along = clamp(interval(along) / interval(width))
        if isinstance(along, Fraction):
            return mean(shrunk, (1 - along) * kept)
        return mean(shrunk, (1 - along) * interval(kept))

    def temperature(self, mscale, coefficient=Fraction(1, 10)):
        """g(s, m)."""
        s, mscale = Fraction(self.scheme["factor"]), Fraction(mscale)
        if s <= 1 or mscale == 0:
            return Fraction(1)
        return 1 + interval(coefficient * mscale) * iv.log(interval(s))

    def magnitude(self):
        s = self.scheme
        if s["attention_factor"] is not None:
            return Fraction(s["attention_factor"])
        top, bottom = s["mscale"], s["mscale_all_dim"]
        if s["magnitude"] == "none":
            ratio = Fraction(1)
        elif s["magnitude"] == "telechat3":
            ratio = self.temperature(1, Fraction(7, 100))
        else:
            if s["magnitude"] == "deepseek":
                top, bottom = (1 if top is None else top), (0 if bottom is None else bottom)
            elif not top or not bottom:
                top, bottom = 1, 0
            if top == bottom:
                ratio = Fraction(1)
            else:
                ratio = self.temperature(top)
                below = self.temperature(bottom)
                ratio = ratio if below == 1 else interval(ratio) / interval(below)
        multiplier = Fraction(s["attention_multiplier"])
        if isinstance(ratio, Fraction):
            return ratio * multiplier
        return ratio * interval(multiplier)

    def softmax_multiplier(self):
        """DeepSeek's code for its own models: g(s, mscale_all_dim)^2 where it is given, beside the
        ratio in cos and sin; in the official inference code, which rotates purely, g(s, mscale)^2.
        """
        s = self.scheme
        mscale = {"deepseek": s["mscale_all_dim"], "none": s["mscale"]}.get(s["magnitude"])
        gain = self.temperature(mscale or 0)
        return gain * gain


def mean(shrunk, weight):
    """shrunk (1 - weight) + weight."""
    if isinstance(weight, Fraction):
        return shrunk + weight * (1 - shrunk)
    return interval(shrunk) + weight * interval(1 - shrunk)


SCHEMES = {"rope": Rope, "linear": Linear, "ntk": Ntk, "llama3": Llama3, "yarn": Yarn}


# ---------------------------------------------------------------------------------------------
# Quantities: balls, or floats for what is no real number or has a sign of zero.

class Oracle:
    """Answers for one scheme, given as JSON has it with every field present."""

    def __init__(self, scheme):
        self.scheme = scheme
        self.equations = SCHEMES[scheme["scheme"]](scheme)
        self.pairs = scheme["rotary_dim"] // 2
        self.sign = -1 if scheme["direction"] == "clockwise" else 1
        self.cache = {}

    def ask(self, quantity, dtype, **inputs):
        """{output: (values, proofs, distances)}, flat. Raises Refused."""
        shown = {"table": ("cos", "sin")}.get(quantity, (quantity,))
        answers = {name: None for name in shown}
        for bits in PRECISIONS:
            iv.prec = bits
            try:
                outputs = getattr(self, quantity)(bits, **inputs)
            except NotDecided:
                continue
            for name, reals in zip(shown, outputs):
                old = answers[name] or [None] * len(reals)
                answers[name] = [done or round_any(real, dtype) for done, real in zip(old, reals)]
            if all(answers[name] is not None and None not in answers[name] for name in shown):
                break
        else:
            raise NotDecided("{} of {} at {} bits".format(quantity, self.scheme, PRECISIONS[-1]))
        return answers

    # Each gives one flat list of reals for each output.

    def frequencies(self, bits):
        key = "frequencies", bits
        if key not in self.cache:
            reals = []
            for i in range(self.pairs):
                unscaled, multiplier = self.equations.unscaled(i), self.equations.multiplier(i)
                if isinstance(unscaled, Fraction) and isinstance(multiplier, Fraction):
                    real = ball_of_fraction(unscaled * multiplier, bits)
                else:
                    real = ball_of_interval(interval(unscaled) * interval(multiplier))
                reals.append((self.sign * real[0],) + real[1:])
            self.cache[key] = reals
        return [self.cache[key]]

    def magnitude(self, bits):
        return [[self.factor("magnitude", bits)]]

    def softmax_multiplier(self, bits):
        return [[self.factor("softmax_multiplier", bits)]]

    def factor(self, name, bits):
        if isinstance(self.equations, Yarn):
            self.equations.ramp()  # what is refused is refused whole
        real = getattr(self.equations, name)()
        return ball_of_fraction(real, bits) if isinstance(real, Fraction) else ball_of_interval(real)

    def turns(self, positions, bits):
        """cos and sin of every angle, without magnitude, [positions, pairs]."""
        frequencies = self.frequencies(bits)[0]
        return [[cos_sin(multiply(ball_of_float(p), frequency), bits) for frequency in frequencies]
                for p in positions]

    def table(self, bits, positions):
        a = self.factor("magnitude", bits)
        turns = [turn for row in self.turns(positions, bits) for turn in row]
        return [[multiply(a, cos) for cos, _ in turns], [multiply(a, sin) for _, sin in turns]]

    def channels(self, pair):
        first = self.scheme["rotary_offset"]
        if self.scheme["pairing"] == "half":
            return first + pair, first + pair + self.pairs
        return first + 2 * pair, first + 2 * pair + 1

    def rotate(self, bits, positions, x, heads, backward=False):
        a = self.factor("magnitude", bits)
        turns = self.turns(positions, bits)
        h = self.scheme["head_dim"]
        result = list(x)  # the channels that do not rotate
        for row, p in enumerate(positions):
            for head in range(heads):
                start = (row * heads + head) * h
                for pair in range(self.pairs):
                    m, n = (start + channel for channel in self.channels(pair))
                    u, v = x[m], x[n]
                    cos, sin = turns[row][pair]
                    if not (math.isfinite(u) and math.isfinite(v)):
                        result[m] = result[n] = math.nan
                    elif p == 0:
                        result[m] = u and multiply(a, ball_of_float(u))
                        result[n] = v and multiply(a, ball_of_float(v))
                    else:
                        turn = cos, negate(sin) if backward else sin
                        both = turned((ball_of_float(u), ball_of_float(v)), turn)
                        result[m], result[n] = (multiply(a, real) for real in both)
        return [result]

    def rotate_backward(self, bits, positions, x, heads):
        return self.rotate(bits, positions, x, heads, backward=True)

    def scores(self, bits, query_positions, key_positions, q, k, heads, scale):
        a = self.factor("magnitude", bits)
        gain, scale_ball = multiply(a, a), ball_of_float(scale)
        queries = self.heads(q, query_positions, heads, bits)
        keys = self.heads(k, key_positions, heads, bits)
        result = []
        for head in range(heads):
            for i, p in enumerate(query_positions):
                for j, t in enumerate(key_positions):
                    query, key = queries[i * heads + head], keys[j * heads + head]
                    if p == t:  # a rotation keeps the inner product
                        turned = dot(query.before, key.before)
                    elif bits < PRECISIONS[-1]:
                        turned = dot(query.after, key.after)
                    else:
                        turned = self.relative(query, key, p, t, bits)
                    plain = dot(query.copied, key.copied)
                    real = multiply(scale_ball, add(plain, multiply(gain, turned)))
                    if real[:2] == (0, 0):
                        has_zero = scale == 0 or (p == t and (query.has_zero or key.has_zero))
                        real = ANY_ZERO if has_zero else 0.0
                    result.append(real)
        return [result]

    def heads(self, x, positions, heads, bits):
        turns = self.turns(positions, bits)
        h = self.scheme["head_dim"]
        rotating = [self.channels(pair) for pair in range(self.pairs)]
        return [Head(x[at * h:(at + 1) * h], rotating, turns[at // heads])
                for at in range(len(positions) * heads)]

    def relative(self, query, key, p, t, bits):
        """Sum of along cos(d w) - across sin(d w), d = p - t, with pairs of equal frequency added
        first, so that what cancels there is exactly zero."""
        sums = {}
        for (qu, qv), (ku, kv), frequency in zip(query.pairs, key.pairs, self.frequencies(bits)[0]):
            along, across = sums.get(frequency, (ZERO, ZERO))
            along = add(along, add(multiply(qu, ku), multiply(qv, kv)))
            across = add(across, add(multiply(qv, ku), negate(multiply(qu, kv))))
            sums[frequency] = along, across
        distance = add(ball_of_float(p), negate(ball_of_float(t)))
        total = ZERO
        for frequency, (along, across) in sums.items():
            cos, sin = cos_sin(multiply(distance, frequency), bits)
            total = add(total, add(multiply(along, cos), negate(multiply(across, sin))))
        return total


class Head:
    """A vector before and after its rotation without magnitude, and the channels that only copy."""

    def __init__(self, x, rotating, turns):
        self.has_zero = 0 in x
        balls = [ball_of_float(y) for y in x]
        self.pairs = [(balls[m], balls[n]) for m, n in rotating]
        rotates = {channel for pair in rotating for channel in pair}
        self.copied = Vector([ball for c, ball in enumerate(balls) if c not in rotates])
        self.before = Vector([ball for pair in self.pairs for ball in pair])
        self.after = Vector([ball for pair, turn in zip(self.pairs, turns)
                             for ball in turned(pair, turn)])


class Vector:
    """Balls brought to one exponent and to their largest radius, zeros excepted."""

    def __init__(self, balls):
        self.exponent = min((ball[2] for ball in balls), default=0)
        self.middles = [ball[0] << (ball[2] - self.exponent) for ball in balls]
        self.radius = max((ball[1] << (ball[2] - self.exponent) for ball in balls), default=0)
        self.size = sum(map(abs, self.middles))


def dot(a, b):
    middle = sum(map(operator.mul, a.middles, b.middles))
    radius = a.size * b.radius + b.size * a.radius + len(a.middles) * a.radius * b.radius
    zero = (a.size, a.radius) == (0, 0) or (b.size, b.radius) == (0, 0)
    return middle, 0 if zero else radius, a.exponent + b.exponent


def turned(pair, turn):
    (u, v), (cos, sin) = pair, turn
    return (add(multiply(u, cos), negate(multiply(v, sin))),
            add(multiply(u, sin), multiply(v, cos)))


# An exact zero whose sign the reference leaves open.
ANY_ZERO = "zero"


def round_any(real, dtype):
    """`real` a ball, or a float that is copied."""
    if real == ANY_ZERO:
        return real, "e", 0
    if isinstance(real, tuple):
        return round_ball(real, dtype)
    if real == 0 or not math.isfinite(real):
        return real, "e", 0
    return round_ball(ball_of_float(real), dtype)
