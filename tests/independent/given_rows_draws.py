"""Random parameters and inputs of rows that are no waves."""
import math


class GivenRowsDraw:
    """To be mixed into Draw, whose draws of numbers it uses. One scheme each, every field present.

    Left out are embeddings so small beside a row that 1025 bits do not hold their sum."""

    def cape(self, widest):
        r = self.random
        width = min(widest, round(self.log_uniform(1, 80)))
        length = self.one_of(1, 2, lambda: r.randint(1, 40))
        step = float(self.one_of(1, 1, 0.03, 2, 0.25, 1e6, lambda: self.log_uniform(1e-3, 1e3)))
        centre = step * (length - 1) / 2
        return {"scheme": "cape", "width": width, "length": length, "position_scale": step,
                "mean": float(self.one_of(0, 0, centre, centre, lambda: r.uniform(-1e3, 1e3))),
                "global_shift": float(self.one_of(0, 0, -1, 0.5, lambda: r.uniform(-60, 60))),
                "log_scale": float(self.one_of(0, 0, 0.1, -14, 14, lambda: r.uniform(-1, 1))),
                "frequency_scale": float(self.one_of(1, 1, 30, 2, lambda: r.uniform(0.1, 40))),
                "base": float(self.one_of(1, lambda: self.base(width), lambda: self.base(width)))}

    def local_shift(self):
        """As drawn in training, none, or what another shift undoes."""
        r = self.random
        return float(self.one_of(0, 0, 1, -0.5, lambda: r.uniform(-0.5, 0.5),
                                 lambda: r.randint(-64, 64) / 128))

    def learned(self, widest):
        r = self.random
        offset = self.one_of(0, 0, 1, 2, lambda: r.randint(0, 9))
        rows = offset + r.randint(1, 40)
        return {"scheme": "learned", "width": min(widest, r.randint(1, 12)), "rows": rows,
                "offset": offset,
                "padding_index": self.one_of(None, None, 0, lambda: r.randrange(rows)),
                "beyond": r.choice(["refuse", "zero"])}

    def sincos2d(self, widest):
        r = self.random
        quarter = max(1, min(widest // 4, round(self.log_uniform(1, 40))))
        return {"scheme": "sincos2d", "width": 4 * quarter,
                "grid_h": r.randint(1, 40), "grid_w": self.one_of(lambda: r.randint(1, 40), 4096),
                "first_axis": r.choice(["column", "row"]), "prefix": self.one_of(0, 1, 2),
                "base": self.base(2 * quarter),
                "base_size": self.one_of(None, None, 16, lambda: r.randint(1, 64)),
                "interpolation_scale": float(self.one_of(1, 1, 2, lambda: r.uniform(0.1, 4)))}

    def resampled(self, widest):
        r = self.random
        sides = [r.randint(1, 9) for _ in range(4)]
        if r.random() < 0.15:
            sides[2:] = sides[:2]
        scheme = {"scheme": "resampled", "width": min(widest, r.randint(1, 4)),
                  "grid_h": sides[0], "grid_w": sides[1], "target_h": sides[2],
                  "target_w": sides[3], "prefix": self.one_of(0, 1, 2),
                  "filter": r.choice(["bilinear", "bicubic", "bicubic"]),
                  "cubic": float(self.one_of(-0.75, -0.75, -0.5, -0.5, 0, -1,
                                             lambda: -r.randint(1, 127) / 128)),
                  "align_corners": False, "antialias": False, "offset": 0.0, "scale_h": None,
                  "scale_w": None}
        form = r.choice(["", "", "corners", "offset", "antialias", "both", "scale"])
        scheme["align_corners"] = form == "corners"
        scheme["antialias"] = form in ("antialias", "both")
        if form in ("offset", "both"):
            scheme["offset"] = float(self.one_of(0.1, 0.1, 0.5, r.random))
        if form == "scale":
            for axis in "hw":
                size, target = scheme["grid_" + axis], scheme["target_" + axis]
                scale = (target + r.random() * 0.9) / size
                if math.floor(size * scale) == target:
                    scheme["scale_" + axis] = scale
        return scheme

    def row_number(self):
        """Of sizes near 1, often halfway between two numbers of a narrow format."""
        r = self.random
        return float(self.one_of(
            lambda: r.gauss(0, 1), lambda: r.gauss(0, 1) * 2.0 ** r.randint(-30, 20),
            lambda: r.randint(-512, 512) / 32, lambda: r.choice([0.0, 1.0, -1.0]),
            lambda: r.choice([-1, 1]) * (1 + (2 * r.randint(0, 3) + 1) * 2.0 ** r.choice([-24, -11, -8]))))

    def given_rows_inputs(self, scheme, quantity):
        r = self.random
        name, width = scheme["scheme"], scheme["width"]
        if name == "learned":
            last = scheme["rows"] - scheme["offset"] - 1
            far = [lambda: r.randint(0, 1 << 40)] if scheme["beyond"] == "zero" else []
            position = lambda: self.one_of(-scheme["offset"], 0, last, -1 if scheme["offset"] else 0,
                                           lambda: r.randint(-scheme["offset"], last), *far)
            rows = scheme["rows"]
        elif name == "cape":
            last, rows = scheme["length"] - 1, 0
            position = lambda: self.one_of(0, last, lambda: r.randint(0, last))
        else:
            target = ("target_h", "target_w") if name == "resampled" else ("grid_h", "grid_w")
            last = scheme["prefix"] + scheme[target[0]] * scheme[target[1]] - 1
            position = lambda: self.one_of(0, last, min(scheme["prefix"], last),
                                           lambda: r.randint(0, last))
            rows = 0 if name == "sincos2d" else scheme["prefix"] + scheme["grid_h"] * scheme["grid_w"]
        given = {"positions": [float(position()) for _ in range(r.randint(1, 6))]}
        if rows:
            # A table of one number shows whether weights add up to 1, ties included.
            one = self.row_number()
            constant = r.random() < 0.2
            given["table"] = [one if constant else self.row_number() for _ in range(rows * width)]
        if name == "cape":
            still = r.random() < 0.3
            given["local_shift"] = [0.0 if still else self.local_shift()
                                    for _ in range(scheme["length"])]
        if quantity == "embed":
            given["x"] = [self.row_number() for _ in range(len(given["positions"]) * width)]
        return given
