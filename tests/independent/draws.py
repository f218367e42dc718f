"""Questions to the reference: random parameters and inputs, and the edges of every scheme."""
import collections
import math
import random
import struct
from fractions import Fraction

from independent.attention_draws import AttentionDraw
from independent.given_rows_draws import GivenRowsDraw
from independent.oracle import (ADDITIONS, ATTENTIONS, FORMATS, GIVEN_ROWS, SCHEMES,
                                SEVERAL_AXES)
from independent.windows_draws import WindowsDraw

DTYPES = list(FORMATS)
QUANTITIES = ["frequencies", "magnitude", "softmax_multiplier", "table", "rotate",
              "rotate_backward", "scores"]
OF_ADDITIONS = ["frequencies", "table", "embed"]
# Beyond scores and attention.
OF_ATTENTIONS = {"alibi": ["slopes", "bias"], "t5": ["buckets", "bias"], "kerple": ["bias"],
                 "sandwich": ["bias"], "fire": ["bias"], "deberta": ["buckets"],
                 "swin": ["buckets", "bias"], "swin2": ["bias"]}
LONGEST = 1 << 40


def quantities_of(name):
    if name in ATTENTIONS:
        return OF_ATTENTIONS.get(name, []) + ["scores", "attention"]
    if name in GIVEN_ROWS:
        return ["table", "embed"]
    return OF_ADDITIONS if name in ADDITIONS else QUANTITIES


