"""How far the arithmetic of schemes.py may lead from the real number, derived from that arithmetic.

Every operation of dtype T rounds by at most u = eps/2 of its result. numpy's sin, cos, exp, log and
power are within N_ULP ulps, each at most 2u of the result (numpy's tests of its SIMD loops hold them
to 4). The first order of each formula is written below; PAYS pays for products of errors and for the
arithmetic of the bounds themselves, as long as the sum of all is below 1/100 (Higham, Accuracy and
Stability of Numerical Algorithms, lemma 3.1). Above that a bound is of no use anyway: see BLIND."""

import numpy as np

import schemes

N_ULP = 4
PAYS = 1.01
BLIND = 1 / 10  # of the size of what is compared: a wider bound would let any answer pass
U64 = 2.0 ** -53


def unit(T):
    return float(np.finfo(T).eps) / 2


def plain_frequencies(scheme, T):
    """Relative: the quotient 2i/dim is off by u of itself, which the power turns into exponent
    ln(base) u; the power adds 2 N u."""
    exponent = np.arange(0, scheme["rotary_dim"], 2) / scheme["rotary_dim"]
    return (2 * N_ULP + exponent * np.log(scheme["base"])) * unit(T)


def unclamped_kept(scheme, plain, kept, T):
    """Absolute, of schemes.unclamped_kept: two differences and a quotient, each u of its result, and
    what the ends of the ramp or the turns are off by."""
    u = unit(T)
    if scheme["scheme"] == "yarn" and scheme["ramp"] == "pairs":
        low, high = schemes.ramp_ends(scheme)
        off = 0
        if not scheme["truncate"]:
            # dim ln(L / (2 pi n)) / (2 ln base) in binary64, then rounded to T: the argument of the
            # logarithm is off by 3 roundings, everything after it by 2 logarithms and 3 roundings.
            off = (scheme["rotary_dim"] / (2 * np.log(scheme["base"])) * 3 * U64
                   + max(abs(low), abs(high)) * ((4 * N_ULP + 3) * U64 + u))
        return (4 * u + 2 * off / abs(high - low)) * (1 + abs(1 - kept)) + u
    low, high = schemes.turns_ends(scheme)
    turns = scheme["original_length"] * plain / (2 * np.pi)
    if low == high:  # a step decides right where the turns are farther from it than they are off
        return np.zeros_like(turns)
    return turns * (plain_frequencies(scheme, T) + 4 * u) / abs(high - low) + 4 * u * abs(kept)


def frequencies(scheme, T):
    """Relative. A blend f ((1 - k)/s + k) moves by f (1 - 1/s) times the error of k; besides it
    rounds six times. Where k is clamped by more than its error it has none."""
    error = plain_frequencies(scheme, T)
    s = schemes.factor(scheme)
    if scheme["scheme"] == "linear":
        return error + unit(T)
    if scheme["scheme"] == "rope" or s == 1:
        return error
    plain = schemes.plain_frequencies(scheme, np.float64)
    kept = schemes.unclamped_kept(scheme, plain, np.float64)
    off = unclamped_kept(scheme, plain, kept, T)
    off = np.where((kept < -off) | (kept > 1 + off), 0, off)
    kept = np.clip(kept, 0, 1) * scheme.get("extrapolation_factor", 1)
    return error + 6 * unit(T) + (1 - 1 / s) * off / ((1 - kept) / s + kept)


def magnitude():
    """Relative, in binary64: a quotient of two values 0.1 m ln(s) + 1 of positive terms, squared or
    multiplied once more; each has a logarithm and four roundings."""
    return (2 * (2 * N_ULP + 4) + 3) * U64


def angles(positions, frequency, frequency_error, T):
    """Absolute, radians: position times frequency times the relative error of the frequency, of the
    position's conversion and of the product. This is what grows with the position."""
    return abs(positions)[:, None] * frequency * (frequency_error + 2 * unit(T))


