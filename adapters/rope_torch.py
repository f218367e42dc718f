"""Rotary embedding in PyTorch as eager models of transformers have it: cos and sin of float32 angles are
cast to the dtype of x before the products. An example for posgauge_numpy.py:

    posgauge gate golden/models/mistral-7b-v0.3.json --kernel rotate.bf16 --contract hf-eager \\
        --command "python3 adapters/posgauge_numpy.py --torch adapters/rope_torch.py:rotate"
"""

import torch


def rotate(quantity, scheme, x=None, positions=None):
    """Whole heads, their halves paired."""
    whole = scheme["scheme"] == "rope" and scheme["rotary_dim"] == scheme["head_dim"]
    if not whole or scheme["pairing"] != "half" or quantity != "rotate":
        return None
    exponents = torch.arange(0, scheme["rotary_dim"], 2, dtype=torch.int64).float() / scheme["rotary_dim"]
    frequencies = 1.0 / scheme["base"] ** exponents
    angles = torch.outer(positions.float(), frequencies)[:, None, :]
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    u, v = x.chunk(2, dim=-1)
    return torch.cat([u * cos - v * sin, v * cos + u * sin], dim=-1)
