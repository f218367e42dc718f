#!/usr/bin/env python3
"""Recomputes every golden vector with the independent oracle, from the stored inputs
and parameters, and compares bits, distances and counts of proofs. Reads the files with the standard
library alone.

usage: independent_golden.py FOLDER
Exit code 1 if anything differs, or if there is nothing to compare.
"""
import hashlib
import json
import math
import pathlib
import struct
import sys

from independent import oracle

# Of struct.
ITEM = {"F64": "d", "F32": "f", "F16": "e", "BF16": "H", "I32": "i", "F8_E4M3": "B", "F8_E5M2": "B"}
DTYPE = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "f8e4m3": "F8_E4M3",
         "f8e5m2": "F8_E5M2", "i32": "I32"}
OUTPUTS = {"frequencies": ["frequencies"], "table": ["cos", "sin"], "rotate": ["out"],
           "rotate_backward": ["out"], "scores": ["scores"],
           "magnitude": ["magnitude", "softmax_multiplier"]}


def read_safetensors(data):
    """{name: (dtype, shape, bytes)}."""
    length, = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    payload = data[8 + length:]
    return {name: (entry["dtype"], entry["shape"], payload[slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def items(tensor):
    dtype, _, data = tensor
    return [item for item, in struct.iter_unpack("<" + ITEM[dtype], data)]


def number(raw, dtype):
    """Of an item as struct reads it; bf16 is the upper half of a binary32, E5M2 that of a
    binary16."""
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", raw << 16))[0]
    if dtype == "f8e5m2":
        return struct.unpack("<e", struct.pack("<H", raw << 8))[0]
    if dtype == "f8e4m3":
        exponent, fraction = raw >> 3 & 15, raw & 7
        size = (8 + fraction) * 2.0 ** (exponent - 10) if exponent else fraction * 2.0 ** -9
        return math.copysign(math.nan if raw & 127 == 127 else size, 127.5 - raw)
    return raw


def answers(asked, quantity, dtype, tensors, case):
    """{output: (value, proof, distance) each}, from the case's inputs."""
    def given(name):
        return items(tensors[case + "/" + name])

    if quantity == "magnitude":
        return {name: asked.ask(name, dtype)[name] for name in OUTPUTS[quantity]}
    if isinstance(asked, (oracle.Attending, oracle.GivenRows)):
        # Weights and vectors by their names, as the case has them.
        names = [name for name in tensors if name.startswith(case + "/") and "." not in name]
        held = "f64" if dtype == "i32" else dtype  # buckets: small integers
        answered = asked.ask(quantity, held, **{name.split("/")[1]: items(tensors[name])
                                                for name in names})
        return {{"table": "rows", "embed": "out"}.get(name, name): wants
                for name, wants in answered.items()}
    if quantity == "frequencies":
        return asked.ask(quantity, dtype)
    if quantity == "table":
        return asked.ask(quantity, dtype, positions=given("positions"))
    if quantity == "scores":
        heads = tensors[case + "/q"][1][1]
        return asked.ask(quantity, dtype, query_positions=given("query_positions"),
                         key_positions=given("key_positions"), q=given("q"), k=given("k"),
                         heads=heads, scale=given("scale")[0])
    if quantity == "embed":
        return {"out": asked.ask(quantity, dtype, positions=given("positions"),
                                 x=given("x"))[quantity]}
    heads = tensors[case + "/x"][1][1]
    return {"out": asked.ask(quantity, dtype, positions=given("positions"), x=given("x"),
                             heads=heads)[quantity]}


def check_case(scheme, asked, case, tensors):
    """Number of values compared, and lines that say what differs."""
    compared, wrong = 0, []
    unaware = oracle.may_be_unaware(scheme, case["quantity"])
    for dtype in case["dtypes"]:
        wanted = answers(asked, case["quantity"], dtype, tensors, case["id"])
        assert sorted(wanted) == sorted(case["outputs"])
        for output, wants in wanted.items():
            name = "{}/{}.{}".format(case["id"], output, dtype)
            stored = tensors[name]
            assert stored[0] == DTYPE[dtype]
            values = [number(raw, dtype) for raw in items(stored)]
            distances = [want[2] for want in wants]
            if dtype in oracle.WITH_DISTANCES:
                distances = items(tensors[name + ".distance"])
            if (len(values), len(distances)) != (len(wants),) * 2:
                wrong.append("{}: wrong number of values or distances".format(name))
                continue
            for i, (value, distance, want) in enumerate(zip(values, distances, wants)):
                if not oracle.same(value, want[0]):
                    wrong.append("{}[{}] is {}, not {}".format(name, i, value.hex(),
                                                               want[0].hex()))
                elif distance != want[2]:
                    wrong.append("{}[{}] has distance {}, not {}".format(name, i, distance,
                                                                         want[2]))
            compared += len(values)
            proof = case["outputs"][output][dtype]
            exact = sum(want[1] == "e" for want in wants)
            if proof["exact"] > exact or (proof["exact"] < exact and not unaware):
                wrong.append("{} is said to have {} exact values, not {}".format(
                    name, proof["exact"], exact))
            if proof["exact"] + proof["proven"] != len(wants):
                wrong.append("{} does not count every value as exact or proven".format(name))
    return compared, wrong


def main():
    manifests = sorted(pathlib.Path(sys.argv[1]).rglob("*.json"))
    compared = cases = invalid = wrong = 0
    for path in manifests:
        manifest = json.loads(path.read_text())
        data = (path.parent / manifest["payload"]["file"]).read_bytes()
        lines = []
        if hashlib.sha256(data).hexdigest() != manifest["payload"]["sha256"]:
            lines.append("the payload is not the one that the manifest names")
        tensors = read_safetensors(data)
        asked = oracle.of(manifest["scheme"])
        for case in manifest["cases"]:
            if case["result"] != "valid":
                invalid += 1
                continue
            count, differences = check_case(manifest["scheme"], asked, case, tensors)
            cases, compared = cases + 1, compared + count
            lines += differences
        wrong += len(lines)
        for line in lines[:10]:
            print("{}: {}".format(path, line))
    print("{} manifests, {} valid cases, {} values, {} differences; {} invalid cases left aside"
          .format(len(manifests), cases, compared, wrong, invalid))
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
