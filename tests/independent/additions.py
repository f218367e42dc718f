"""Rows that are added to embeddings, from the papers and the code that follows them.

Vaswani et al., arXiv:1706.03762, sec. 3.5; tensor2tensor's get_timing_signal_1d; fairseq's
sinusoidal_positional_embedding; Marian's and DistilBERT's tables; ggml's and diffusers' timesteps.
"""
import math
from fractions import Fraction

from independent.ball import (ZERO, add, ball_of_float, ball_of_fraction, ball_of_interval, cos_sin,
                              multiply)
from independent.powers import Power
from independent.reals import interval


class Sinusoidal:
    """Channel by channel: what it holds, and of which frequency."""

    def __init__(self, scheme):
        self.scheme = scheme
        d, odd = scheme["width"], scheme["width"] % 2 == 1
        sines = cosines = d // 2
        if odd and scheme["odd_width"] == "extra_sine":
            sines += 1
        shift = scheme["frequency_shift"]
        self.denominator = Fraction(d, 2) if shift is None else Fraction(sines - shift)
        sin = [("sin", k) for k in range(sines)]
        cos = [("cos", k) for k in range(cosines)]
        if scheme["layout"] == "interleaved":
            channels = [each for pair in zip(sin, cos) for each in pair] + sin[len(cos):]
        elif scheme["layout"] == "halves":
            channels = sin + cos
        else:
            channels = cos + sin
        self.channels = channels + [None] * (d - len(channels))
        self.count = sines
        self.power = Power([Fraction(scheme["base"])])

    def frequency(self, k, bits):
        exponents = [Fraction(-k) / self.denominator]
        scale, exact = Fraction(self.scheme["scale"]), self.power.rational(exponents)
        if exact is not None:
            return ball_of_fraction(scale * exact, bits)
        return ball_of_interval(interval(scale) * self.power.interval(exponents))

    def frequencies(self, bits):
        return [self.frequency(k, bits) for k in range(self.count)]

    def row(self, position, frequencies, bits):
        index = Fraction(position) + self.scheme["start"]
        if index == self.scheme["padding_index"]:
            return [ZERO] * len(self.channels)
        at = ball_of_float(float(index))
        turns = [cos_sin(multiply(at, frequency), bits) for frequency in frequencies]
        held = {"cos": 0, "sin": 1}
        return [ZERO if channel is None else turns[channel[1]][held[channel[0]]]
                for channel in self.channels]

    def rows(self, positions, bits):
        frequencies = self.frequencies(bits)
        return [entry for p in positions for entry in self.row(p, frequencies, bits)]

    def embed(self, positions, x, bits):
        return [add(ball_of_float(value), entry) if math.isfinite(value) else value
                for value, entry in zip(x, self.rows(positions, bits))]


ADDITIONS = {"sinusoidal": Sinusoidal}