class Draw(AttentionDraw, GivenRowsDraw, WindowsDraw):
    """Random parameters and inputs, edges included."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def log_uniform(self, low, high):
        return math.exp(self.random.uniform(math.log(low), math.log(high)))

    def one_of(self, *choices):
        """A choice; a callable one is called."""
        choice = self.random.choice(choices)
        return choice() if callable(choice) else choice

    def rotary(self, widest, narrowest=2):
        r = self.random
        d = min(widest, max(narrowest, 2 * round(self.log_uniform(1, 128))))
        h, offset = self.one_of(
            (d, 0), (d, 0),
            (d + r.randint(1, d), 0),          # prefix
            lambda: (d + (n := r.randint(1, d)), n),  # suffix
            lambda: (d + 2 + (n := r.randint(1, d)), r.randint(1, n)))
        return {"head_dim": h, "rotary_dim": d, "rotary_offset": offset,
                "pairing": r.choice(["half", "interleaved"]),
                "direction": self.one_of("counterclockwise", "counterclockwise", "clockwise"),
                "base": self.base(d)}

    def base(self, d):
        """Above 1."""
        r = self.random
        return float(self.one_of(
            10000, 500000, 1000000, 150000,
            lambda: self.log_uniform(2, 1e7), lambda: self.log_uniform(2, 1e7),
            lambda: self.log_uniform(2, 1e7), lambda: self.log_uniform(1.0001, 10),
            lambda: r.randint(2, 10 ** 7), lambda: self.log_uniform(1e7, 1e30),
            lambda: 2.0 ** r.randint(1, 40),
            lambda: 2.0 ** min(d // 2, 90),        # every frequency a power of two
            lambda: 3.0 ** min(d // 2, 18),        # every frequency rational
            lambda: (r.randint(5, 99) / 4) ** 2))  # some rational

    def any_base(self, d):
        """Also 1 and below."""
        r = self.random
        return float(self.one_of(*[lambda: self.base(d)] * 5, 1, 0.5, 0.25,
                                 lambda: self.log_uniform(1e-4, 1),
                                 lambda: 2.0 ** -min(d // 2, 90),
                                 lambda: self.log_uniform(1e-30, 1)))

    def factor(self, low):
        r = self.random
        return float(self.one_of(
            1, 2, 4, 8, 16, 32, 40, 3, lambda: r.uniform(1, 64), lambda: r.uniform(1, 64),
            lambda: self.log_uniform(max(low, 1e-6), 1e6), 1 + 2.0 ** -52, 1e6,
            *([0.5, 0.1, 1e-6, lambda: r.uniform(0.1, 1)] if low < 1 else [])))

    def length(self):
        r = self.random
        return self.one_of(4096, 8192, 32768, 131072, 2048, lambda: r.randint(1, 64),
                           lambda: round(self.log_uniform(1, 1e7)), 1, LONGEST)

    # One scheme each, every field present.

    def rope(self, widest):
        rotary = self.rotary(widest)
        return {"scheme": "rope", **rotary, "base": self.any_base(rotary["rotary_dim"])}

    def mrope(self, widest):
        r = self.random
        scheme = {**self.rope(widest), "scheme": "mrope"}
        pairs = scheme["rotary_dim"] // 2
        order = self.one_of("contiguous", "interleaved", "ernie", "interleaved_ggml", "openpangu")
        if order == "ernie":
            each = self.one_of(pairs // 3, lambda: r.randint(0, pairs // 2))
            return {**scheme, "section": [each, each, pairs - 2 * each], "order": order}
        if order == "openpangu":
            section = self.section(pairs, r.choice([2, 3]))
            # The first of three axes has a pair.
            if len(section) == 3 and section[0] == 0:
                section = [pairs - section[1], section[1], 0]
                section = section if section[0] else section[1::-1] + [0]
            return {**scheme, "section": section, "order": order}
        count = {"interleaved": 3, "interleaved_ggml": 4}.get(order, r.choice([3, 4]))
        return {**scheme, "section": self.section(pairs, count), "order": order}

    def axial(self, widest):
        scheme = {**self.rope(widest), "scheme": "axial"}
        pairs = scheme["rotary_dim"] // 2
        count = self.random.randint(2, 4)
        section = self.section(pairs, count)
        equal = all(entry == section[0] for entry in section)
        index = self.one_of("restarting", "alternating") if equal else "restarting"
        pairing = self.one_of(scheme["pairing"], scheme["pairing"], "half_per_axis")
        return {**scheme, "pairing": pairing, "section": section, "frequency_index": index}

    def section(self, pairs, count):
        """Even where that goes, or cut anywhere."""
        if pairs % count == 0 and self.random.random() < 0.5:
            return [pairs // count] * count
        cuts = sorted(self.random.randint(0, pairs) for _ in range(count - 1))
        return [end - begin for begin, end in zip([0, *cuts], [*cuts, pairs])]

    def linear(self, widest):
        return {**self.rope(widest), "scheme": "linear", "factor": self.factor(0)}

    def ntk(self, widest):
        form = self.one_of("aware", "naive", "dynamic", "qwen", "fixed", "mixed")
        any_width = form in ("naive", "fixed", "mixed")
        rotary = self.rotary(max(widest, 4), 2 if any_width else 4)
        scheme = {"scheme": "ntk", **rotary, "base": self.any_base(rotary["rotary_dim"]),
                  "form": form, "factor": self.factor(1 if form == "dynamic" else 0),
                  "trained_length": None, "length": None, "mixed_exponent": None}
        if form == "qwen":
            scheme["factor"] = 1.0
        if form == "mixed":
            scheme["mixed_exponent"] = float(self.one_of(
                0, 1, 0.625, lambda: self.random.uniform(0, 1), lambda: self.random.uniform(0, 2)))
        if form in ("dynamic", "qwen"):
            trained = self.length()
            scheme["trained_length"] = trained
            scheme["length"] = min(LONGEST, self.one_of(
                trained, trained + 1, trained - 1, 0, 2 * trained, 8 * trained,
                4 * trained, 4 * trained + 1,
                round(scheme["factor"]) * trained, lambda: round(self.log_uniform(1, 1e8))))
        return scheme

    def longrope(self, widest):
        r = self.random
        rotary = self.rotary(widest)
        pairs = rotary["rotary_dim"] // 2
        # Powers of one number have rational logarithms of each other.
        power = r.choice([2, 3, 10])
        original = max(2, self.one_of(self.length, self.length,
                                      lambda: power ** r.randint(1, 12)))
        factor = self.one_of(lambda: self.factor(0), lambda: self.factor(0),
                             lambda: float(power ** r.randint(0, 6)), 32768.0)

        def factors():
            return [float(self.one_of(1, 2, 4, 1.05, lambda: r.uniform(1, 64),
                                      lambda: self.log_uniform(1e-6, 1e6))) for _ in range(pairs)]

        short, long = self.one_of((None, None), (factors(), None), (factors(), factors()),
                                  (factors(), factors()), ([1.0] * pairs, factors()))
        length = self.one_of(original, original + 1, original - 1, 0, 2 * original,
                             lambda: round(self.log_uniform(1, 1e8)))
        attention = self.one_of(None, None, None, 1.0, lambda: r.uniform(0.1, 3))
        scale = attention is None and r.random() < 0.3
        unset = short is None and long is None and not scale
        return {"scheme": "longrope", **rotary, "base": self.any_base(rotary["rotary_dim"]),
                "short_factor": short, "long_factor": long, "original_length": original,
                "length": None if unset else min(LONGEST, length), "factor": factor,
                "attention_factor": attention,
                "short_mscale": r.uniform(0.5, 2) if scale else None,
                "long_mscale": 1.243163121016122 if scale else None}

    def proportional(self, widest):
        r = self.random
        return {**self.rope(widest), "scheme": "proportional",
                "proportion": float(self.one_of(0.25, 0.5, 0.75, 0, 1, 0.29, r.random)),
                "factor": self.factor(0)}

    def llama3(self, widest):
        r = self.random
        rotary = self.rotary(widest)
        scheme = {"scheme": "llama3", **rotary, "base": self.any_base(rotary["rotary_dim"]),
                  "factor": self.factor(1), "original_length": self.length()}
        # Or where some pair stands, or nearly: its turns over the original length.
        at = self.turns(scheme, r.randrange(rotary["rotary_dim"] // 2))
        low = float(self.one_of(1, 1, 2, lambda: self.log_uniform(1e-3, 100), 1e-6,
                                at, at * (1 + 2.0 ** -40), at * (1 - 2.0 ** -40)))
        low = min(max(low, 1e-6), 1e6)
        high = float(self.one_of(4, low, low * (1 + 2.0 ** -30),
                                 lambda: low * self.log_uniform(1, 100),
                                 at, at * (1 + 2.0 ** -40), at * (1 - 2.0 ** -40)))
        return {**scheme, "low_frequency_factor": low,
                "high_frequency_factor": max(low, min(high, 1e6))}

    @staticmethod
    def turns(scheme, pair):
        """That a pair, also a fractional one, makes over the original length."""
        frequency = scheme["base"] ** (-2 * pair / scheme["rotary_dim"])
        return scheme["original_length"] * frequency / (2 * math.pi)

    def yarn(self, widest):
        r = self.random
        scheme = {"scheme": "yarn", **self.rotary(widest), "original_length": self.length()}
        # Or where some pair stands nearly, closer than the width of a step.
        pair = r.randrange(scheme["rotary_dim"] // 2)
        at = [self.turns(scheme, pair + off) for off in (-0.0007, -0.0003, 2.0 ** -40, -2.0 ** -40)]
        slow = float(self.one_of(1, 1, 1, 2, lambda: self.log_uniform(1e-3, 100), 1e-6, *at))
        slow = min(max(slow, 1e-6), 1e6)
        fast = float(self.one_of(32, 32, 32, slow, slow, slow * (1 + 2.0 ** -40), *at,
                                 lambda: slow * self.log_uniform(1, 1000)))
        mscales = (None, 0.0, 1.0, 0.707, lambda: r.uniform(0, 3))
        mscale = self.one_of(*mscales)
        ramp = self.one_of("pairs", "pairs", "turns")
        if ramp == "turns" and r.random() < 0.2:
            scheme["base"] = self.any_base(scheme["rotary_dim"])
        current = self.one_of(None, None, scheme["original_length"], scheme["original_length"] + 1,
                              0, 16 * scheme["original_length"],
                              lambda: round(self.log_uniform(1, 1e8)))
        return {**scheme, "factor": self.factor(1) if current is None else 1.0, "ramp": ramp,
                "length": None if current is None else min(current, LONGEST),
                "beta_fast": max(slow, min(fast, 1e6)), "beta_slow": slow,
                "truncate": r.random() < 0.6,
                "extrapolation_factor": float(self.one_of(1, 1, 1, 0, 0.5, r.random)),
                "magnitude": self.one_of("huggingface", "deepseek", "telechat3", "none"),
                "attention_multiplier": float(self.one_of(1, 1, 0.5, lambda: r.uniform(0.1, 3))),
                "attention_factor": self.one_of(None, None, None, 1.0, lambda: r.uniform(0.1, 3)),
                "mscale": mscale, "mscale_all_dim": self.one_of(mscale, *mscales),
                "inverted_ramp": self.one_of("refuse", "huggingface", "ggml")}

    def sinusoidal(self, widest):
        r = self.random
        d = min(widest, max(2, round(self.log_uniform(2, 256))))
        layout = r.choice(["interleaved", "halves", "flipped"])
        odd_width, shift = "refuse", None
        if d % 2 == 1:
            zero = layout == "flipped" or (layout == "halves" and r.random() < 0.5)
            odd_width = "zero" if zero else "extra_sine"
            if zero:
                shift = r.randrange(0, min(d // 2, 3))
        elif r.random() < 0.5:
            shift = r.randrange(0, min(d // 2, 3))
        return {"scheme": "sinusoidal", "width": d, "layout": layout, "frequency_shift": shift,
                "odd_width": odd_width, "base": self.base(d),
                "scale": float(self.one_of(1, 1, 1000, 0.5, lambda: self.log_uniform(1e-3, 1e3))),
                "start": self.one_of(0, 0, 1, 2, -3, lambda: r.randint(-4096, 4096)),
                "padding_index": self.one_of(None, None, 0, 1)}

    def row_positions(self, scheme, count):
        """Positions that plus the start are binary64 numbers, the padding row often among them."""
        start, padding, drawn = scheme["start"], scheme["padding_index"], []
        while len(drawn) < count:
            p = self.position()
            if padding is not None and self.random.random() < 0.25:
                p = float(padding - start)
            if Fraction(p) + start == Fraction(p + start):
                drawn.append(p)
        return drawn

    def position(self):
        r = self.random
        return float(self.one_of(
            0, -0.0, 1, -1, lambda: r.randint(0, 4096), lambda: r.randint(0, 1 << 17),
            lambda: r.randint(0, 1 << 31), lambda: -r.randint(1, 1 << 31),
            lambda: 2 ** r.randint(1, 31) + r.randint(-1, 1), 2 ** 31, 2 ** 24 + 1, 2 ** 53,
            lambda: r.uniform(0, 1 << 20), lambda: r.randint(-10 ** 6, 10 ** 6) / 8,
            lambda: self.log_uniform(1e-12, 1),
            # cos p and 1 differ by p^2/2: much smaller ones are beyond the reference's 1025 bits.
            lambda: self.log_uniform(1e-40, 1e15)))

    def positions(self, count, axes=1):
        """[count, axes], flat. Of several axes all alike, one alone, or each its own."""
        drawn = []
        for _ in range(count):
            position = self.position()
            row = self.one_of(
                [position] * axes,
                lambda: [self.position() for _ in range(axes)],  # pylint: disable=cell-var-from-loop
                lambda: self.alone(position, axes)) if axes > 1 else [position]
            drawn += row
        return drawn

    def alone(self, position, axes):
        at = self.random.randrange(axes)
        return [position if axis == at else 0.0 for axis in range(axes)]

    def vector(self, size, finite=False):
        """Elements of one kind each, or mixed. Finite ones for scores spare the smallest numbers:
        products of them break ties that more than the reference's 1025 bits are needed to see."""
        r = self.random
        tiny = [-149, -24] if finite else [-1074, -149, -24]

        def bits():
            number = struct.unpack("<d", r.getrandbits(64).to_bytes(8, "little"))[0]
            return number if math.isfinite(number) else 1.0

        kinds = [lambda: r.gauss(0, 1), lambda: r.randint(-512, 512) / 32,
                 lambda: r.gauss(0, 1) * 2.0 ** r.randint(-160, 140),
                 lambda: r.gauss(0, 1) * 2.0 ** r.randint(-30, 20), bits,
                 lambda: r.choice([0.0, -0.0, 1.0, -1.0, r.gauss(0, 1)]),
                 lambda: r.choice([-1, 1]) * r.randint(1, 99) * 2.0 ** r.choice(tiny),
                 lambda: r.choice([-1, 1]) * (2.0 ** 16 - 2.0 ** r.randint(3, 5))]
        special = [lambda: r.choice([math.nan, math.inf, -math.inf, 1.0, -0.0, 0.5, 3.0, 2e-3])]
        kind = r.choice(kinds[:4] + kinds + (kinds if finite else special))
        if r.random() < 0.2:
            return [r.choice(kinds)() for _ in range(size)]
        return [kind() for _ in range(size)]

    def embedding(self, size):
        """A vector, in which numbers below 2^-500 are 0: what they add to a sine needs more bits
        than the reference has."""
        return [x if not abs(x) < 2.0 ** -500 else 0.0 for x in self.vector(size)]


