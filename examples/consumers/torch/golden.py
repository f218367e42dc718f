"""Reads golden vectors: a manifest and its payload. Needs torch alone."""

import hashlib
import json
import math
import os
import pathlib
from typing import NamedTuple

import torch

FOLDER = pathlib.Path(os.environ.get("POSGAUGE_GOLDEN")
                      or pathlib.Path(__file__).resolve().parents[3] / "golden/vectors")
# torch of before 2.1 has no formats of 8 bits: those tensors stay codes.
TORCH = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
         "I32": torch.int32, "F8_E4M3": torch.uint8, "F8_E5M2": torch.uint8}


class Case(NamedTuple):
    name: str  # scheme/file/id
    scheme: dict  # every parameter
    quantity: str
    result: str  # valid, acceptable or invalid
    dtypes: list
    inputs: dict  # tensors of float64, exact
    outputs: dict  # "out.f64", "out.f64.distance", "out.bf16", ...: tensors


def tensors(payload):
    start = 8 + int.from_bytes(payload[:8], "little")
    content, buffer = json.loads(payload[8:start]), bytearray(payload)
    return {name: torch.frombuffer(buffer, dtype=TORCH[t["dtype"]], count=math.prod(t["shape"]),
                                   offset=start + t["data_offsets"][0]).reshape(t["shape"])
            for name, t in content.items()}


def cases(*schemes):
    """Every case of the schemes."""
    for path in sorted(path for scheme in schemes for path in (FOLDER / scheme).glob("*.json")):
        manifest = json.loads(path.read_text())
        payload = (path.parent / manifest["payload"]["file"]).read_bytes()
        if hashlib.sha256(payload).hexdigest() != manifest["payload"]["sha256"]:
            raise ValueError(f"{path}: the payload is not the one that the manifest names")
        content = tensors(payload)
        for case in manifest["cases"]:
            own = {name.split("/", 1)[1]: values for name, values in content.items()
                   if name.startswith(case["id"] + "/")}
            yield Case(f"{path.parent.name}/{path.stem}/{case['id']}", manifest["scheme"],
                       case["quantity"], case["result"], case["dtypes"],
                       {name: own[name] for name in case["inputs"]},
                       {name: values for name, values in own.items() if name not in case["inputs"]})


def error(result, case, name):
    """result - real number, where the real number is stored + distance 2^-16 ulp(stored); and how
    far off that difference may be itself: half a step of the distance, and its own two roundings."""
    stored, distance = case.outputs[name + ".f64"], case.outputs[name + ".f64.distance"]
    size = stored.abs()
    ulp = torch.nextafter(size, torch.full_like(size, math.inf)) - size
    difference = (result.double() - stored) - distance * ulp * 2.0 ** -16
    return difference, 2.0 ** -17 * ulp + 2.0 ** -52 * difference.abs()