def table(scheme, positions, T):
    """Absolute. cos and sin have slope at most 1; then N ulps, the magnitude and its product."""
    angle = angles(positions, schemes.scaled_frequencies(scheme, np.float64), frequencies(scheme, T), T)
    size = schemes.magnitude(scheme)[0]
    return PAYS * size * (angle + (2 * N_ULP + 2) * unit(T) + magnitude())


def rotate(scheme, positions, x, T):
    """(bound, size of what is compared), both of x's shape. A wrong angle moves a pair (a, b) by
    hypot(a, b) times what it is off; what rounds cos, sin, products (and x, on its way to T) counts
    |a| |cos| + |b| |sin| <= hypot, and the sum once more. Each product, sum and conversion below the
    smallest normal number may lose half of the smallest subnormal. Channels outside are copied."""
    u, subnormal = unit(T), float(np.finfo(T).smallest_subnormal)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.abs(x)
        bound = np.where(size > 0, u * size + subnormal, 0)
        first, second = schemes.pairs(scheme)
        pair = np.hypot(x[..., first], x[..., second])
        off = table(scheme, positions, T)[:, None, :] * pair
        magnitude_size = schemes.magnitude(scheme)[0]
        for channels in (first, second):
            size[..., channels] = magnitude_size * pair
            bound[..., channels] = np.where(
                pair > 0, off + PAYS * 3 * u * magnitude_size * pair + 4 * subnormal, 0)
    return bound, size


def sinusoidal_frequencies(scheme, T):
    """Relative: that of a power, and a quotient by it."""
    width, shift = scheme["width"], scheme["frequency_shift"]
    count = (width + 1) // 2 if scheme["odd_width"] == "extra_sine" else width // 2
    exponent = np.arange(count) / (width / 2 if shift is None else count - shift)
    return (2 * N_ULP + 2 + exponent * np.log(scheme["base"])) * unit(T)


def rows(scheme, positions, T):
    """Absolute, [tokens, width]. A position that `start` nearly cancels keeps its own rounding."""
    frequency, u = schemes.sinusoidal_frequencies(scheme, np.float64), unit(T)
    angle = (angles(positions + scheme["start"], frequency, sinusoidal_frequencies(scheme, T), T)
             + abs(positions)[:, None] * frequency * u)
    bound = np.zeros((len(positions), scheme["width"]))
    for channels in schemes.waves(scheme):
        bound[:, channels] = PAYS * (angle[:, :len(channels)] + 2 * N_ULP * u)
    if scheme["padding_index"] is not None:
        bound[positions + scheme["start"] == scheme["padding_index"]] = 0
    return bound


def slopes(scheme, T):
    """Relative: the exponent, at most max_bias, is off by 2u of itself."""
    return PAYS * (2 * N_ULP + 2 * scheme["max_bias"] * np.log(2)) * unit(T)


def alibi(scheme, query, key, T):
    """Absolute: the positions, their difference and the product are rounded."""
    slope, u = schemes.slopes(scheme, np.float64)[:, None, None], unit(T)
    reach = abs(query)[:, None] + abs(key)[None, :] + abs(key[-1])
    return PAYS * (slope * reach * 2 * u + slope * reach * (slopes(scheme, T) + u))


def t5_buckets(scheme, query, key, T):
    """0, or 1 where T cannot decide between two buckets: where the number of logarithmic steps, as
    binary64 has it, is nearer to a whole one than what it is off by. That is u in the ratio, hence u
    in its logarithm, and relative to the whole two logarithms, a quotient and a product."""
    relative = key[None, :] - query[:, None]
    count = scheme["num_buckets"] // (2 if scheme["bidirectional"] else 1)
    distance = abs(relative) if scheme["bidirectional"] else np.maximum(-relative, 0)
    exact, u = count // 2, unit(T)
    rate = (count - exact) / np.log(scheme["max_distance"] / exact)
    steps = np.log(np.maximum(distance, exact) / exact) * rate
    off = PAYS * (rate * u + steps * (4 * N_ULP + 4) * u) + rate * U64 + steps * (4 * N_ULP + 4) * U64
    near = (abs(steps - np.round(steps)) <= off) & (distance > exact) & (steps < count - exact - 0.5)
    return near.astype(float)