# Parameters where something switches, each with the fields that make it; the rest is drawn.
WIDE = {"head_dim": 64, "rotary_dim": 64, "rotary_offset": 0}
EDGES = {
    "sinusoidal": [
        {"width": 2, "layout": "interleaved", "frequency_shift": None, "odd_width": "refuse"},
        {"width": 2, "layout": "halves", "frequency_shift": 0, "odd_width": "refuse"},
        {"width": 3, "layout": "halves", "frequency_shift": 0, "odd_width": "zero"},
        {"width": 3, "layout": "interleaved", "frequency_shift": None, "odd_width": "extra_sine"},
        {"base": 1.0}, {"scale": 1e6}, {"start": LONGEST}, {"start": 2, "padding_index": 1},
        {"width": 26, "base": 2.0 ** 24, "layout": "halves", "frequency_shift": 1,
         "odd_width": "refuse"}],
    "rope": [{"base": 1.0}, {"base": 0.5}, {"base": 2.0, "rotary_dim": 2, "head_dim": 2},
             {"rotary_dim": 0, "head_dim": 8, "rotary_offset": 3},
             {"base": 2.0 ** 24, "rotary_dim": 96, "head_dim": 96}],
    "mrope": [{"section": section, "order": order, "head_dim": 128, "rotary_dim": 128,
               "rotary_offset": 0}
              for section, order in (([16, 24, 24], "contiguous"), ([16, 24, 24], "interleaved"),
                                     ([24, 20, 20], "interleaved"), ([22, 22, 20], "ernie"),
                                     ([24, 20, 20, 0], "interleaved_ggml"),
                                     ([16, 24, 24], "openpangu"), ([40, 24], "openpangu"),
                                     ([1, 0, 63], "openpangu"),
                                     ([16, 16, 16, 16], "contiguous"), ([0, 0, 64], "contiguous"))]
             + [{"section": [0, 0, 0], "order": "contiguous", "rotary_dim": 0, "head_dim": 8,
                 "rotary_offset": 3}],
    "axial": [{"section": section, "frequency_index": index, "head_dim": 128, "rotary_dim": 128,
               "rotary_offset": 0}
              for section, index in (([8, 28, 28], "restarting"), ([32, 32], "restarting"),
                                     ([32, 32], "alternating"), ([0, 64], "restarting"),
                                     ([16, 16, 16, 16], "alternating"))]
             + [{"section": section, "frequency_index": "restarting", "head_dim": 72, "base": 100.0,
                 "rotary_dim": 72, "rotary_offset": 0, "pairing": "half_per_axis"}
                for section in ([18, 18], [0, 36], [1, 34, 1])],
    "linear": [{"factor": 1.0}, {"base": 1.0, "factor": 3.0}, {"factor": 2.0 ** 19, "base": 2.0}],
    "ntk": [{"form": "aware", "factor": 1.0, "trained_length": None, "length": None,
             "mixed_exponent": None, **WIDE},
            *({"form": "dynamic", "factor": factor, "trained_length": 4096, "length": length,
               "mixed_exponent": None, **WIDE}
              for factor in (1.0, 2.0, 8.0) for length in (0, 4095, 4096, 4097, 32768)),
            *({"form": "qwen", "factor": 1.0, "trained_length": 4096, "length": length,
               "mixed_exponent": None, **WIDE}
              for length in (0, 1, 4095, 4096, 4097, 8192, 8193, 16384, LONGEST)),
            *({"form": "mixed", "factor": factor, "trained_length": None, "length": None,
               "mixed_exponent": exponent, **WIDE}
              for factor in (1.0, 8.0) for exponent in (0.0, 0.625, 1.0)),
            {"form": "fixed", "factor": 2.0, "trained_length": None, "length": None, "base": 2.0 ** 7,
             "mixed_exponent": None, "head_dim": 8, "rotary_dim": 8, "rotary_offset": 0}],
    "longrope": [{"factor": factor, "original_length": length, "attention_factor": None,
                  "short_mscale": None, "long_mscale": None}
                 for factor, length in ((32768.0, 4096), (512.0, 65536), (27.0, 3), (4096.0, 4096),
                                        (1.0, 2), (1000.0, 10), (32.0, 4096))],
    "proportional": [{"proportion": 0.0}, {"proportion": 1.0, "factor": 1.0},
                     {"proportion": 0.29, "head_dim": 100, "rotary_dim": 100, "rotary_offset": 0},
                     {"proportion": 0.75, "head_dim": 6, "rotary_dim": 6, "rotary_offset": 0}],
    "llama3": [{"factor": 1.0}, {"low_frequency_factor": 1.0, "high_frequency_factor": 1.0},
               {"base": 1.0}, {"base": 1.0, "original_length": 1}],
    "yarn": [{"ramp": "pairs", "length": None, "base": 500000.0, **edge} for edge in (
        {"factor": 1.0}, {"beta_fast": 1.0, "beta_slow": 1.0, "truncate": True},
        {"beta_fast": 1.0, "beta_slow": 1.0, "truncate": False},
        {"extrapolation_factor": 0.0},
        # An inverted ramp at either end, and one whose two ends are clamped to 0.
        *({"base": 10.0, "original_length": length, "inverted_ramp": rule, "truncate": truncate,
           **WIDE}
          for length in (32768, 1) for rule in ("refuse", "huggingface", "ggml")
          for truncate in (True, False)),
        {"base": 10000.0, "original_length": 6, **WIDE},
        {"ramp": "turns", "beta_fast": 1.0, "beta_slow": 1.0},
        {"ramp": "turns", "base": 1.0}, {"ramp": "turns", "base": 0.5},
        *({"factor": 1.0, "original_length": 4096, "length": length, "ramp": ramp, **WIDE}
          for length in (0, 4095, 4096, 4097, 65536) for ramp in ("pairs", "turns")))],
}


