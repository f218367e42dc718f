"""Reads golden vectors: a manifest and its payload. Needs numpy alone."""

import hashlib
import json
import math
import os
import pathlib
from typing import NamedTuple

import numpy as np

FOLDER = pathlib.Path(os.environ.get("POSGAUGE_GOLDEN")
                      or pathlib.Path(__file__).resolve().parents[3] / "golden/vectors")
# bf16, f8e4m3 and f8e5m2 stay codes here: no pipeline below stores them.
NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I32": "<i4", "F8_E4M3": "u1",
         "F8_E5M2": "u1"}


class Case(NamedTuple):
    name: str  # scheme/file/id
    scheme: dict  # every parameter
    quantity: str
    result: str  # valid, acceptable or invalid
    dtypes: list
    inputs: dict  # arrays of float64, exact
    outputs: dict  # "out.f64", "out.f64.distance", "buckets.i32", ...: arrays


def tensors(payload):
    start = 8 + int.from_bytes(payload[:8], "little")
    return {name: np.frombuffer(payload, NUMPY[t["dtype"]], math.prod(t["shape"]),
                                start + t["data_offsets"][0]).reshape(t["shape"])
            for name, t in json.loads(payload[8:start]).items()}


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


def error(result, stored, distance):
    """result - real number, where the real number is stored + distance 2^-16 ulp(stored); and how
    far off that difference may be itself: half a step of the distance, and its own two roundings.
    `result` is of float64 or less, `stored` the vector's float64. Not finite where either is not."""
    with np.errstate(invalid="ignore"):
        ulp = np.spacing(np.abs(stored))
        difference = (result.astype(np.float64) - stored) - distance * ulp * 2.0 ** -16
        return difference, 2.0 ** -17 * ulp + 2.0 ** -52 * np.abs(difference)
