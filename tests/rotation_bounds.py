#!/usr/bin/env python3
"""Derives the error bounds of the reference's bulk arithmetic in exact rational numbers and checks
the constants in the sources against them.

Every magnitude is an upper bound; an operation in binary64 whose result is at most m in magnitude
is off by at most half an ulp of a number of size m. Error-free transformations are exact: nothing
overflows, and what underflows (below 2^-1022) is covered by UNDERFLOW. No floating-point number is
part of a proof; logarithms are for display alone.

usage: rotation_bounds.py SOURCE_FOLDER
"""
import math
import pathlib
import re
import sys
from fractions import Fraction

UNDERFLOW = Fraction(2) ** -1000


def power(exponent):
    return Fraction(2) ** exponent


def half_ulp(magnitude):
    """Of any binary64 number of at most that magnitude."""
    exponent = 0
    if magnitude == 0:
        return UNDERFLOW
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 1
    while power(exponent) < magnitude:
        exponent += 1
    return power(exponent - 54)


def log2(value):
    return math.log2(value.numerator) - math.log2(value.denominator)


class Errors:
    """Sums up what the roundings of low-order operations add to a result."""

    def __init__(self):
        self.total = UNDERFLOW

    def add(self, error):
        self.total += error

    def rounded(self, magnitude):
        """Counts one rounding; returns a bound on the computed magnitude."""
        magnitude += half_ulp(magnitude)
        self.total += half_ulp(magnitude)
        return magnitude


def constant(folder, path, name):
    """A hexadecimal constant of the sources as the exact number; lists give lists."""
    text = (folder / path).read_text(encoding="utf-8")
    found = re.search(name + r"(\[\])?\s*=\s*(\{[^}]*\}|[^;]*);", text)
    if not found:
        sys.exit(f"{path}: no constant {name}")
    known = {"kRowRadius": None}
    values = []
    for word in re.findall(r"0x[0-9a-fA-F.]+p[+-]?\d+|k\w+", found.group(2)):
        if word in known:
            values.append(constant(folder, path, word))
        else:
            values.append(Fraction(float.fromhex(word)))
    return values if found.group(1) else values[0]


failures = []


def claim(what, derived, declared):
    held = derived <= declared
    print(f"{'ok  ' if held else 'FAIL'} {what}: derived 2^{log2(derived):.3f}, "
          f"declared 2^{log2(declared):.3f}")
    if not held:
        failures.append(what)


# Low parts of normalised sums, |value| <= 1.
LOW = power(-54)


def cross_products(errors, low_a, low_b):
    """a.high b.low + a.low b.high, with or without a fused multiply-add; high parts at most 1."""
    first = errors.rounded(low_a)
    second = errors.rounded(low_b)
    return errors.rounded(first + second)


def complex_product(error_a, error_b):
    """TwoProducts of reference/rotation_rows-inl.h: the error of one component, and |low|."""
    errors = Errors()
    errors.add(2 * (error_a + error_b + error_a * error_b))  # |a|, |b| <= 1, two products
    errors.add(2 * LOW * LOW)  # the products of low parts are left out
    product_error = half_ulp(Fraction(1))
    sum_error = half_ulp(Fraction(2))
    both = errors.rounded(2 * product_error)
    cross = errors.rounded(cross_products(errors, LOW, LOW) + cross_products(errors, LOW, LOW))
    low = errors.rounded(sum_error + errors.rounded(both + cross))
    return errors.total, low


