"""Reals as balls of integers, and their rounding.

A ball (middle, radius, exponent) is the set of reals within radius * 2^exponent of
middle * 2^exponent, all three integers. A ball of radius 0 is a number.
"""
import math
from fractions import Fraction

from mpmath.libmp import from_man_exp, mpf_cos_sin


class Format:
    """A binary floating-point format: significand bits, the ends of its exponents, and the largest
    number, beyond which it has `over`. That of IEEE 754, unless given."""

    def __init__(self, digits, min_exponent, max_exponent, largest=None, over=math.inf):
        self.digits, self.min_exponent = digits, min_exponent
        self.largest = largest or (2 ** digits - 1) * Fraction(2) ** (max_exponent - digits + 1)
        self.over = over

    def round(self, n, exponent):
        """Nearest number to n * 2^exponent, n > 0, ties to even; and how far off, in 2^-16 ulp of
        the rounded number, to nearest."""
        top = n.bit_length() - 1 + exponent
        quantum = max(top, self.min_exponent) - self.digits + 1
        significand = nearest(n, exponent - quantum)
        if dyadic(significand, quantum) > self.largest:
            return self.over, 0
        ulp = quantum + (significand.bit_length() > self.digits)  # carried into the next binade
        low = min(exponent, quantum)
        error = (n << (exponent - low)) - (significand << (quantum - low))
        return math.ldexp(significand, quantum), nearest(error, low - (ulp - 16))


FORMATS = {"f64": Format(53, -1022, 1023), "f32": Format(24, -126, 127),
           "bf16": Format(8, -126, 127), "f16": Format(11, -14, 15),
           "f8e4m3": Format(4, -6, 8, 448, math.nan), "f8e5m2": Format(3, -14, 15)}
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
        exact = math.isfinite(value) and Fraction(value) == dyadic(abs(middle), exponent)
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
