"""What the reference must answer, a second time: in another language, on mpmath.

Shares no code and no formula with reference/; needs only Python and mpmath (Debian's
python3-mpmath). A rounding is decided where both ends of a ball round alike, and the precision
rises until that is so. What the equations make exact (a power that is rational, an angle of zero)
is decided by integers and has no radius.
"""
import math
import operator
from fractions import Fraction

from mpmath import iv

from independent.additions import ADDITIONS
from independent.attentions import ATTENTIONS
from independent.axes import SEVERAL_AXES
from independent.ball import (FORMATS, ONE, WITH_DISTANCES, ZERO, add, ball_of_float,
                              ball_of_fraction, ball_of_interval, cos_sin, multiply, negate,
                              round_ball)
from independent.given_rows import GIVEN_ROWS
from independent.reals import NotDecided, interval
from independent.schemes import SCHEMES as ONE_AXIS, Refused, Yarn

# The rotary ones.
SCHEMES = {**ONE_AXIS, **SEVERAL_AXES}

# Bits of the working precision, tried in turn; 400 bits are 120 digits.
PRECISIONS = (400, 1200, 4800)


def of(scheme):
    """The oracle for a scheme, given as JSON has it with every field present."""
    name = scheme["scheme"]
    kinds = [(ADDITIONS, AddedRows), (GIVEN_ROWS, GivenRows), (ATTENTIONS, Attending)]
    return next((kind for names, kind in kinds if name in names), Oracle)(scheme)


