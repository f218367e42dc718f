"""Rotary embedding in NumPy, everything in float32: an example for posgauge_numpy.py.

    posgauge gate golden/models/mistral-7b-v0.3.json --kernel rotate.f32 --contract f32 \\
        --command "python3 adapters/posgauge_numpy.py adapters/rope_numpy.py:rotate"
"""

import numpy


def table(scheme, positions):
    """cos and sin [tokens, pairs] of float32 angles."""
    pairs = scheme["rotary_dim"] // 2
    exponents = numpy.arange(pairs, dtype=numpy.float32) / numpy.float32(pairs)
    frequencies = numpy.float32(1) / numpy.float32(scheme["base"]) ** exponents
    angles = positions.astype(numpy.float32)[:, None] * frequencies
    return numpy.cos(angles), numpy.sin(angles)


def rotate(quantity, scheme, x=None, positions=None):
    """Whole heads, their halves paired."""
    whole = scheme["scheme"] == "rope" and scheme["rotary_dim"] == scheme["head_dim"]
    if not whole or scheme["pairing"] != "half" or quantity not in ("rotate", "table"):
        return None
    cos, sin = table(scheme, positions)
    if quantity == "table":
        return {"cos": cos, "sin": sin}
    cos, sin = cos[:, None, :], sin[:, None, :]
    u, v = numpy.split(x, 2, axis=-1)
    turned = numpy.concatenate([u * cos - v * sin, u * sin + v * cos], axis=-1)
    return turned.astype(x.dtype)


def rotate_interleaved(quantity, scheme, x=None, positions=None):
    """A wrong one: it pairs neighbours, as GPT-J does and these models do not."""
    cos, sin = table(scheme, positions)
    if quantity != "rotate":
        return None
    cos, sin = cos[:, None, :], sin[:, None, :]
    result = numpy.empty_like(x)
    u, v = x[..., 0::2], x[..., 1::2]
    result[..., 0::2] = u * cos - v * sin
    result[..., 1::2] = u * sin + v * cos
    return result
