"""Schemes of attention, by name; here those whose positions meet queries and values.

Shaw et al., arXiv:1803.02155, eqs. 3, 4; Dai et al., arXiv:1901.02860, sec. 3.3, all four terms
(transformer_xl); Golovneva et al., arXiv:2405.18719, eqs. 3-5 (cope).
"""
import math
from fractions import Fraction

from independent.attention import Plain, Waves, divide, dot, exp, total
from independent.attention_biases import Alibi, Fire, Kerple, Sandwich, T5
from independent.attention_turns import DualChunk, Mixed, Rerope, Sharpened, Xpos
from independent.ball import ONE, ZERO, add, dyadic, multiply, negate
from independent.reals import NotDecided
from independent.windows import WINDOWS


class Shaw(Plain):
    def entry(self, table, head, i, j):
        s = self.scheme
        offset = self.keys[j] - self.queries[i]
        if s["index"] == "query_minus_key":
            offset = -offset
        d, clip = s["head_dim"], s["clip"]
        if abs(offset) > clip:
            if s["outside"] == "zero":
                return [ZERO] * d
            offset = clip if offset > 0 else -clip
        row = (head if s["per_head"] else 0) * (2 * clip + 1) + int(offset) + clip
        return self.given[table][row * d:(row + 1) * d]

    def score(self, head, i, j):
        relative = dot(self.row("q", i, head), self.entry("key_table", head, i, j))
        return self.scaled(add(self.dot(head, i, j), relative))

    def value(self, head, i, j):
        plain = self.row("v", j, head)
        if not self.scheme["values"]:
            return plain
        return [add(a, b) for a, b in zip(plain, self.entry("value_table", head, i, j))]


class TransformerXl(Waves):
    def projected(self, head, offset):
        """W R_o of one head."""
        key = head, offset
        if key not in self.kept:
            s = self.scheme
            width = s["model_width"]
            turns = self.turns(offset, 0, width)
            signal = [sin for _, sin in turns] + [cos for cos, _ in turns]
            first = head * s["head_dim"] * width
            weight = self.given["position_weight"]
            self.kept[key] = [dot(weight[first + c * width:first + (c + 1) * width], signal)
                              for c in range(s["head_dim"])]
        return self.kept[key]

    def score(self, head, i, j):
        s = self.scheme
        offset = self.queries[i] - self.keys[j]
        if s["clamp_length"] is not None:
            offset = min(offset, Fraction(s["clamp_length"]))
        d = s["head_dim"]
        q, k, r = self.row("q", i, head), self.row("k", j, head), self.projected(head, offset)
        u, v = (self.given[name][head * d:(head + 1) * d]
                for name in ("content_bias", "position_bias"))
        return self.scaled(total(map(dot, (q, q, u, v), (k, r, k, r))))


class Cope(Plain):
    def score(self, head, i, j):
        return self.scores_of(head, i)[j]

    def scores_of(self, head, i):
        key = head, i
        if key not in self.kept:
            s, d = self.scheme, self.scheme["head_dim"]
            last = s["num_positions"] - 1
            q, e = self.row("q", i, head), self.given["embedding"]
            logits = [dot(q, e[n * d:(n + 1) * d]) for n in range(last + 1)]
            scores, position = [], ZERO
            for j in reversed(range(len(self.keys))):
                content = self.dot(head, i, j)
                if self.sees(i, j):
                    position = add(position, self.gate(self.scaled(content)))
                at = self.logit(logits, position, last)
                scores.append(self.scaled(add(content, at)) if s["placement"] == "before_scale"
                              else add(self.scaled(content), at))
            self.kept[key] = scores[::-1]
        return self.kept[key]

    def gate(self, logit):
        return divide(ONE, add(ONE, exp(negate(logit))), self.bits)

    @staticmethod
    def logit(logits, position, last):
        """w z[ceil] + (1 - w) z[floor]."""
        middle, radius, exponent = position
        low, high = (math.floor(dyadic(middle + end, exponent)) for end in (-radius, radius))
        if min(low, high) >= last:
            return logits[last]
        if low != high:
            raise NotDecided
        weight = add(position, (-low, 0, 0))
        return add(multiply(weight, logits[min(low + 1, last)]),
                   multiply(add(ONE, negate(weight)), logits[low]))


ATTENTIONS = {"none": Sharpened, "alibi": Alibi, "t5": T5, "kerple": Kerple, "sandwich": Sandwich,
              "fire": Fire, "shaw": Shaw, "transformer_xl": TransformerXl, "cope": Cope,
              "xpos": Xpos, "rerope": Rerope, "dual_chunk": DualChunk, "mixed": Mixed, **WINDOWS}
