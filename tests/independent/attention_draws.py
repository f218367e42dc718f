"""Random parameters and inputs of the schemes that act in attention."""
import math

from independent.windows import WINDOWS


class AttentionDraw:
    """To be mixed into Draw, whose draws of numbers it uses. One scheme each, every field present.

    Left out is what 1025 bits cannot tell, which the reference says to be undecided: exponentials
    that add less than that to a tie; gates that add up to a whole number; roots that cancel."""

    def attending(self, name, widest, **more):
        r = self.random
        width = self.one_of(1, 2, 4, 4, 8, 9, 16, lambda: r.randint(1, 12))
        return {"scheme": name, "heads": r.randint(1, 3), "head_dim": min(widest, width),
                "causal": r.random() < 0.7,
                "scale": self.one_of("inverse_sqrt", "inverse_sqrt", "one"), **more}

    def none(self, widest):
        r = self.random
        tempered = r.random() < 0.5
        return self.attending(
            "none", widest,
            temperature_floor_scale=self.one_of(8192, 1, 7, lambda: r.randint(1, 10 ** 4))
            if tempered else None,
            temperature_scale=float(self.one_of(0.1, 0.1, 1, 0, lambda: r.uniform(0, 4)))
            if tempered else None)

    def turning(self, name, widest, **more):
        r = self.random
        scheme = self.attending(name, widest, pairing=r.choice(["half", "interleaved"]), **more)
        d = scheme["head_dim"]
        width = self.one_of(d, d, d // 2, lambda: r.randint(0, d)) // 2 * 2
        scheme["rotary_dim"] = None if width == d and r.random() < 0.5 else width
        scheme["base"] = self.base(width)
        return scheme

    def xpos(self, widest):
        r = self.random
        return self.turning("xpos", widest,
                            scale_base=float(self.one_of(512, 512, 64, 8, 2.0 ** 100,
                                                         lambda: self.log_uniform(1, 1e6))),
                            gamma=float(self.one_of(0.4, 0.4, 1, lambda: r.uniform(0.01, 4))))

    def rerope(self, widest):
        r = self.random
        return self.turning("rerope", widest,
                            window=self.one_of(1, 2, 5, 512, lambda: r.randint(1, 5000)),
                            trained_length=self.one_of(None, None, 2, 4, 8, 512, 4096,
                                                       lambda: r.randint(2, 5000)))

    def mixed(self, widest):
        r = self.random
        sides = [self.one_of(1, 2, 7, 14, lambda: r.randint(1, 12)) for _ in range(2)]
        scheme = self.turning("mixed", max(widest, 2), window_h=sides[0], window_w=sides[1])
        del scheme["base"]
        scheme.update(causal=False, head_dim=max(2, scheme["head_dim"]))
        if scheme["rotary_dim"] is None and scheme["head_dim"] % 2 or scheme["rotary_dim"] == 0:
            scheme["rotary_dim"] = scheme["head_dim"] // 2 * 2
        return scheme

    def dual_chunk(self, widest):
        r = self.random
        stride = self.one_of(1, 2, 5, 16, 4096, lambda: r.randint(1, 5000))
        local = self.one_of(0, 1, 3, lambda: r.randint(0, 2 * stride))
        return self.turning("dual_chunk", widest, chunk_size=stride + local, local_size=local,
                            queries=r.choice(["attention", "attention", "critical"]), causal=True)

    def alibi(self, widest):
        r = self.random
        heads, total = r.randint(1, 3), None
        if r.random() < 0.7:
            heads, total = self.one_of(lambda: (r.randint(1, 3), r.randint(3, 256)),
                                       lambda: (n := r.randint(1, 70), n), (1, 65536))
        first = 0 if total is None else r.randint(0, total - heads)
        steepest = float(self.one_of(8, 8, 4, 16, 1, lambda: r.randint(1, 1024),
                                     lambda: r.uniform(0.01, 64), lambda: r.randint(1, 64) / 8))
        return self.attending("alibi", widest, heads=heads, max_bias=steepest,
                              form=r.choice(["relative", "symmetric", "key", "key_from_last"]),
                              total_heads=total, first_head=first,
                              before_scale=r.random() < 0.2)

    def t5(self, widest):
        r = self.random
        bidirectional = r.random() < 0.5
        buckets = self.one_of(32, 8, 16, 64, 128, 320, lambda: r.randint(4, 80))
        exact = buckets // (4 if bidirectional else 2)
        longest = self.one_of(128, 256, 800, 1024, 2048, exact + 1, 2 * exact, 4 * exact, 2 ** 31,
                              lambda: exact + r.randint(1, 10 ** 6))
        return self.attending("t5", widest, num_buckets=buckets, bidirectional=bidirectional,
                              max_distance=max(longest, exact + 1))

    def kerple(self, widest):
        return self.attending("kerple", widest, kernel=self.random.choice(["log", "power"]),
                              weighted=self.random.random() < 0.4)

    def sandwich(self, widest):
        r = self.random
        width = 2 * self.one_of(1, 2, 4, 8, lambda: r.randint(1, 16), lambda: 64 // r.randint(1, 4))
        return self.attending("sandwich", widest, sandwich_width=min(2 * widest, width),
                              first_index=r.randint(0, 1), centred=r.random() < 0.5,
                              base=self.base(width))

    def fire(self, widest):
        r = self.random
        return self.attending("fire", widest,
                              mlp_width=self.one_of(1, 2, 4, lambda: r.randint(1, 32)),
                              epsilon=float(self.one_of(0, 0, 1e-6, 1e-6, 0.5, r.random)))

    def shaw(self, widest):
        r = self.random
        return self.attending("shaw", widest,
                              clip=self.one_of(1, 2, 4, 16, lambda: r.randint(1, 20)),
                              values=r.random() < 0.7, per_head=r.random() < 0.5,
                              index=r.choice(["key_minus_query", "query_minus_key"]),
                              outside=r.choice(["clip", "zero"]))

    def transformer_xl(self, widest):
        r = self.random
        width = 2 * self.one_of(1, 2, 4, lambda: r.randint(1, 8))
        clamp = self.one_of(None, None, 1, 4, lambda: r.randint(1, 4096))
        return self.attending("transformer_xl", widest, model_width=min(2 * widest, width),
                              base=self.base(width), clamp_length=clamp)

    def cope(self, widest):
        return self.attending("cope", widest, num_positions=self.one_of(2, 3, 4, 8, 16),
                              placement=self.random.choice(["before_scale", "after_scale"]))

    def token_positions(self, whole, queries, keys, causal):
        """Of queries and of keys, ascending; every query sees a key."""
        r = self.random
        first = self.one_of(0, 0, 0, lambda: r.randint(0, 5000), lambda: r.randint(0, 1 << 31),
                            lambda: -r.randint(0, 1 << 20), 2 ** 53 - 1 - keys - queries)
        kind = r.randrange(5)
        if kind < 3 or (whole and kind == 4):  # in a row, with a cache before the queries
            key_positions = [float(first + j) for j in range(keys)]
            skipped = r.randint(0, max(keys - queries, 0))
            query_positions = [float(first + skipped + i) for i in range(queries)]
        else:
            draw = self.position if kind == 4 else lambda: float(self.one_of(
                lambda: r.randint(0, 40), lambda: r.randint(0, 4096),
                lambda: r.randint(-(1 << 31), 1 << 31)))
            distinct = set()
            while len(distinct) < keys:
                distinct.add(draw())
            key_positions = sorted(distinct)
            query_positions = [self.one_of(draw, lambda: r.choice(key_positions))
                               for _ in range(queries)]
        if causal:
            query_positions = [max(p, key_positions[0]) for p in query_positions]
        return query_positions, key_positions

    @staticmethod
    def serves(scheme, given):
        """Whether a scheme takes these positions, and makes numbers of them that are near 1 enough
        for 1025 bits."""
        positions = given["query_positions"] + given["key_positions"]
        if scheme["scheme"] == "xpos":
            steepest = math.log((1 + scheme["gamma"]) / scheme["gamma"]) / scheme["scale_base"]
            return (max(positions) - min(positions)) * steepest < 300
        from_zero = scheme["scheme"] == "dual_chunk" or (
            scheme.get("trained_length") is not None or scheme.get("temperature_scale") is not None)
        return not from_zero or min(positions) >= 0

    def moderate(self, size):
        """A finite vector, in which numbers below 2^-500 are 0: their products beside a bias need
        more bits than the reference has."""
        return [x if abs(x) >= 2.0 ** -500 else 0.0 for x in self.vector(size, finite=True)]

    def weights(self, count, size=1.0):
        """Learned numbers, as a checkpoint stores them or of every bit."""
        r = self.random
        draw = r.choice([lambda: r.gauss(0, size), lambda: r.randint(-256, 256) / 128,
                         lambda: r.gauss(0, size) * 2.0 ** r.randint(-40, 4)])
        return [float(draw()) for _ in range(count)]

    def above_zero(self, count, largest):
        r = self.random
        return [min(float(self.one_of(
            0.01, 1, 0.5, 1.5, lambda: r.uniform(0.01, 2), lambda: r.uniform(0.01, 2),
            lambda: r.randint(1, 64) / 32, lambda: self.log_uniform(1e-6, 100),
            lambda: self.log_uniform(1e-200, 1e-6))), largest) for _ in range(count)]

    def attention_inputs(self, scheme, quantity):
        r, name, h, d = self.random, scheme["scheme"], scheme["heads"], scheme["head_dim"]
        if quantity == "slopes":
            return {}
        queries, keys = r.randint(1, 4), r.randint(1, 7)
        whole = name in ("t5", "shaw", "deberta", "rerope", "dual_chunk") or (
            scheme.get("temperature_scale") is not None)
        causal = scheme["causal"] and quantity == "attention"
        given = {}
        while not given or not self.serves(scheme, given):
            if "window_h" in scheme:
                drawn = self.window_positions(scheme, queries, keys)
            else:
                drawn = self.token_positions(whole, queries, keys, causal)
            given["query_positions"], given["key_positions"] = drawn
        queries, keys = map(len, drawn)
        if quantity == "buckets":
            return given
        given.update(self.weights_of(scheme))
        if quantity == "bias":
            return given
        if quantity == "scores" and name in ("none", "alibi", "t5", "shaw", "kerple", "swin"):
            q, k = (self.moderate(n * h * d) for n in (queries, keys))
        else:
            q, k = self.weights(queries * h * d, 3), self.weights(keys * h * d, 3)
        # Weights by position alone; not (1 + r2 D)^-r1, which make rational outputs.
        if name not in ("cope", "transformer_xl") and scheme.get("kernel") != "log" and (
                r.random() < 0.15):
            q = [0.0] * len(q)
        if name == "cope":  # gates beyond 2^-800 of 0 and 1 would need more bits
            k = [y / max(1.0, d ** 0.5) for y in k]
        given.update(q=q, k=k)
        if quantity == "attention":
            equal = [r.gauss(0, 1) for _ in range(d)] * h
            # Of every bit: no exponential, however small, then breaks a tie.
            given["v"] = equal * keys if r.random() < 0.1 and name != "shaw" else [
                r.gauss(0, 1) for _ in range(keys * h * d)]
        return given

    def weights_of(self, scheme):
        r, name, h, d = self.random, scheme["scheme"], scheme["heads"], scheme["head_dim"]
        if name == "t5":
            return {"table": self.weights(scheme["num_buckets"] * h)}
        if name == "kerple":
            top = 2.0 if scheme["kernel"] == "power" else 1e30
            given = {"r1": self.above_zero(h, 1e30), "r2": self.above_zero(h, top)}
            if scheme["weighted"]:
                given.update(w1=self.above_zero(h, 0.01), w2=self.above_zero(h, 0.25))
            return given
        if name == "fire":
            n = scheme["mlp_width"]
            threshold = float(self.one_of(512, 1, lambda: r.randint(1, 4096),
                                          lambda: r.uniform(1, 600)))
            return {"c": self.above_zero(1, 10.0), "threshold": [threshold], "w1": self.weights(n),
                    "b1": self.weights(n), "w2": self.weights(h * n), "b2": self.weights(h)}
        if name == "shaw":
            size = (h if scheme["per_head"] else 1) * (2 * scheme["clip"] + 1) * d
            given = {"key_table": self.weights(size)}
            if scheme["values"]:
                given["value_table"] = [r.gauss(0, 1) for _ in range(size)]
            return given
        if name == "transformer_xl":
            return {"content_bias": self.weights(h * d), "position_bias": self.weights(h * d),
                    "position_weight": self.weights(h * d * scheme["model_width"])}
        if name in WINDOWS:
            return self.windows_weights(scheme)
        if name == "mixed":
            width = d if scheme["rotary_dim"] is None else scheme["rotary_dim"]
            size = h * width // 2
            of_x = self.weights(size)
            # Also one axis alone, or one that turns back what the other turns.
            of_y = self.one_of(lambda: self.weights(size), lambda: self.weights(size),
                               lambda: [0.0] * size, lambda: [-x for x in of_x])
            return {"x_frequency": of_x, "y_frequency": of_y}
        if name == "cope":
            return {"embedding": self.weights(scheme["num_positions"] * d)}
        return {}
