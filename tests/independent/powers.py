"""Products of rational powers of rationals, exact where they can be.

Such a product is rational exactly if, over pairwise coprime bases g = h^t with t as large as can
be, every exponent times t is an integer.
"""
import functools
import math
from fractions import Fraction

from mpmath import iv

from independent.reals import exp, interval


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
        return exp(sum(interval(e) * log for e, log in zip(exponents, logarithms)))


def multiplicity(n, g):
    count = 0
    while n % g == 0:
        n, count = n // g, count + 1
    return count
