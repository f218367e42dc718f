#!/usr/bin/env python3
"""The JSON Schema of golden manifests: every shipped one is valid, and what the format forbids is
not.

usage: tests/schema_test.py     from the repository's root
"""
import copy
import json
import pathlib
import unittest

import jsonschema

GOLDEN = pathlib.Path("golden")


def change(document, pointer, value):
    """With the member at a JSON pointer set; one past the end of a list is added."""
    changed = copy.deepcopy(document)
    *steps, last = pointer.strip("/").split("/")
    place = changed
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    if isinstance(place, list):
        place[int(last):int(last) + 1] = [value]
    else:
        place[last] = value
    return changed


class ManifestSchema(unittest.TestCase):
    def setUp(self):
        schema = json.loads((GOLDEN / "manifest.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        self.validator = jsonschema.Draft7Validator(schema)
        self.sample = json.loads(
            (GOLDEN / "vectors/rope/worked-example-interleaved.json").read_text())

    def test_holds_for_every_shipped_manifest(self):
        manifests = sorted((GOLDEN / "vectors").rglob("*.json"))
        self.assertGreater(len(manifests), 0)
        for path in manifests:
            with self.subTest(path=path):
                self.validator.validate(json.loads(path.read_text()))

    def test_refuses_what_the_format_forbids(self):
        self.assertTrue(self.validator.is_valid(self.sample))
        for pointer, value in (
            ("/format", "other"),
            ("/schema_version", 2),
            ("/extra", 1),
            ("/generator/version", 1),
            ("/scheme/scheme", "RoPE"),
            ("/notes/lower", {"bug_type": "x", "description": "x", "links": []}),
            ("/notes/Pairing/links/0", "ftp://x"),
            ("/payload/file", "../x.safetensors"),
            ("/payload/file", "x.bin"),
            ("/payload/sha256", "abc"),
            ("/proof/exact", -1),
            ("/cases/0/id", "Bad id"),
            ("/cases/0/quantity", "angle"),
            ("/cases/0/flags/1", "lower"),
            ("/cases/0/result", "perhaps"),
            ("/cases/0/result", "acceptable"),  # without a dialect
            ("/cases/0/result", "invalid"),  # without a fault
            ("/cases/0/fault", "x"),  # of a valid case
            ("/cases/0/dialect", "x"),
            ("/cases/0/cause", "x"),
            ("/cases/0/departure", {"frequencies": "bf16"}),
            ("/cases/0/outputs/frequencies/f64/midpoint", 0.25),
            ("/cases/0/dtypes/0", "f8"),
            ("/cases/0/inputs/x", {"shape": [1]}),
            ("/cases/0/outputs/cos", self.sample["cases"][1]["outputs"]["cos"]),
            ("/cases/0/outputs/frequencies/f64/proven", 1.5),
            ("/cases/2/inputs/x/values/1", "0.5"),
            ("/cases/2/inputs/x/values/1", 0.5),
            ("/cases/2/inputs/x/shape/0", -1),
        ):
            with self.subTest(pointer=pointer, value=value):
                self.assertFalse(self.validator.is_valid(change(self.sample, pointer, value)))

    def test_knows_answers_that_are_not_right(self):
        for result, name in (("invalid", "fault"), ("acceptable", "dialect")):
            changed = self.sample
            for key, value in (("result", result), (name, "a-name"), ("cause", "a reason"),
                               ("departure", {"parameters": {"base": 5}})):
                self.assertFalse(key == "departure" and self.validator.is_valid(changed))
                changed = change(changed, "/cases/0/" + key, value)
            self.assertTrue(self.validator.is_valid(changed))
            for departure in ({}, {"other": 1}, {"parameters": {}}, {"frequencies": "i32"},
                              {"inputs": {"positions": {}}}, {"inputs": {"x": {"add": 0.5}}}):
                self.assertFalse(
                    self.validator.is_valid(change(changed, "/cases/0/departure", departure)))


if __name__ == "__main__":
    unittest.main()
