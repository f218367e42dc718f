"""Rows that are added to embeddings and are no waves of positions.

Learned tables as GPT-2, OPT, RoBERTa, fairseq and tensor2tensor read them; the two-dimensional
sines of MAE's util/pos_embed.py and diffusers' PatchEmbed; tables resampled as torch's
upsample_bilinear2d, upsample_bicubic2d and their antialiased forms do it; the rows of CAPE's
package, CAPE1d.
"""
import math
from fractions import Fraction

from independent.ball import (ONE, ZERO, ball_of_float, ball_of_fraction, ball_of_interval, cos_sin,
                              multiply)
from independent.powers import Power
from independent.reals import exp, interval


class Learned:
    def __init__(self, scheme):
        self.scheme = scheme

    def row(self, position, table, _):
        s = self.scheme
        width, index = s["width"], int(position) + s["offset"]
        if index == s["padding_index"] or (s["beyond"] == "zero" and index >= s["rows"]):
            return [ZERO] * width
        return [ball_of_float(value) for value in table[index * width:(index + 1) * width]]


class Sincos2d:
    def __init__(self, scheme):
        self.scheme = scheme
        self.power = Power([Fraction(scheme["base"])])

    def axis(self, index, patches, bits):
        """Sines, then cosines."""
        s = self.scheme
        at = Fraction(index) / Fraction(s["interpolation_scale"])
        if s["base_size"] is not None:
            at = at * s["base_size"] / patches
        turns = []
        quarter = s["width"] // 4
        for k in range(quarter):
            exponents = [Fraction(-k, quarter)]
            exact = self.power.rational(exponents)
            if at == 0 or exact is not None:
                angle = ball_of_fraction(at * (exact or 0), bits)
            else:
                angle = ball_of_interval(interval(at) * self.power.interval(exponents))
            turns.append(cos_sin(angle, bits))
        return [sin for _, sin in turns] + [cos for cos, _ in turns]

    def row(self, position, _, bits):
        s = self.scheme
        token = int(position) - s["prefix"]
        if token < 0:
            return [ZERO] * s["width"]
        h, w = divmod(token, s["grid_w"])
        of_h, of_w = self.axis(h, s["grid_h"], bits), self.axis(w, s["grid_w"], bits)
        return of_w + of_h if s["first_axis"] == "column" else of_h + of_w


class Resampled:
    def __init__(self, scheme):
        self.scheme = scheme
        self.kept = {}

    def cubic(self, u):
        """Keys' convolution kernel with the slope a at 1."""
        a = Fraction(self.scheme["cubic"])
        if u <= 1:
            return (a + 2) * u ** 3 - (a + 3) * u ** 2 + 1
        return a * u ** 3 - 5 * a * u ** 2 + 8 * a * u - 4 * a if u < 2 else Fraction(0)

    def filter(self, u):
        u = abs(u)
        return max(1 - u, Fraction(0)) if self.scheme["filter"] == "bilinear" else self.cubic(u)

    def weights(self, axis, target):
        """{source index: weight}."""
        key = axis, target
        if key in self.kept:
            return self.kept[key]
        s = self.scheme
        size, wanted, scale = s["grid_" + axis], s["target_" + axis], s["scale_" + axis]
        if s["align_corners"]:
            step = Fraction(size - 1, wanted - 1) if wanted > 1 else Fraction(0)
            at = step * target
        else:
            step = 1 / Fraction(scale) if scale else size / (wanted + Fraction(s["offset"]))
            at = step * (target + Fraction(1, 2)) - Fraction(1, 2)
        found = {}
        if s["antialias"]:
            wide = max(step, Fraction(1))
            found = {j: self.filter((j - at) / wide) for j in range(size)}
            total = sum(found.values())
            found = {j: weight / total for j, weight in found.items()}
        else:
            base = math.floor(at)
            for j in range(base - 1, base + 3):
                edge = min(max(j, 0), size - 1)
                found[edge] = found.get(edge, 0) + self.filter(j - at)
        self.kept[key] = {j: weight for j, weight in found.items() if weight}
        return self.kept[key]

    def row(self, position, table, bits):
        s = self.scheme
        width, row = s["width"], int(position)
        if row < s["prefix"]:
            return [ball_of_float(value) for value in table[row * width:(row + 1) * width]]
        h, w = divmod(row - s["prefix"], s["target_w"])
        sums = [Fraction(0)] * width
        for i, of_h in self.weights("h", h).items():
            for j, of_w in self.weights("w", w).items():
                start = (s["prefix"] + i * s["grid_w"] + j) * width
                for channel in range(width):
                    sums[channel] += of_h * of_w * Fraction(table[start + channel])
        return [ball_of_fraction(value, bits) for value in sums]


class Cape:
    """As CAPE1d augments: the sum of all shifts as a fraction, times exp of the drawn logarithm."""

    def __init__(self, scheme):
        self.scheme = scheme
        self.power = Power([Fraction(scheme["base"])])

    def row(self, position, local_shift, bits):
        s = self.scheme
        number = {name: Fraction(s[name]) for name in (
            "position_scale", "mean", "global_shift", "log_scale", "frequency_scale")}
        shifted = (Fraction(position) * number["position_scale"] - number["mean"]
                   + number["global_shift"] + Fraction(local_shift[int(position)]))
        stretch = ball_of_interval(exp(interval(number["log_scale"]))) if s["log_scale"] else ONE
        at = shifted * number["frequency_scale"]
        values = []
        for channel in range(s["width"]):
            exponents = [Fraction(-2 * (channel // 2), s["width"])]
            rational = self.power.rational(exponents)
            if at == 0:
                angle = ZERO
            elif rational is not None:
                angle = multiply(ball_of_fraction(at * rational, bits), stretch)
            else:
                angle = multiply(ball_of_interval(interval(at) * self.power.interval(exponents)),
                                 stretch)
            cos, sin = cos_sin(angle, bits)
            values.append(cos if channel % 2 else sin)
        return values


GIVEN_ROWS = {"cape": Cape, "learned": Learned, "resampled": Resampled, "sincos2d": Sincos2d}
