"""Schemes of attention whose queries and keys turn: each vector by a place of its own.

Sun et al., arXiv:2212.10554, algorithm 1 (xpos); kexue.fm/archives/9708 and LlamaReRoPE of
github.com/jquesnelle/yarn (rerope); An et al., arXiv:2402.17463, sec. 2, and the tables of vLLM's
dual_chunk_rope.py (dual_chunk); Heo et al., arXiv:2403.13298, eq. 9, and compute_mixed_cis of
naver-ai/rope-vit (mixed). And none with the temperature of transformers' Llama4TextAttention.
"""
from fractions import Fraction

from mpmath import iv

from independent.attention import Plain, Waves, divide, dot, fraction
from independent.ball import (ONE, add, ball_of_fraction, ball_of_interval, cos_sin, multiply,
                              negate)
from independent.powers import Power, perfect_power


class Turning(Waves):
    def width(self):
        d = self.scheme["rotary_dim"]
        return self.scheme["head_dim"] if d is None else d

    def channels(self):
        """The pairs, and the channels that do not turn."""
        d = self.width()
        if self.scheme["pairing"] == "half":
            pairs = [(i, i + d // 2) for i in range(d // 2)]
        else:
            pairs = [(2 * i, 2 * i + 1) for i in range(d // 2)]
        return pairs, range(d, self.scheme["head_dim"])

    def turned(self, row, place):
        """(u, v) of every pair, as complex numbers turn."""
        pairs, _ = self.channels()
        if place == 0:
            return [(row[m], row[n]) for m, n in pairs]
        return [(add(multiply(row[m], cos), negate(multiply(row[n], sin))),
                 add(multiply(row[m], sin), multiply(row[n], cos)))
                for (m, n), (cos, sin) in zip(pairs, self.turns(place, 0, self.width()))]

    def products(self, head, i, j, query_place, key_place):
        """Of every pair, then of the channels that do not turn. Vectors that turn alike need not
        turn at all."""
        q, k = self.row("q", i, head), self.row("k", j, head)
        if query_place == key_place:
            query_place = key_place = 0
        both = zip(self.turned(q, query_place), self.turned(k, key_place))
        return [dot(a, b) for a, b in both], [multiply(q[c], k[c]) for c in self.channels()[1]]

    def score_at(self, head, i, j, query_place, key_place):
        pairs, still = self.products(head, i, j, query_place, key_place)
        return self.scaled(dot(pairs + still, [ONE] * (len(pairs) + len(still))))


class Xpos(Turning):
    def fading(self, offset):
        """zeta^(offset/scale_base) of every pair."""
        key = "fading", offset
        if key not in self.kept:
            s, d = self.scheme, self.width()
            gamma, exponent = Fraction(s["gamma"]), [offset / Fraction(s["scale_base"])]
            self.kept[key] = []
            for n in range(d // 2):
                if ("zeta", n) not in self.kept:
                    self.kept["zeta", n] = Power([(Fraction(2 * n, d) + gamma) / (1 + gamma)])
                self.kept[key].append(ball_of_interval(self.kept["zeta", n].interval(exponent)))
        return self.kept[key]

    def score(self, head, i, j):
        p, t = self.queries[i], self.keys[j]
        pairs, still = self.products(head, i, j, p, t)
        factors = [ONE] * len(pairs) if p == t else self.fading(p - t)
        return self.scaled(dot(pairs + still, factors + [ONE] * len(still)))


class Rerope(Turning):
    def sharpening(self, i):
        """Numerator and denominator of max(1, ln(p + 1) / ln L)."""
        trained, length = self.scheme["trained_length"], int(self.queries[i]) + 1
        if trained is None or length <= trained:
            return ONE, ONE
        (root, times), (trained_root, trained_times) = map(perfect_power, (length, trained))
        if root == trained_root:
            return (times, 0, 0), (trained_times, 0, 0)
        return tuple(ball_of_interval(iv.log(iv.mpf(n))) for n in (length, trained))

    def score(self, head, i, j):
        p, t = self.queries[i], self.keys[j]
        w = self.scheme["window"]
        far = abs(p - t) > w
        key_place = (t - p) if not far else Fraction(w if t > p else -w)
        pairs, still = self.products(head, i, j, Fraction(0), key_place)
        first, second = self.sharpening(i)
        content = multiply(dot(pairs + still, [ONE] * (len(pairs) + len(still))), first)
        if second != ONE:
            content = divide(content, second, self.bits)
        return self.scaled(content)


class DualChunk(Turning):
    def score(self, head, i, j):
        size = self.scheme["chunk_size"]
        length = size - self.scheme["local_size"]
        (query_chunk, within), (key_chunk, key_place) = (
            divmod(int(x), length) for x in (self.queries[i], self.keys[j]))
        critical = self.scheme["queries"] == "critical"
        if query_chunk == key_chunk:
            place = within
        elif query_chunk == key_chunk + 1:
            place = within + length if critical else min(within + length, size)
        else:  # row `length - 1` of the table for the chunk before
            place = within + size if critical else min(length - 1 + length, size)
        return self.score_at(head, i, j, Fraction(place), Fraction(key_place))


class Mixed(Turning):
    def turned_at(self, row, head, patch):
        """(u, v) of every pair, turned by the angle of the patch: its column times the one frequency
        and its row times the other."""
        pairs, _ = self.channels()
        y, x = divmod(int(patch), self.scheme["window_w"])
        result = []
        for n, (u, v) in enumerate(pairs):
            at = head * len(pairs) + n
            angle = add(multiply((x, 0, 0), self.given["x_frequency"][at]),
                        multiply((y, 0, 0), self.given["y_frequency"][at]))
            key = "turn", angle
            if key not in self.kept:
                self.kept[key] = cos_sin(angle, self.bits)
            cos, sin = self.kept[key]
            u, v = row[u], row[v]
            result.append((add(multiply(u, cos), negate(multiply(v, sin))),
                           add(multiply(u, sin), multiply(v, cos))))
        return result

    def score(self, head, i, j):
        q, k = self.row("q", i, head), self.row("k", j, head)
        still = [multiply(q[c], k[c]) for c in self.channels()[1]]
        pairs = self.unturned(head, i, j, q, k)
        if pairs is None:
            turned = zip(self.turned_at(q, head, self.queries[i]),
                         self.turned_at(k, head, self.keys[j]))
            pairs = [dot(a, b) for a, b in turned]
        return self.scaled(dot(pairs + still, [ONE] * (len(pairs) + len(still))))

    def unturned(self, head, i, j, q, k):
        """Of vectors none of whose pairs turns against the other, or None."""
        pairs, _ = self.channels()
        w = self.scheme["window_w"]
        (y, x), (row, column) = (divmod(int(patch), w) for patch in (self.queries[i], self.keys[j]))
        for n, (u, v) in enumerate(pairs):
            of_x, of_y = (fraction(self.given[name][head * len(pairs) + n])
                          for name in ("x_frequency", "y_frequency"))
            moves = any(q[c][0] for c in (u, v)) and any(k[c][0] for c in (u, v))
            if moves and (column - x) * of_x + (row - y) * of_y != 0:
                return None
        return [add(multiply(q[u], k[u]), multiply(q[v], k[v])) for u, v in pairs]


class Sharpened(Plain):
    def score(self, head, i, j):
        s, content = self.scheme, self.dot(head, i, j)
        if s["temperature_scale"] is not None:
            steps = (int(self.queries[i]) + 1) // s["temperature_floor_scale"] + 1
            if steps > 1:
                grown = multiply(ball_of_interval(iv.log(iv.mpf(steps))),
                                 ball_of_fraction(Fraction(s["temperature_scale"]), self.bits))
                content = multiply(content, add(grown, ONE))
        return self.scaled(content)