class Oracle:
    """Answers for one rotary scheme."""

    OUTPUTS = {"table": ("cos", "sin")}

    def __init__(self, scheme):
        self.scheme = scheme
        self.equations = SCHEMES[scheme["scheme"]](scheme)
        self.pairs = scheme["rotary_dim"] // 2
        self.axes = self.equations.axes()
        self.sign = -1 if scheme["direction"] == "clockwise" else 1
        self.cache = {}

    def ask(self, quantity, dtype, **inputs):
        """{output: [(value, proof, distance)]}, flat; a proof is "e" for exact, "p" for proven; a
        distance is in 2^-16 ulp. Raises Refused."""
        shown = self.OUTPUTS.get(quantity, (quantity,))
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
        if isinstance(real, Fraction):
            return ball_of_fraction(real, bits)
        return ball_of_interval(real)

    def gained(self, real, bits):
        """Times the square of the magnitude, which may be rational where the magnitude is not."""
        a = self.factor("magnitude", bits)
        squared = getattr(self.equations, "magnitude_squared", None)
        if squared is None:
            return multiply(multiply(a, a), real)
        middle, rest = divmod(real[0] * squared.numerator, squared.denominator)
        if rest or real[1]:
            return multiply(ball_of_fraction(squared, bits), real)
        return middle, 0, real[2]

    def rows(self, positions):
        """The position that every pair counts, [tokens, pairs]; positions are [tokens, axes], flat."""
        count = self.equations.axis_count()
        return [[positions[start + axis] for axis in self.axes]
                for start in range(0, len(positions), count)]

    def turns(self, positions, bits):
        """cos and sin of every angle, without magnitude, [tokens, pairs]."""
        frequencies = self.frequencies(bits)[0]
        return [[cos_sin(multiply(ball_of_float(p), frequency), bits)
                 for p, frequency in zip(row, frequencies)] for row in self.rows(positions)]

    def table(self, bits, positions):
        a = self.factor("magnitude", bits)
        turns = [turn for row in self.turns(positions, bits) for turn in row]
        return [[multiply(a, cos) for cos, _ in turns], [multiply(a, sin) for _, sin in turns]]

    def channels(self, pair):
        first = self.scheme["rotary_offset"]
        if self.scheme["pairing"] == "half":
            return first + pair, first + pair + self.pairs
        if self.scheme["pairing"] == "half_per_axis":
            # The channels of the axes one after another, each list in two halves.
            for count in self.scheme["section"]:
                if pair < count:
                    return first + pair, first + pair + count
                first, pair = first + 2 * count, pair - count
        return first + 2 * pair, first + 2 * pair + 1

    def rotate(self, bits, positions, x, heads, backward=False):
        a = self.factor("magnitude", bits)
        turns = self.turns(positions, bits)
        h = self.scheme["head_dim"]
        result = list(x)  # the channels that do not rotate
        for row, counted in enumerate(self.rows(positions)):
            for head in range(heads):
                start = (row * heads + head) * h
                for pair in range(self.pairs):
                    m, n = (start + channel for channel in self.channels(pair))
                    u, v = x[m], x[n]
                    cos, sin = turns[row][pair]
                    if not (math.isfinite(u) and math.isfinite(v)):
                        result[m] = result[n] = math.nan
                    elif counted[pair] == 0:
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
        scale_ball = ball_of_float(scale)
        queries = self.heads(q, query_positions, heads, bits)
        keys = self.heads(k, key_positions, heads, bits)
        result = []
        for head in range(heads):
            for i, p in enumerate(self.rows(query_positions)):
                for j, t in enumerate(self.rows(key_positions)):
                    query, key = queries[i * heads + head], keys[j * heads + head]
                    if p == t:  # a rotation keeps the inner product
                        turned = dot(query.before, key.before)
                    else:
                        turned = self.unturned(query, key, p, t, bits)
                        if turned is None and bits < PRECISIONS[-1]:
                            turned = dot(query.after, key.after)
                        elif turned is None:
                            turned = self.relative(query, key, p, t, bits)
                    plain = dot(query.copied, key.copied)
                    real = multiply(scale_ball, add(plain, self.gained(turned, bits)))
                    result.append(real)
        return [result]

    def heads(self, x, positions, heads, bits):
        turns = self.turns(positions, bits)
        h = self.scheme["head_dim"]
        rotating = [self.channels(pair) for pair in range(self.pairs)]
        return [Head(x[at * h:(at + 1) * h], rotating, turns[at // heads])
                for at in range(len(turns) * heads)]

    def unturned(self, query, key, p, t, bits):
        """The inner product where only pairs take part that have no frequency or the same position
        on both sides, which is exact; else None."""
        total = ZERO
        for (qu, qv), (ku, kv), frequency, at, to in zip(query.pairs, key.pairs,
                                                         self.frequencies(bits)[0], p, t):
            along = add(multiply(qu, ku), multiply(qv, kv))
            across = add(multiply(qv, ku), negate(multiply(qu, kv)))
            if (along[0] or across[0]) and (frequency[0] or frequency[1]) and at != to:
                return None
            total = add(total, along)
        return total

    def relative(self, query, key, p, t, bits):
        """Sum of along cos(d w) - across sin(d w), d = p - t, with pairs of equal frequency and
        distance added first, so that what cancels there is exactly zero."""
        sums = {}
        for (qu, qv), (ku, kv), frequency, at, to in zip(query.pairs, key.pairs,
                                                         self.frequencies(bits)[0], p, t):
            turn = frequency, Fraction(at) - Fraction(to)
            along, across = sums.get(turn, (ZERO, ZERO))
            along = add(along, add(multiply(qu, ku), multiply(qv, kv)))
            across = add(across, add(multiply(qv, ku), negate(multiply(qu, kv))))
            sums[turn] = along, across
        total = ZERO
        for (frequency, apart), (along, across) in sums.items():
            distance = ball_of_fraction(apart, bits)
            cos, sin = cos_sin(multiply(distance, frequency), bits)
            total = add(total, add(multiply(along, cos), negate(multiply(across, sin))))
        return total


class AddedRows(Oracle):
    """Answers for one scheme whose rows are added to embeddings."""

    OUTPUTS = {"table": ("rows",)}

    def __init__(self, scheme):  # pylint: disable=super-init-not-called
        self.scheme = scheme
        self.equations = ADDITIONS[scheme["scheme"]](scheme)

    def frequencies(self, bits):
        return [self.equations.frequencies(bits)]

    def table(self, bits, positions):
        return [self.equations.rows(positions, bits)]

    def embed(self, bits, positions, x):
        return [self.equations.embed(positions, x, bits)]


class GivenRows(Oracle):
    """Answers for one scheme of rows that are no waves."""

    OUTPUTS = {}

    def __init__(self, scheme):  # pylint: disable=super-init-not-called
        self.scheme = scheme
        self.equations = GIVEN_ROWS[scheme["scheme"]](scheme)

    def table(self, bits, positions, **weights):
        learned = next(iter(weights.values()), None)  # at most one tensor
        return [[entry for p in positions for entry in self.equations.row(p, learned, bits)]]

    def embed(self, bits, positions, x, **weights):
        rows = self.table(bits, positions, **weights)[0]
        return [[add(ball_of_float(value), entry) for value, entry in zip(x, rows)]]


class Attending(Oracle):
    """Answers for one scheme that acts in attention."""

    OUTPUTS = {}

    def __init__(self, scheme):  # pylint: disable=super-init-not-called
        self.scheme = scheme

    def of(self, bits, given):
        return ATTENTIONS[self.scheme["scheme"]](self.scheme, bits, given)

    def slopes(self, bits, **given):
        return [self.of(bits, given).slopes()]

    def buckets(self, bits, **given):
        return [self.of(bits, given).buckets()]

    def bias(self, bits, **given):
        call = self.of(bits, given)
        return [[call.bias(head, i, j) for head in call.heads()
                 for i in range(len(call.queries)) for j in range(len(call.keys))]]

    def scores(self, bits, **given):  # pylint: disable=arguments-differ
        call = self.of(bits, given)
        return [[call.score(head, i, j) if call.sees(i, j) else -math.inf for head in call.heads()
                 for i in range(len(call.queries)) for j in range(len(call.keys))]]

    def attention(self, bits, **given):
        call = self.of(bits, given)
        return [[real for i in range(len(call.queries)) for head in call.heads()
                 for real in call.output(head, i)]]


class Head:
    """A vector before and after its rotation without magnitude, and the channels that only copy."""

    def __init__(self, x, rotating, turns):
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


def round_any(real, dtype):
    """`real` a ball, or a float that is copied."""
    if isinstance(real, tuple):
        return round_ball(real, dtype)
    if real == 0 or math.isnan(real):
        return real, "e", 0
    if math.isinf(real):
        over = FORMATS[dtype].over
        return math.copysign(over, real), "p" if math.isnan(over) else "e", 0
    return round_ball(ball_of_float(real), dtype)


def same(a, b):
    """As bits, but that every NaN is like every other."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1, a) == math.copysign(1, b)


def may_be_unaware(scheme, quantity):
    """Whether the reference may call an exact number proven. That of a blended frequency is exact
    where all weights happen to be rational, which it need not see; nor that keys of different
    scores have values of the same mean; nor that thirds or logarithms cancel in a network."""
    blended = scheme["scheme"] in ("llama3", "yarn") or scheme.get("form") == "mixed"
    network = scheme["scheme"] == "swin2"
    return network or quantity == "attention" or (quantity == "frequencies" and blended)