def questions(draw, least):
    """Edges and then draws, until every cell (scheme, quantity) has at least `least` values. To be
    sent the number of values of each answer, None where the scheme is refused."""
    for name in [*SCHEMES, *ADDITIONS, *GIVEN_ROWS, *ATTENTIONS]:
        have, quantities = collections.Counter(), quantities_of(name)
        edges = list(EDGES.get(name, []))
        while edges or any(have[quantity] < least for quantity in quantities):
            few = not edges and all(have[quantity] >= least for quantity in quantities
                                    if quantity not in ("magnitude", "softmax_multiplier"))
            scheme = getattr(draw, name)(2 if few else 256)
            if edges:
                scheme.update(edges.pop())
                if name in SCHEMES and scheme["rotary_offset"] + scheme["rotary_dim"] > scheme["head_dim"]:
                    scheme["rotary_offset"] = 0
                    scheme["head_dim"] = max(scheme["head_dim"], scheme["rotary_dim"])
            refused = False
            for quantity in quantities:
                dtypes = [draw.random.choice(DTYPES)]
                if quantity in ("magnitude", "softmax_multiplier"):
                    dtypes = DTYPES
                elif few or have[quantity] >= least:
                    continue
                elif quantity == "buckets":
                    dtypes = ["f64"]  # integers, which every other dtype would round
                for dtype in dtypes:
                    question = {"scheme": scheme, "quantity": quantity, "dtype": dtype,
                                **inputs(draw, scheme, quantity)}
                    size = yield question
                    have[quantity] += size or 0
                    refused = size is None
                if refused:
                    break


