"""The schemes in numpy, as a model computes them, in whatever dtype T the caller names."""

import math
import os

import numpy as np

SIGN = -1 if os.environ.get("POSGAUGE_BREAK") else 1  # of angles and biases: a mistake to be found


def pairs(scheme):
    """The two channels of each pair, counted within the head."""
    dim = scheme["rotary_dim"]
    i = np.arange(dim // 2)
    first, second = (i, i + dim // 2) if scheme["pairing"] == "half" else (2 * i, 2 * i + 1)
    return first + scheme["rotary_offset"], second + scheme["rotary_offset"]


def plain_frequencies(scheme, T):
    """base^(-2i/dim)."""
    return T(scheme["base"]) ** -(np.arange(0, scheme["rotary_dim"], 2, dtype=T)
                                  / T(scheme["rotary_dim"]))


def factor(scheme):
    """By what the slow pairs are divided. Dynamic YaRN takes it from the length."""
    if scheme.get("length") is not None:
        return max(1.0, scheme["length"] / scheme["original_length"])
    return scheme.get("factor", 1.0)


def ramp_ends(scheme):
    """Of YaRN's ramp over pairs; binary64, as in every model's code."""
    dim, base, length = scheme["rotary_dim"], scheme["base"], scheme["original_length"]

    def pair_of(turns):
        return dim * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(scheme["beta_fast"]), pair_of(scheme["beta_slow"])
    if scheme["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high or (low > high and scheme["inverted_ramp"] == "ggml"):
        high = low + 0.001
    return low, high


def turns_ends(scheme):
    if scheme["scheme"] == "llama3":
        return scheme["low_frequency_factor"], scheme["high_frequency_factor"]
    return scheme["beta_slow"], scheme["beta_fast"]


def unclamped_kept(scheme, plain, T):
    """How much of its own frequency a pair keeps, before it is clamped to 0..1."""
    if scheme["scheme"] == "yarn" and scheme["ramp"] == "pairs":
        low, high = ramp_ends(scheme)
        return T(1) - (np.arange(len(plain), dtype=T) - T(low)) / (T(high) - T(low))
    low, high = turns_ends(scheme)
    turns = T(scheme["original_length"]) * plain / T(2 * math.pi)
    if low == high:  # a step
        return np.where(turns > T(high), T(1), T(0))
    return (turns - T(low)) / (T(high) - T(low))


def scaled_frequencies(scheme, T):
    """Without the direction."""
    plain = plain_frequencies(scheme, T)
    if scheme["scheme"] == "linear":
        return plain / T(scheme["factor"])
    if scheme["scheme"] == "rope" or factor(scheme) == 1:
        return plain
    kept = np.clip(unclamped_kept(scheme, plain, T), T(0), T(1))
    kept = kept * T(scheme.get("extrapolation_factor", 1))
    return plain / T(factor(scheme)) * (T(1) - kept) + plain * kept


def frequencies(scheme, T):
    """Radians per token, negative where the rotation is clockwise."""
    sign = SIGN * (-1 if scheme["direction"] == "clockwise" else 1)
    return T(sign) * scaled_frequencies(scheme, T)


def magnitude(scheme):
    """The factor on cos and sin, and the one that the model puts on its logits besides; binary64."""
    if scheme["scheme"] != "yarn":
        return 1.0, 1.0
    s = factor(scheme)

    def g(m, slope=0.1):
        return slope * m * math.log(s) + 1 if s > 1 else 1.0

    rule, m, all_dim = scheme["magnitude"], scheme["mscale"], scheme["mscale_all_dim"]
    if scheme["attention_factor"] is not None:
        size = scheme["attention_factor"]
    else:
        if rule == "deepseek":
            size = g(1 if m is None else m) / g(all_dim or 0)
        elif rule == "huggingface":
            size = g(m) / g(all_dim) if m and all_dim else g(1)
        else:
            size = g(1, 0.07) if rule == "telechat3" else 1.0
        size *= scheme["attention_multiplier"]
    on_logits = {"deepseek": all_dim, "none": m}.get(rule) or 0
    return size, g(on_logits) ** 2


def table(scheme, positions, T):
    """cos and sin, [tokens, pairs]."""
    angles = positions.astype(T)[:, None] * frequencies(scheme, T)
    size = T(magnitude(scheme)[0])
    return np.cos(angles) * size, np.sin(angles) * size


def rotate(scheme, positions, x, T, backward=False):
    cos, sin = (part[:, None, :] for part in table(scheme, positions, T))
    if backward:
        sin = -sin
    out = x.astype(T)
    first, second = pairs(scheme)
    a, b = out[..., first], out[..., second]
    out[..., first] = a * cos - b * sin
    out[..., second] = a * sin + b * cos
    return out


def sinusoidal_frequencies(scheme, T):
    """scale / base^(k/D)."""
    width, shift = scheme["width"], scheme["frequency_shift"]
    count = (width + 1) // 2 if scheme["odd_width"] == "extra_sine" else width // 2
    exponent = np.arange(count, dtype=T) / T(width / 2 if shift is None else count - shift)
    return T(scheme["scale"]) / T(scheme["base"]) ** exponent


def waves(scheme):
    """(channels of the sines, channels of the cosines), in the order of the frequencies."""
    width = scheme["width"]
    if scheme["layout"] == "interleaved":
        return np.arange(0, width, 2), np.arange(1, width, 2)
    count = (width + 1) // 2 if scheme["odd_width"] == "extra_sine" else width // 2
    front, back = np.arange(count), count + np.arange(width // 2)
    return (front, back) if scheme["layout"] == "halves" else (back, front)


def rows(scheme, positions, T):
    """The rows of sinusoidal, [tokens, width]."""
    angles = (positions.astype(T) + T(scheme["start"]))[:, None] * sinusoidal_frequencies(scheme, T)
    out = np.zeros((len(positions), scheme["width"]), T)
    sines, cosines = waves(scheme)
    out[:, sines] = np.sin(angles) * T(SIGN)
    out[:, cosines] = np.cos(angles[:, :len(cosines)])
    if scheme["padding_index"] is not None:
        out[positions + scheme["start"] == scheme["padding_index"]] = 0
    return out


def slopes(scheme, T):
    """2^(-max_bias h/n); heads beyond the power of two n take odd powers of the half step."""
    total = scheme["total_heads"] or scheme["heads"]
    n = 1 << (total.bit_length() - 1)
    h = np.arange(scheme["first_head"], scheme["first_head"] + scheme["heads"])
    exponent = np.where(h < n, 2 * (h + 1), 2 * (h - n) + 1).astype(T) / T(2 * n)
    return T(2) ** (-T(scheme["max_bias"]) * exponent)


def alibi(scheme, query, key, T):
    """The bias, [heads, queries, keys]."""
    i, j = query.astype(T)[:, None], key.astype(T)[None, :]
    distance = {"relative": lambda: j - i, "symmetric": lambda: -abs(i - j), "key": lambda: 0 * i + j,
                "key_from_last": lambda: 0 * i + (j - j[:, -1:])}[scheme["form"]]()
    return slopes(scheme, T)[:, None, None] * distance * T(SIGN)


def t5_buckets(scheme, query, key, T):
    """As in mesh-tensorflow and transformers, but for T, which is float32 there."""
    relative = (key[None, :] - query[:, None]).astype(np.int64) * SIGN
    count, offset = scheme["num_buckets"], 0
    if scheme["bidirectional"]:
        count //= 2
        offset = np.where(relative > 0, count, 0)
        distance = abs(relative)
    else:
        distance = np.maximum(-relative, 0)
    exact = count // 2
    ratio = np.maximum(distance, exact).astype(T) / T(exact)
    steps = np.log(ratio) / T(math.log(scheme["max_distance"] / exact)) * T(count - exact)
    logarithmic = np.minimum(exact + steps.astype(np.int64), count - 1)
    return np.where(distance < exact, distance, logarithmic) + offset
