"""The equations of the rotary schemes, from the papers.

Su et al., arXiv:2104.09864, eqs. 13-16 (rope); Chen et al., arXiv:2306.15595, eq. 4 (linear); Peng
et al., arXiv:2309.00071, eqs. 14-16 (ntk), sec. 3.3 (dynamic), eqs. 17-22 and the ramp that all
deployed code shares (yarn); Meta's llama-models `apply_scaling` (llama3); Su, kexue.fm/archives/9706
(ntk fixed and mixed); QwenLM's get_ntk_alpha (ntk qwen); Ding et al., arXiv:2402.13753, and Phi-3's
code (longrope); transformers' rope type proportional.
"""
import math
from fractions import Fraction

from mpmath import iv

from independent.powers import Power, perfect_power
from independent.reals import clamp, exp, floor, interval, less, minus


class Refused(Exception):
    """The scheme has no meaning with these parameters."""


# Each scheme gives bases and exponents of the unscaled frequency, and what multiplies it.

class Rope:
    """frequency_i = base^(-2i/d)."""

    def __init__(self, scheme):
        self.scheme = scheme
        self.d = scheme["rotary_dim"]
        self.power = Power(self.bases())

    def axis_count(self):
        return 1

    def axes(self):
        """The axis of the position that each pair counts."""
        return [0] * (self.d // 2)

    def bases(self):
        return [Fraction(self.scheme["base"])]

    def exponents(self, i):
        return [Fraction(-2 * i, self.d)]

    def multiplier(self, i):
        return Fraction(1)

    def magnitude(self):
        return Fraction(1)

    def softmax_multiplier(self):
        return Fraction(1)

    def unscaled(self, i):
        exact = self.power.rational(self.exponents(i))
        return self.power.interval(self.exponents(i)) if exact is None else exact


class Linear(Rope):
    """frequency_i / s."""

    def multiplier(self, i):
        return 1 / Fraction(self.scheme["factor"])


class Ntk(Rope):
    """(b s^(d/(d-2)))^(-2i/d) = b^(-2i/d) s^(-2i/(d-2)), or naively (b s)^(-2i/d), or fixed
    b^(-2i/d) s^(-2(i+1)/d); mixed b^(-2i/d) s^-((2(i+1)/d)^B)."""

    def bases(self):
        factor = Fraction(self.scheme["factor"])
        if self.scheme["form"] == "dynamic":
            trained = self.scheme["trained_length"]
            factor = factor * max(self.scheme["length"], trained) / trained - (factor - 1)
        elif self.scheme["form"] == "qwen":
            ratio = Fraction(self.scheme["length"], self.scheme["trained_length"])
            factor = Fraction(2 * next(2 ** k for k in range(41) if 2 ** k >= ratio) - 1)
        return [Fraction(self.scheme["base"]), factor]

    def exponents(self, i):
        form = self.scheme["form"]
        stretch = {"naive": Fraction(-2 * i, self.d), "mixed": self.mixed(i),
                   "fixed": Fraction(-2 * (i + 1), self.d)}.get(form)
        if stretch is None:
            stretch = Fraction(-2 * i, self.d - 2)
        return [Fraction(-2 * i, self.d), stretch]

    def mixed(self, i):
        """The exponent of s where it is rational, else 0: the rest is the multiplier's."""
        part, b = Fraction(2 * (i + 1), self.d), self.scheme["mixed_exponent"]
        if b is None or (b not in (0, 1) and part != 1):
            return Fraction(0)
        return -part if b else Fraction(-1)

    def multiplier(self, i):
        if self.scheme["form"] != "mixed" or self.mixed(i) or self.scheme["factor"] == 1:
            return Fraction(1)
        part = interval(Fraction(2 * (i + 1), self.d))
        share = exp(interval(Fraction(self.scheme["mixed_exponent"])) * iv.log(part))
        return exp(-share * iv.log(interval(Fraction(self.scheme["factor"]))))


class Llama3(Rope):
    """Kept where the pair makes more than high_frequency_factor turns in the original length,
    divided by s below low_frequency_factor, between them the weighted mean."""

    def multiplier(self, i):
        shrunk = 1 / Fraction(self.scheme["factor"])
        if shrunk == 1:
            return shrunk
        turns = interval(self.unscaled(i)) * self.scheme["original_length"] / (2 * iv.pi)
        low = Fraction(self.scheme["low_frequency_factor"])
        high = Fraction(self.scheme["high_frequency_factor"])
        if less(high, turns):
            return Fraction(1)
        if less(turns, low):
            return shrunk
        return mean(shrunk, (turns - interval(low)) / interval(high - low))


class LongRope(Rope):
    """frequency_i / F_i, F the long list beyond the original length, else the short one."""

    def regime(self, name):
        s = self.scheme
        beyond = s["length"] is not None and s["length"] > s["original_length"]
        return s[("long_" if beyond else "short_") + name]

    def multiplier(self, i):
        factors = self.regime("factor")
        return Fraction(1) if factors is None else 1 / Fraction(factors[i])

    def magnitude(self):
        """sqrt(1 + ln s/ln L0), found to be rational by powers: s^m = L0^n."""
        s = self.scheme
        given = s["attention_factor"]
        if given is None:
            given = self.regime("mscale")
        if given is not None:
            return Fraction(given)
        factor, length = Fraction(s["factor"]), s["original_length"]
        if factor <= 1:
            return Fraction(1)
        if factor.denominator == 1:
            # Both powers of one number that is none itself.
            bases = [perfect_power(int(factor)), perfect_power(length)]
            if bases[0][0] == bases[1][0]:
                self.magnitude_squared = 1 + Fraction(bases[0][1], bases[1][1])
                return (rational_root(self.magnitude_squared) or
                        iv.sqrt(interval(self.magnitude_squared)))
        return iv.sqrt(1 + iv.log(interval(factor)) / iv.log(interval(Fraction(length))))


class Proportional(Rope):
    """frequency_i / s for the first int(f * d // 2) pairs, 0 for the others."""

    def multiplier(self, i):
        turning = int(self.scheme["proportion"] * self.d // 2)
        return 1 / Fraction(self.scheme["factor"]) if i < turning else Fraction(0)

    def unscaled(self, i):
        return super().unscaled(i) if self.multiplier(i) else Fraction(1)


class Yarn(Rope):
    """Kept below the ramp's low end, divided by s above its high end, the weighted mean between."""

    def __init__(self, scheme):
        super().__init__(scheme)
        self.ramps = {}

    def pair_with_turns(self, turns):
        s = self.scheme
        wavelengths = s["original_length"] / (2 * iv.pi * interval(Fraction(turns)))
        return self.d * iv.log(wavelengths) / (2 * iv.log(interval(Fraction(s["base"]))))

    def stretch(self):
        """s, of two lengths in the dynamic form."""
        s = self.scheme
        if s["length"] is None:
            return Fraction(s["factor"])
        return max(Fraction(s["length"], s["original_length"]), Fraction(1))

    def ramp(self):
        """Low end and width; none over turns."""
        if self.scheme["ramp"] == "turns":
            return None
        if iv.prec not in self.ramps:
            self.ramps[iv.prec] = self.ramp_of(self.scheme)
        return self.ramps[iv.prec]

    def ramp_of(self, s):
        low = self.pair_with_turns(s["beta_fast"])
        high = low if s["beta_slow"] == s["beta_fast"] else self.pair_with_turns(s["beta_slow"])
        if s["truncate"]:  # neither is an integer: pi would be algebraic
            low, high = floor(low), floor(high) + 1
        if less(low, Fraction(0)):
            low = Fraction(0)
        if less(Fraction(self.d - 1), high):
            high = Fraction(self.d - 1)
        if low is high or (isinstance(low, Fraction) and low == high):
            return low, Fraction(1, 1000)
        if less(high, low):
            if s["inverted_ramp"] == "refuse":
                raise Refused
            if s["inverted_ramp"] == "ggml":
                return low, Fraction(1, 1000)
        return low, minus(high, low)

    def multiplier(self, i):
        s = self.scheme
        shrunk, kept = 1 / self.stretch(), Fraction(s["extrapolation_factor"])
        ramp = self.ramp()
        if shrunk == 1 or kept == 0:
            return shrunk
        if s["ramp"] == "turns":
            gamma = self.gamma(i)
            if isinstance(gamma, Fraction):
                return mean(shrunk, gamma * kept)
            return mean(shrunk, gamma * interval(kept))
        low, width = ramp
        along = minus(Fraction(i), low)
        if along == 0:
            return mean(shrunk, kept)
        if isinstance(along, Fraction) and isinstance(width, Fraction):
            return mean(shrunk, (1 - clamp(along / width)) * kept)
        along = clamp(interval(along) / interval(width))
        if isinstance(along, Fraction):
            return mean(shrunk, (1 - along) * kept)
        return mean(shrunk, (1 - along) * interval(kept))

    def gamma(self, i):
        """(r - alpha)/(beta - alpha) within 0..1, r the turns of the pair; eqs. 17-18."""
        s = self.scheme
        turns = interval(self.unscaled(i)) * s["original_length"] / (2 * iv.pi)
        alpha, beta = Fraction(s["beta_slow"]), Fraction(s["beta_fast"])
        if less(beta, turns):
            return Fraction(1)
        if less(turns, alpha):
            return Fraction(0)
        return (turns - interval(alpha)) / interval(beta - alpha)

    def temperature(self, mscale, coefficient=Fraction(1, 10)):
        """g(s, m)."""
        s, mscale = self.stretch(), Fraction(mscale)
        if s <= 1 or mscale == 0:
            return Fraction(1)
        return 1 + interval(coefficient * mscale) * iv.log(interval(s))

    def magnitude(self):
        s = self.scheme
        if s["attention_factor"] is not None:
            return Fraction(s["attention_factor"])
        top, bottom = s["mscale"], s["mscale_all_dim"]
        if s["magnitude"] == "none":
            ratio = Fraction(1)
        elif s["magnitude"] == "telechat3":
            ratio = self.temperature(1, Fraction(7, 100))
        else:
            if s["magnitude"] == "deepseek":
                top, bottom = (1 if top is None else top), (0 if bottom is None else bottom)
            elif not top or not bottom:
                top, bottom = 1, 0
            if top == bottom:
                ratio = Fraction(1)
            else:
                ratio = self.temperature(top)
                below = self.temperature(bottom)
                ratio = ratio if below == 1 else interval(ratio) / interval(below)
        multiplier = Fraction(s["attention_multiplier"])
        if isinstance(ratio, Fraction):
            return ratio * multiplier
        return ratio * interval(multiplier)

    def softmax_multiplier(self):
        """DeepSeek's code for its own models: g(s, mscale_all_dim)^2 where it is given, beside the
        ratio in cos and sin; in the official inference code, which rotates purely, g(s, mscale)^2.
        """
        s = self.scheme
        mscale = {"deepseek": s["mscale_all_dim"], "none": s["mscale"]}.get(s["magnitude"])
        gain = self.temperature(mscale or 0)
        return gain * gain


def mean(shrunk, weight):
    """shrunk (1 - weight) + weight."""
    if isinstance(weight, Fraction):
        return shrunk + weight * (1 - shrunk)
    return interval(shrunk) + weight * interval(1 - shrunk)


def rational_root(x):
    """sqrt(x) if that is rational, else None."""
    n, d = math.isqrt(x.numerator), math.isqrt(x.denominator)
    return Fraction(n, d) if (n * n, d * d) == (x.numerator, x.denominator) else None


SCHEMES = {"rope": Rope, "linear": Linear, "ntk": Ntk, "llama3": Llama3, "yarn": Yarn,
           "longrope": LongRope, "proportional": Proportional}