def rows(folder):
    path = "reference/rotation_rows.h"
    row = constant(folder, path, "kRowRadius")
    interval = constant(folder, "reference/row_cache.cc", "kIntervalRadius")
    claim("a row from intervals", half_ulp(LOW) + interval, row)
    declared = constant(folder, path, "kProductRadius")
    error = row
    for products in range(1, 4):
        error, low = complex_product(error, row)
        claim(f"{products} product(s) of rows", error, declared[products])
        # The next product needs normalised parts: TwoSum is exact, so that the error stays.
        assert low < power(-50)
    largest = declared[3]

    # Rounding to binary64: high + (low -+ width), the outer sum is the rounding itself.
    claim("forming low -+ width", half_ulp(LOW + 2 * largest), constant(folder, path, "kSumRadius"))

    # Scaling by f, |f| <= 2^e, in units of 2^e: f.low <= 2^-54, and f is exact.
    errors = Errors()
    errors.add(LOW * LOW)
    cross = cross_products(errors, LOW, LOW)
    errors.rounded(half_ulp(Fraction(1)) + cross)
    claim("scaling a row", errors.total, constant(folder, path, "kScaleRadius"))

    # RoundProductNarrow: high parts alone, of factors of up to two products and none, the products
    # rounded each where there is no fused multiply-add, and value -+ radius rounded for binary32.
    errors = Errors()
    anchor, fine = LOW + declared[2], LOW + row
    errors.add(2 * (anchor + fine + anchor * fine))
    errors.add(2 * half_ulp(Fraction(1)))  # products of parts of at most 1
    errors.add(half_ulp(Fraction(2)))  # the sum, at most 1 and the errors above
    errors.add(half_ulp(Fraction(2)))  # value -+ radius
    errors.add(2 * half_ulp(Fraction(1, 2)))  # as for kHighRadius below
    claim("a product of high parts", errors.total, constant(folder, path, "kHighProductRadius"))

    # Rounding to fewer digits from the high part: the real value is within LOW + radius of it;
    # spacings of up to 2^0 (half of them, and twice the radius from it) round twice.
    declared = constant(folder, path, "kHighRadius")
    slack = declared - (LOW + largest + constant(folder, path, "kScaleRadius"))
    claim("M 2^-53 / 1.5 and half a spacing less two radii", 2 * half_ulp(Fraction(1, 2)),
          2 * slack)


def sums_of_products(folder):
    """SumOfProducts and Times, in units of |u| + |v| and of |value factor|."""
    path = "reference/exact_rotation_apply.cc"
    low_part = power(-53)
    errors = Errors()
    errors.add(half_ulp(low_part))  # u a.low and v b.low, together |u| + |v| times that
    errors.rounded(low_part)  # their sum
    products = errors.rounded(half_ulp(Fraction(1)) * 2)  # p.low + q.low: ulps of u and of v
    inner = errors.rounded(products + low_part * (1 + power(-50)))
    errors.rounded(inner + half_ulp(Fraction(2)))
    claim("u a + v b", errors.total, constant(folder, path, "kSumOfProductsRadius"))

    path = "reference/double_double_product.h"
    errors = Errors()
    # Parts of numbers just above a power of two are the largest, 2^-53 of it.
    errors.add(low_part * low_part)
    first = errors.rounded(low_part * (1 + low_part))
    second = errors.rounded(low_part * (1 + low_part))
    cross = errors.rounded(first + second)
    errors.rounded(cross + 2 * half_ulp(Fraction(1)))
    claim("value * factor", errors.total, constant(folder, path, "kTimesRadius"))


class Sum:
    """A computed high + low that stands for a number of at most `size`, off by `error`."""

    def __init__(self, high, low, error, size):
        self.high, self.low, self.error, self.size = high, low, error, size


def constant_sum(value):
    high = value + half_ulp(value)
    low = half_ulp(high)
    return Sum(high, low, half_ulp(low) + power(-240), value)


def multiply(a, b):
    """Multiply of reference/direct_rotation.cc."""
    errors = Errors()
    errors.add(a.size * b.error + b.size * a.error + a.error * b.error)
    errors.add(a.low * b.low)
    high = a.high * b.high
    product_error = half_ulp(high)
    cross = errors.rounded(a.high * b.low + errors.rounded(a.low * b.high))
    low = errors.rounded(product_error + cross)
    return Sum(high + half_ulp(high), low, errors.total, a.size * b.size)


def pi_above():
    """An upper bound on pi by Machin's formula."""

    def arctangent(inverse, terms):
        return sum(Fraction((-1) ** i, (2 * i + 1) * inverse ** (2 * i + 1)) for i in range(terms))

    return 16 * arctangent(5, 61) - 4 * arctangent(239, 30)


