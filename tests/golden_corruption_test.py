#!/usr/bin/env python3
"""Every single flipped byte of a golden vector is seen by posgauge golden verify: exit code 1 or 2,
one line of reason, never a crash. Bytes are sampled evenly over manifest and payload of several
manifests, one bit each, which one by a fixed rule; text that says why a case exists is free.

usage: tests/golden_corruption_test.py POSGAUGE     from the repository's root
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
VECTORS = pathlib.Path("golden/vectors")
# A rotation, one of several axes, rows, biases with their integers, wrong answers of each kind.
PLACES = ["rope/worked-example-interleaved", "rope/wrong-answers", "mrope/wrong-answers",
          "sinusoidal/wrong-answers", "t5/wrong-answers", "yarn/wrong-answers", "alibi/key"]
SAMPLES = 24  # of each file


def free_text(manifest):
    """What may be said in other words: no value depends on it."""
    record = json.loads(manifest)
    for key in ("generator", "comment", "source", "notes"):
        del record[key]
    for case in record["cases"]:
        for key in ("comment", "flags", "cause", "fault", "dialect"):
            case.pop(key, None)
    return record


class Corruption(unittest.TestCase):
    def verify(self, path):
        return subprocess.run([PROGRAM, "golden", "verify", str(path)], capture_output=True,
                              timeout=60, check=False)

    def test_every_flipped_byte_is_seen(self):
        seen = {1: 0, 2: 0}
        with tempfile.TemporaryDirectory() as folder:
            for place in PLACES:
                files = {}
                for ending in (".json", ".safetensors"):
                    source = VECTORS / (place + ending)
                    files[ending] = pathlib.Path(folder) / source.name
                    shutil.copy(source, files[ending])
                self.assertEqual(self.verify(files[".json"]).returncode, 0, place)
                for path in files.values():
                    good = path.read_bytes()
                    for sample in range(SAMPLES):
                        at = (2 * sample + 1) * len(good) // (2 * SAMPLES)
                        flipped = bytearray(good)
                        flipped[at] ^= 1 << (at + sample) % 8
                        path.write_bytes(flipped)
                        done = self.verify(files[".json"])
                        message = "{} byte {} of {}: {}".format(place, at, path.suffix, done)
                        if done.returncode == 0 and path.suffix == ".json":
                            self.assertEqual(free_text(flipped), free_text(good), message)
                            self.assertNotEqual(bytes(flipped), good)
                            continue
                        self.assertIn(done.returncode, seen, message)
                        seen[done.returncode] += 1
                        # A refusal is one line; what differs is said on stdout.
                        self.assertEqual(done.stderr.count(b"\n"), done.returncode - 1, message)
                    path.write_bytes(good)
        self.assertGreater(seen[1], 150)  # payloads, by their hash, and values
        self.assertGreater(seen[2], 20)   # manifests that are none any more


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