def inputs(draw, scheme, quantity):
    r = draw.random
    if scheme["scheme"] in ATTENTIONS:
        return draw.attention_inputs(scheme, quantity)
    if scheme["scheme"] in GIVEN_ROWS:
        return draw.given_rows_inputs(scheme, quantity)
    if scheme["scheme"] in ADDITIONS:
        rows = r.randint(1, 3)
        positions = draw.row_positions(scheme, rows)
        if quantity == "table":
            return {"positions": positions}
        if quantity == "embed":
            # The smallest numbers beside a sine are beyond the reference's 1025 bits.
            return {"positions": positions, "x": draw.embedding(rows * scheme["width"])}
        return {}
    h = scheme["head_dim"]
    axes = len(scheme["section"]) if scheme["scheme"] in SEVERAL_AXES else 1
    if quantity == "table":
        return {"positions": draw.positions(r.randint(1, 4), axes)}
    if quantity.startswith("rotate"):
        rows, heads = r.randint(1, 3), r.randint(1, 2)
        return {"positions": draw.positions(rows, axes), "heads": heads,
                "x": draw.vector(rows * heads * h)}
    if quantity == "scores":
        queries, keys, heads = r.randint(1, 6), r.randint(1, 8), r.randint(1, 4)
        query_positions = draw.positions(queries, axes)
        if axes == 1:
            key_positions = [draw.one_of(draw.position, lambda: r.choice(query_positions))
                             for _ in range(keys)]
        else:
            # Each as it comes, or that of a query with one axis moved, or with none.
            key_positions = []
            for _ in range(keys):
                at = axes * r.randrange(queries)
                row = draw.one_of(draw.positions(1, axes), query_positions[at:at + axes])
                if draw.one_of(True, False):
                    row = list(row)
                    row[r.randrange(axes)] = draw.position()
                key_positions += row
        return {"query_positions": query_positions, "key_positions": key_positions, "heads": heads,
                "q": draw.vector(queries * heads * h, finite=True),
                "k": draw.vector(keys * heads * h, finite=True),
                "scale": float(draw.one_of(1, h ** -0.5, 0.125, -1, 1e-30, 0))}
    return {}
