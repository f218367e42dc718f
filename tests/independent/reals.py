"""Reals of the equations: a Fraction where the number is known exactly, else an interval of mpmath
at iv.prec bits."""
from fractions import Fraction

from mpmath import iv

from independent.ball import signed


class NotDecided(Exception):
    """The precision does not suffice to tell which of two cases holds."""


def interval(x):
    if isinstance(x, Fraction):
        return iv.mpf(x.numerator) / iv.mpf(x.denominator)
    return x if isinstance(x, iv.mpf) else iv.mpf(x)


def exp(x):
    """mpmath's own is 1 without a width for some tiny arguments: its last digits are not trusted."""
    if x.a == 0 and x.b == 0:
        return iv.mpf(1)
    width = iv.mpf(2) ** (4 - iv.prec)
    return iv.exp(x) * iv.mpf([1 - width.b, 1 + width.b])


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
