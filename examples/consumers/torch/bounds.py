"""How far the arithmetic of rotary.py may lead from the real number, derived from that arithmetic.

Every operation rounds by at most u = eps/2 of its result. torch's sin, cos and pow (SLEEF, or the C
library's) are within N_ULP ulps, each at most 2u of the result. The first order of each formula is
written below; PAYS pays for products of errors and for the arithmetic of the bounds themselves, as
long as the sum of all is below 1/100 (Higham, Accuracy and Stability of Numerical Algorithms, lemma
3.1). Above that a bound is of no use anyway: see BLIND. `compute` is the dtype of the angles, `dtype`
that of cos, sin and x."""

import math

import torch

import rotary

N_ULP = 1
PAYS = 1.01
BLIND = 1 / 10  # of the size of what is compared: a wider bound would let any answer pass
U64 = 2.0 ** -53


def unit(dtype):
    return torch.finfo(dtype).eps / 2


def inv_freq(config, compute):
    """Relative. The quotient 2i/dim is off by u of itself, which the power turns into exponent
    ln(base) u; then the power and its reciprocal. A blend f ((1 - k)/s + k) moves by f (1 - 1/s)
    times the error of k, and rounds six times; where k is clamped by more than its error it has
    none."""
    u, dim = unit(compute), config["rotary_dim"]
    exponent = torch.arange(0, dim, 2).double() / dim
    error = (2 * N_ULP + 1 + exponent * math.log(config["base"])) * u
    s = config.get("factor", 1)
    if config["scheme"] == "rope" or s == 1:
        return error
    if config["scheme"] == "linear":
        return error + u
    plain = rotary.plain_inv_freq(config, torch.float64)
    if config["scheme"] == "llama3":
        # L / (2 pi / f): a constant and two quotients more than f; then a difference and a quotient.
        low, high = config["low_frequency_factor"], config["high_frequency_factor"]
        turns = config["original_length"] * plain / (2 * math.pi)
        if low == high:  # a step decides right where the turns are farther from it than they are off
            kept, off = (turns > high).double(), torch.zeros_like(turns)
        else:
            kept = (turns - low) / (high - low)
            off = turns * (error + 3 * u) / (high - low) + 3 * u * kept.abs()
    else:
        # dim ln(L / (2 pi n)) / (2 ln base) in binary64, then rounded: the argument of the logarithm
        # is off by 3 roundings, everything after it by 2 logarithms and 3 roundings.
        low, high = rotary.yarn_ends(config)
        kept = 1 - (torch.arange(dim // 2).double() - low) / (high - low)
        end = 0 if config["truncate"] else (dim / (2 * math.log(config["base"])) * 3 * U64
                                            + max(abs(low), abs(high)) * ((4 * N_ULP + 3) * U64 + u))
        off = (4 * u + 2 * end / abs(high - low)) * (1 + (1 - kept).abs()) + u
    off = torch.where((kept < -off) | (kept > 1 + off), torch.zeros_like(off), off)
    kept = kept.clamp(0, 1)
    return error + 6 * u + (1 - 1 / s) * off / ((1 - kept) / s + kept)


def table(config, positions, compute, dtype):
    """Absolute. The angle is off by position times frequency times what the frequency, the
    position's conversion and the product are off by: this is what grows with the position. Then
    cos and sin (slope at most 1), the magnitude with its product, and the cast to dtype."""
    frequency = rotary.INV_FREQ[config["scheme"]](config, torch.float64)
    u = unit(compute)
    angle = positions.abs()[:, None] * frequency * (inv_freq(config, compute) + 2 * u)
    # 0.1 m ln s + 1 in binary64 has no cancellation: a logarithm and four roundings; their quotient.
    magnitude = (2 * (2 * N_ULP + 4) + 1) * U64
    cast = 0 if dtype == compute else unit(dtype)
    return PAYS * rotary.attention_scaling(config) * (
        angle + (2 * N_ULP + 2) * u + magnitude + cast)


def pair_sizes(config, x):
    """hypot of the two channels of each pair times the magnitude, at both of them."""
    if config["pairing"] == "half":
        first, second = x.chunk(2, -1)
        size = torch.hypot(first, second)
        size = torch.cat((size, size), -1)
    else:
        size = torch.hypot(x[..., ::2], x[..., 1::2]).repeat_interleave(2, -1)
    return size * rotary.attention_scaling(config)


def of_channels(config, pairs):
    """[tokens, pairs] -> [tokens, 1, channels]."""
    spread = (torch.cat((pairs, pairs), -1) if config["pairing"] == "half"
              else pairs.repeat_interleave(2, -1))
    return spread[:, None, :]


def rotate(config, positions, x, compute, dtype):
    """A wrong angle moves a pair (a, b) by hypot(a, b) times what it is off; what rounds x, cos, sin
    and products counts |a| |cos| + |b| |sin| <= hypot, and the sum once more. Below the smallest
    normal number each rounding may lose half of the smallest subnormal."""
    size = pair_sizes(config, x)
    relative = of_channels(config, table(config, positions, compute, dtype))
    relative = relative / rotary.attention_scaling(config) + PAYS * 3 * unit(dtype)
    subnormal = torch.finfo(dtype).tiny * torch.finfo(dtype).eps
    return torch.where(size > 0, relative * size + 4 * subnormal, torch.zeros_like(size))
