"""Random parameters and inputs of disentangled attention and of windows."""


class WindowsDraw:
    """To be mixed into Draw, whose draws it uses."""

    def deberta(self, widest):
        r = self.random
        buckets, farthest = self.one_of((256, 512), (32, 128), (8, 32), (4, 4), (16, 1024),
                                        lambda: (2 * r.randint(2, 16), r.randint(18, 5000)),
                                        lambda: (0, r.randint(1, 12)), (6, 2 ** 31))
        scheme = self.attending("deberta", 2 if buckets > 32 else widest,
                                position_buckets=buckets, max_position=farthest,
                                c2p=r.random() < 0.8, p2c=r.random() < 0.8,
                                p2c_index=r.choice(["same", "reversed"]),
                                far=r.choice(["clamp", "bucket"]))
        if buckets > 32:
            scheme["heads"] = 1
        return scheme

    def window(self, name, widest, **more):
        r = self.random
        sides = [self.one_of(1, 2, 7, 8, lambda: r.randint(1, 12)) for _ in range(2)]
        return self.attending(name, widest, **{"window_h": sides[0], "window_w": sides[1],
                                               **more, "causal": False})

    def swin(self, widest):
        return self.window("swin", widest)

    def swin2(self, widest):
        r = self.random
        scheme = self.window("swin2", widest, one_token="zero",
                             mlp_width=self.one_of(1, 2, 4, lambda: r.randint(1, 16)),
                             **{"pretrained_" + axis: self.one_of(None, None, 8, 9, 12, 2, 3, 1)
                                for axis in "hw"})
        # One channel has cosines of 1 and -1 alone, whose equal scores are no rational numbers.
        return {**scheme, "scale": "one", "head_dim": max(2, scheme["head_dim"])}

    def window_positions(self, scheme, queries, keys):
        tokens = range(scheme["window_h"] * scheme["window_w"])
        r = self.random
        return ([float(r.choice(tokens)) for _ in range(queries)],
                [float(at) for at in sorted(r.sample(tokens, min(keys, len(tokens))))])

    def windows_weights(self, scheme):
        h, d = scheme["heads"], scheme["head_dim"]
        if scheme["scheme"] == "deberta":
            size = h * 2 * (scheme["position_buckets"] or scheme["max_position"]) * d
            return {name: self.weights(size) for name, used in
                    (("position_keys", "c2p"), ("position_queries", "p2c")) if scheme[used]}
        if scheme["scheme"] == "swin":
            return {"table": self.weights((2 * scheme["window_h"] - 1) *
                                          (2 * scheme["window_w"] - 1) * h)}
        n = scheme["mlp_width"]
        tau = [float(self.one_of(0, 5, 2.302585092994046, 4.605170185988091, 4.605170185988092,
                                 lambda: self.random.uniform(-3, 6))) for _ in range(h)]
        return {"w1": self.weights(2 * n), "b1": self.weights(n), "w2": self.weights(h * n),
                "tau": tau}
