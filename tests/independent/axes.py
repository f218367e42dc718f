"""Rotary schemes whose positions have several axes: which axis a pair counts, and its frequency.

Qwen2-VL's `apply_multimodal_rotary_pos_emb` and Qwen3-VL's `apply_interleaved_mrope` in
transformers, ERNIE 4.5 VL's rotary embedding there, ggml's GGML_ROPE_TYPE_MROPE and _IMROPE,
openPangu's deal in vLLM's mrope_interleaved.py (mrope);
black-forest-labs' flux `rope`, EVA-02's VisionRotaryEmbedding, Pixtral's rotary embedding, Gemma 4's
`apply_multidimensional_rope` (axial).
Axes are listed for all pairs at once, as that code slices them.
"""
from fractions import Fraction

from independent.schemes import Rope


class Mrope(Rope):
    """Frequencies of rope; time, height, width and maybe a fourth axis share the pairs."""

    def axis_count(self):
        return len(self.scheme["section"])

    def axes(self):
        section, pairs = self.scheme["section"], self.d // 2
        order = self.scheme["order"]
        if order == "contiguous":
            return [axis for axis, count in enumerate(section) for _ in range(count)]
        if order == "ernie":
            return [1, 2] * section[0] + [0] * section[2]
        if order == "openpangu":
            return dealt(section)
        interleaved = [0 if order == "interleaved" else 3] * pairs
        for axis in (1, 2) if order == "interleaved" else (0, 1, 2):
            taken = range(pairs)[axis:3 * section[axis]:3]
            interleaved[axis:3 * section[axis]:3] = [axis] * len(taken)
        return interleaved


def dealt(section):
    """Of three axes the first gives a pair away, which comes last."""
    ends_with_time = len(section) == 3
    left = {axis: [Fraction(k, count) for k in range(count)]  # its share before each of its pairs
            for axis, count in enumerate([section[0] - ends_with_time, *section[1:]])}
    axes = []
    while any(left.values()):
        others = [axis for axis in left if left[axis] and axes[-1:] != [axis]]
        axis = min(others or [axis for axis in left if left[axis]], key=lambda a: (left[a][0], a))
        left[axis].pop(0)
        axes.append(axis)
    return axes + [0] * ends_with_time


class Axial(Rope):
    """One block of pairs an axis."""

    def axis_count(self):
        return len(self.scheme["section"])

    def axes(self):
        return [axis for axis, count in enumerate(self.scheme["section"]) for _ in range(count)]

    def exponents(self, i):
        section = self.scheme["section"]
        axis = self.axes()[i]
        inside = i - sum(section[:axis])
        if self.scheme["frequency_index"] == "alternating":
            # All exponents of one series, dealt to the axes in turn.
            series = [Fraction(-2 * k, self.d) for k in range(self.d // 2)]
            return [series[axis::len(section)][inside]]
        width = 2 * section[axis]  # channels of the axis
        return [Fraction(-2 * inside, width)]


SEVERAL_AXES = {"mrope": Mrope, "axial": Axial}
