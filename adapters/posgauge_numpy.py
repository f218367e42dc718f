#!/usr/bin/env python3
"""Lets a function of NumPy's arrays, or of PyTorch's tensors, be gated by posgauge.

    posgauge gate MODEL --command "python3 posgauge_numpy.py MODULE:FUNCTION" --kernel rotate.f32

usage: posgauge_numpy.py [--torch] MODULE:FUNCTION CASES RESULTS

MODULE is a module or the path of a .py file. Of every case in the folder CASES the function is called as

    FUNCTION(quantity, scheme, **tensors)

with the quantity's name ("rotate"), the scheme's parameters as a dictionary, and the case's tensors: x and
positions of a rotation, positions alone of a table, of attention what docs/schemes.md lists. It returns the
one array, or a dictionary of arrays where there are two (cos and sin), or None for what it does not do: that
case stays without a result, which posgauge reports.

x has its own dtype: float64, float32, float16; with --torch bfloat16 too, and every tensor is PyTorch's.
Cases in a dtype that the library lacks stay without a result; stderr names them. Needs NumPy.
"""

import importlib
import importlib.util
import json
import pathlib
import struct
import sys

import numpy

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "|u1", "BF16": "<u2"}


def read_safetensors(path):
    """({name: (dtype's name, array)}, metadata); bf16 as its bits."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        dtype = numpy.dtype(DTYPES.get(entry["dtype"], "|u1"))
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        array = numpy.frombuffer(data[begin:end], dtype).reshape(entry["shape"])
        tensors[name] = entry["dtype"], array
    return tensors, metadata


class Numpy:
    """Arrays as they are."""

    NAMES = {"F64", "F32", "F16", "I64", "I32", "U8"}

    @staticmethod
    def given(_, array):
        return array

    @staticmethod
    def taken(result):
        return numpy.asarray(result)


class Torch:
    """PyTorch's tensors; bf16, which NumPy has not, goes by its bits."""

    NAMES = Numpy.NAMES | {"BF16"}

    def __init__(self):
        self.torch = importlib.import_module("torch")

    def given(self, dtype, array):
        if dtype == "BF16":
            return self.torch.from_numpy(array.view(numpy.int16).copy()).view(self.torch.bfloat16)
        return self.torch.from_numpy(array.copy())

    def taken(self, result):
        result = result.detach().cpu().contiguous()
        if result.dtype == self.torch.bfloat16:
            return result.view(self.torch.int16).numpy().view("V2")
        return result.numpy()


def load(name):
    """The function of MODULE:FUNCTION."""
    module, _, function = name.rpartition(":")
    if module.endswith(".py"):
        path = pathlib.Path(module)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = loaded
        spec.loader.exec_module(loaded)
    else:
        sys.path.insert(0, "")
        loaded = importlib.import_module(module)
    return getattr(loaded, function)


def main(arguments):
    library = Numpy()
    if arguments[:1] == ["--torch"]:
        library, arguments = Torch(), arguments[1:]
    if len(arguments) != 3 or ":" not in arguments[0]:
        sys.exit(__doc__)
    function = load(arguments[0])
    cases, results = map(pathlib.Path, arguments[1:])
    ending = ".case.safetensors"
    for path in sorted(cases.glob("*" + ending)):
        name = path.name[:-len(ending)]
        tensors, metadata = read_safetensors(path)
        unknown = {dtype for dtype, _ in tensors.values()} - library.NAMES
        if unknown:
            print(f"{name}: left out, {', '.join(unknown)} is unknown here", file=sys.stderr)
            continue
        asked = json.loads(metadata["posgauge_case"])
        result = function(asked["quantity"], asked["scheme"],
                          **{key: library.given(*tensor) for key, tensor in tensors.items()})
        if result is None:
            print(f"{name}: left out by {arguments[0]}", file=sys.stderr)
        elif isinstance(result, dict):
            numpy.savez(results / f"{name}.npz", **{key: library.taken(value) for key, value in result.items()})
        else:
            numpy.save(results / f"{name}.npy", library.taken(result))


if __name__ == "__main__":
    main(sys.argv[1:])