def direct(folder):
    """DirectRotation::At for positions below 2^32."""
    two_pi = 2 * pi_above()
    # units: the high word of the rest, exact, and the low word, rounded once, times 2^-64.
    rest_high = power(53) + 1
    rest_low = Fraction(1, 2) + power(-54)
    turns_error = power(32 - 192) + power(-128) + power(-64) * half_ulp(Fraction(1))
    unit = constant_sum(two_pi * power(-64))
    errors = Errors()
    errors.add(turns_error * two_pi)
    errors.add(rest_low * unit.low)
    errors.add((rest_high + rest_low) * unit.error)
    high = rest_high * unit.high
    cross = errors.rounded(rest_high * unit.low + errors.rounded(rest_low * unit.high))
    errors.rounded(half_ulp(high) + cross)
    size = two_pi * power(-11) + power(-60)
    r = Sum(size + 2 * half_ulp(size), half_ulp(size + power(-60)), errors.total, size)

    def squared(x):
        errors = Errors()
        errors.add(2 * x.size * x.error + x.error ** 2 + x.low ** 2)
        high = x.high ** 2
        low = errors.rounded(2 * x.high * x.low + half_ulp(high))
        return Sum(high + half_ulp(high), low, errors.total, x.size ** 2)

    square = squared(r)
    third, fourth, fifth = (constant_sum(Fraction(1, n)) for n in (6, 24, 120))

    # inner = r^2 (1/120 + tail), tail = r^2 (r^2 / 362880 - 1 / 5040) + low part of 1/120
    whole = square.high + square.low + square.error
    seventh, ninth = Fraction(1, 5040), Fraction(1, 362880)
    value = seventh + square.high * ninth
    value_error = (half_ulp(ninth) * square.high + (square.low + square.error) * ninth +
                   half_ulp(seventh) + 2 * half_ulp(value))
    value += half_ulp(value)
    tail = square.high * value + fifth.low
    tail_error = (value_error * square.high + (square.low + square.error) * value + fifth.error +
                  2 * half_ulp(tail))
    tail += half_ulp(tail)
    errors = Errors()
    errors.add(square.error * (fifth.size + tail))
    errors.add(tail_error * whole)
    errors.add(square.low * tail)
    high = square.high * fifth.high
    low = errors.rounded(square.high * tail)
    low = errors.rounded(square.low * fifth.high + low)
    low = errors.rounded(half_ulp(high) + low)
    inner = Sum(high + half_ulp(high), low, errors.total, square.size * (fifth.size + tail))

    # factor = -1/6 + inner
    errors = Errors()
    errors.add(inner.error + third.error)
    high = third.high + inner.high
    low = errors.rounded(half_ulp(high) + errors.rounded(third.low + inner.low))
    factor = Sum(high, low, errors.total, third.size + inner.high)

    cubed = multiply(factor, multiply(square, r))
    errors = Errors()
    errors.add(r.error + cubed.error)
    errors.add(r.size ** 11 / math.factorial(11))  # the first term left out
    high = r.high + cubed.high
    low = errors.rounded(half_ulp(high) + errors.rounded(r.low + cubed.low))
    sin = Sum(high, low, errors.total, r.size)

    # rest = -r^2 / 720 + r^4 / 40320 - r^6 / 3628800
    sixth, eighth, tenth = Fraction(1, 720), Fraction(1, 40320), Fraction(1, 3628800)
    value = eighth + square.high * tenth
    value_error = (half_ulp(tenth) * square.high + (square.low + square.error) * tenth +
                   half_ulp(eighth) + 2 * half_ulp(value))
    value += half_ulp(value)
    outer = sixth + square.high * value
    outer_error = (value_error * square.high + (square.low + square.error) * value +
                   half_ulp(sixth) + 2 * half_ulp(outer))
    outer += half_ulp(outer)
    rest = square.high * outer
    rest_error = outer_error * square.high + (square.low + square.error) * outer
    rest_error += 2 * half_ulp(rest)
    rest += half_ulp(rest)
    errors = Errors()
    errors.add(rest_error + fourth.error)
    high = fourth.high + rest
    low = errors.rounded(half_ulp(high) + fourth.low)
    factor = Sum(high, low, errors.total, fourth.size + rest)
    quartic = multiply(factor, squared(square))
    errors = Errors()
    errors.add(quartic.error + square.error / 2)
    errors.add(r.size ** 12 / math.factorial(12))
    high = square.high / 2 + quartic.high
    low = errors.rounded(half_ulp(high) + errors.rounded(quartic.low + square.low / 2))
    cos_less_one = Sum(high, low, errors.total, r.size ** 2 / 2)

    # point + point (cos r - 1) -+ other sin r
    point = Sum(Fraction(1), LOW, half_ulp(LOW) + power(-240), Fraction(1))
    a, b = multiply(point, cos_less_one), multiply(point, sin)
    errors = Errors()
    errors.add(a.error + b.error + point.error)
    change = half_ulp(a.high + b.high)
    low = errors.rounded(a.low + b.low)
    low = errors.rounded(change + low)
    low = errors.rounded(point.low + low)
    errors.rounded(half_ulp(Fraction(2)) + low)
    claim("direct", errors.total, constant(folder, "reference/direct_rotation.h", "kRadius"))


def main():
    folder = pathlib.Path(sys.argv[1])
    rows(folder)
    sums_of_products(folder)
    direct(folder)
    if failures:
        sys.exit("not proven: " + "; ".join(failures))


main()
