"""A rotary module as transformers has it: modeling_rope_utils.py and a model's RotaryEmbedding and
apply_rotary_pos_emb. Replace it by your own; the test only calls what is here."""

import math
import os

import torch

SIGN = -1 if os.environ.get("POSGAUGE_BREAK") else 1  # of every sine: a mistake to be found


def plain_inv_freq(config, dtype):
    dim = config["rotary_dim"]
    steps = torch.arange(0, dim, 2, dtype=torch.int64).to(dtype)
    return 1.0 / (config["base"] ** (steps / dim))


def llama3_inv_freq(config, dtype):
    factor, length = config["factor"], config["original_length"]
    low, high = config["low_frequency_factor"], config["high_frequency_factor"]
    inv_freq = plain_inv_freq(config, dtype)
    wavelen = 2 * math.pi / inv_freq
    scaled = torch.where(wavelen > length / low, inv_freq / factor, inv_freq)
    medium = ~(wavelen < length / high) * ~(wavelen > length / low)
    if not medium.any():  # low == high leaves none, and the quotient below would be 0/0
        return scaled
    smooth = (length / wavelen - low) / (high - low)
    return torch.where(medium, (1 - smooth) * inv_freq / factor + smooth * inv_freq, scaled)


def yarn_ends(config):
    dim, base, length = config["rotary_dim"], config["base"], config["original_length"]

    def pair_of(turns):
        return dim * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(config["beta_fast"]), pair_of(config["beta_slow"])
    if config["truncate"]:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    return low, high + 0.001 if low == high else high


def yarn_inv_freq(config, dtype):
    low, high = yarn_ends(config)
    inv_freq = plain_inv_freq(config, dtype)
    ramp = (torch.arange(len(inv_freq), dtype=dtype) - low) / (high - low)
    kept = 1 - torch.clamp(ramp, 0, 1)
    return inv_freq / config["factor"] * (1 - kept) + inv_freq * kept


def attention_scaling(config):
    if config["scheme"] != "yarn":
        return 1.0

    def get_mscale(scale, mscale=1):
        return 1.0 if scale <= 1 else 0.1 * mscale * math.log(scale) + 1.0

    factor, mscale, all_dim = config["factor"], config["mscale"], config["mscale_all_dim"]
    if config["attention_factor"] is not None:
        return config["attention_factor"]
    if mscale and all_dim:
        return get_mscale(factor, mscale) / get_mscale(factor, all_dim)
    return get_mscale(factor)


INV_FREQ = {"rope": plain_inv_freq, "llama3": llama3_inv_freq, "yarn": yarn_inv_freq,
            "linear": lambda config, dtype: plain_inv_freq(config, dtype) / config["factor"]}


class RotaryEmbedding(torch.nn.Module):
    """cos and sin, [tokens, pairs]. transformers computes in float32 whatever the model's dtype is,
    and then casts; `compute` float64 is here to show that its formulas are right."""

    def __init__(self, config, compute=torch.float32):
        super().__init__()
        self.compute = compute
        self.scaling = attention_scaling(config)
        self.register_buffer("inv_freq", INV_FREQ[config["scheme"]](config, compute), persistent=False)

    @torch.no_grad()
    def forward(self, position_ids, dtype):
        freqs = self.inv_freq[None, :, None] @ position_ids[None, None, :].to(self.compute)
        freqs = freqs[0].T
        cos, sin = freqs.cos() * self.scaling, freqs.sin() * self.scaling
        return cos.to(dtype), SIGN * sin.to(dtype)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def apply_rotary_pos_emb(x, cos, sin, pairing):
    """x [tokens, heads, rotary_dim]; every angle counts for the two channels of its pair."""
    cos, sin = cos[:, None, :], sin[:, None, :]
    if pairing == "half":
        return x * torch.cat((cos, cos), -1) + rotate_half(x) * torch.cat((sin, sin), -1)
    return (x * cos.repeat_interleave(2, -1) + rotate_every_two(x) * sin.repeat_interleave(2, -1))
