"""Frequencies as frameworks form them, in NumPy and by its own powers, so that nothing here is shared
with the program under test. Every function takes the element type to compute in."""

import math

import numpy as np


def plain(width, base, kind=np.float32, pairs=None):
    """1/base^(2i/width), as torch writes it."""
    exponents = np.arange(0, width, 2).astype(kind)[:pairs] / kind(width)
    return (kind(1) / kind(base) ** exponents).astype(kind)


def by_exp(width, base, kind=np.float32):
    """exp(-i ln(base)/half), as in MLX's fallback."""
    half = width // 2
    return np.exp(-np.arange(half).astype(kind) * (np.log(kind(base)) / kind(half))).astype(kind)


def by_recurrence(width, base, kind=np.float32):
    """Each the one before times a rounded ratio, as in ggml."""
    ratio, values = kind(base) ** (kind(-2) / kind(width)), [kind(1)]
    for _ in range(width // 2 - 1):
        values.append(values[-1] * ratio)
    return np.array(values, kind)


def llama3(frequencies, factor, low, high, length):
    """Meta's apply_scaling, with its branches."""
    values = []
    for frequency in frequencies:
        period = 2 * math.pi / frequency
        if period < length / high:
            values.append(frequency)
        elif period > length / low:
            values.append(frequency / factor)
        else:
            smooth = (length / period - low) / (high - low)
            values.append((1 - smooth) * frequency / factor + smooth * frequency)
    return np.array(values, frequencies.dtype)


def turns_pair(width, base, length, turns):
    """The pair that makes so many turns over the original length."""
    return width * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))


def yarn(width, base, factor, length, fast=32, slow=1, truncate=True, clamp=None, inverted=False,
         inside=False, kind=np.float32):
    """YaRN as transformers has it; `inverted` swaps the sides, `inside` puts the factor into the
    power."""
    low, high = (turns_pair(width, base, length, turns) for turns in (fast, slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1 if clamp is None else clamp)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(width // 2).astype(kind) - kind(low)) / kind(high - low), 0, 1)
    kept = ramp if inverted else 1 - ramp
    own = plain(width, base, kind)
    divided = plain(width, factor * base, kind) if inside else own / kind(factor)
    return (divided * (1 - kept) + own * kept).astype(kind)


def yarn_of_paper(width, base, factor, length, fast=32, slow=1):
    """YaRN with the ramp of the paper's eqs. 17-18, linear in turns."""
    own = plain(width, base, np.float64)
    kept = np.clip((length * own / (2 * math.pi) - slow) / (fast - slow), 0, 1)
    return own / factor * (1 - kept) + own * kept


def slopes(heads, max_bias=8):
    """ALiBi's, by the authors' recursion."""
    def power_of_two(count):
        start = 2 ** (-max_bias / count)
        return [start ** (i + 1) for i in range(count)]
    if math.log2(heads).is_integer():
        return power_of_two(heads)
    below = 2 ** math.floor(math.log2(heads))
    return power_of_two(below) + slopes(2 * below, max_bias)[0::2][:heads - below]


def to_bf16(values):
    """Rounded to bf16, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)
