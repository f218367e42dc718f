#!/usr/bin/env python3
"""posgauge golden list, lint, diff and export: what they say, write and refuse.

usage: tests/golden_tools_test.py POSGAUGE     from the repository's root
"""
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
import onnx.numpy_helper

PROGRAM = sys.argv[1]
VECTORS = pathlib.Path("golden/vectors")


def run(*arguments):
    """Exit code, stdout and stderr."""
    done = subprocess.run([PROGRAM, "golden", *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Golden(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeed(self, *arguments, code=0):
        got, out, err = run(*arguments)
        self.assertEqual((got, err), (code, ""), out)
        return out

    def refuse(self, expected, *arguments):
        code, out, err = run(*arguments)
        self.assertEqual((code, out, err.count("\n")), (2, "", 1), err)
        self.assertIn(expected, err)

    def corpus(self, *places):
        """A copy of some shipped manifests."""
        root = self.folder / "corpus"
        for place in places:
            for ending in (".json", ".safetensors"):
                (root / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(VECTORS / (place + ending), root / (place + ending))
        return root


class List(Golden):
    def test_counts_every_case_and_filters(self):
        whole = json.loads(self.succeed("list", "--json"))
        shipped = [case for path in VECTORS.rglob("*.json")
                   for case in json.loads(path.read_text())["cases"]]
        self.assertEqual(len(whole["cases"]), len(shipped))
        for words, key, value in ((("--scheme", "alibi,yarn"), "scheme", ("alibi", "yarn")),
                                  (("--quantity", "scores"), "quantity", ("scores",)),
                                  (("--result", "invalid"), "result", ("invalid",)),
                                  (("--fault", "angle_sign"), "fault", ("angle_sign",))):
            cases = json.loads(self.succeed("list", *words, "--json"))["cases"]
            self.assertEqual(cases, [case for case in whole["cases"] if case.get(key) in value])
            self.assertGreater(len(cases), 0)
        for case in json.loads(self.succeed("list", "--dtype", "f16", "--json"))["cases"]:
            for output in case["outputs"].values():
                self.assertEqual(sorted(output), ["f16", "shape"])
        flagged = json.loads(self.succeed("list", "--flag", "HardToRound", "--json"))["cases"]
        self.assertTrue(flagged)
        self.assertTrue(all("HardToRound" in case["flags"] for case in flagged))

    def test_text_names_what_is_wrong(self):
        text = self.succeed("list", "--result", "invalid", "--scheme", "rope")
        self.assertIn("rope/wrong-answers rows-pairing: rotate, out [4, 1, 64] in f64 f32 bf16 f16,"
                      " invalid pairing_swapped\n", text)

    def test_refusals(self):
        self.refuse("--scheme must be one of", "list", "--scheme", "warp")
        self.refuse("--quantity must be one of", "list", "--quantity", "angle")
        self.refuse("--result must be one of valid, acceptable, invalid", "list", "--result", "x")
        self.refuse("--dtype must be one of", "list", "--dtype", "f99")
        self.refuse("No such file", "list", self.folder / "missing")
        self.succeed("list", "--flag", "Nothing", code=4)


class Lint(Golden):
    def findings(self, root, *options):
        record = json.loads(self.succeed("lint", root, "--json", *options, code=1))
        return [(finding["rule"], finding["what"]) for finding in record["findings"]]

    def edited(self, place, change):
        root = self.corpus(place)
        path = root / (place + ".json")
        manifest = json.loads(path.read_text())
        change(manifest)
        path.write_text(json.dumps(manifest))
        return root

    def test_the_shipped_corpus_is_clean(self):
        self.assertIn(" clean\n", self.succeed("lint"))

    def test_every_rule_can_fail(self):
        place = "alibi/wrong-answers"

        def only(rule, change):
            found = self.findings(self.edited(place, change))
            self.assertEqual({kind for kind, _ in found}, {rule}, found)

        only("provenance", lambda manifest: manifest.update(comment=""))
        only("provenance", lambda manifest: manifest["cases"][0].update(comment=""))
        found = self.findings(self.edited(place, lambda manifest: manifest.update(extra=1)))
        self.assertEqual([rule for rule, _ in found], ["schema", "format"])
        found = self.findings(self.edited(place, lambda manifest: manifest.update(schema_version=2)))
        self.assertEqual([rule for rule, _ in found], ["schema", "format"])

        root = self.corpus(place)
        (root / "stray.txt").write_text("x")
        self.assertEqual(self.findings(root), [("stray", "no manifest names it")])
        (root / "stray.txt").unlink()
        self.assertEqual([rule for rule, _ in self.findings(root, "--most-mebibytes", "0.001")],
                         ["size"])
        (root / "alibi").rename(root / "rope")
        self.assertEqual(self.findings(root),
                         [("name", "must lie in a folder alibi, its scheme's word")])
        (root / "rope").rename(root / "alibi")
        for ending in (".json", ".safetensors"):
            shutil.copy(root / (place + ending), root / ("alibi/again" + ending))
        found = self.findings(root)
        self.assertEqual({rule for rule, _ in found}, {"duplicate", "name"})
        # Wrong answers without the right one beside them.
        out = self.folder / "wrong"
        self.succeed("export", root / (place + ".json"), "--result", "invalid", "--format",
                     "safetensors", "--out", out / "alibi")
        self.assertEqual({rule for rule, _ in self.findings(out)}, {"label"})

    def test_a_corrupt_payload_is_found(self):
        root = self.corpus("alibi/key")
        payload = root / "alibi/key.safetensors"
        payload.write_bytes(payload.read_bytes()[:-1] + b"x")
        self.assertEqual([rule for rule, _ in self.findings(root)], ["format"])

    def test_refusals(self):
        self.refuse("cannot list", "lint", self.folder / "missing")
        self.refuse("--most-mebibytes", "lint", "--most-mebibytes", "-1")
        self.assertIn("nothing to check", self.succeed("lint", self.folder, code=4))


class Diff(Golden):
    def make(self, name, *options):
        out = self.folder / name
        self.succeed("new", "--scheme", "rope", "--quantity", "table", "--out", out, "--name", "a",
                     *options)
        return out

    def changes(self, before, after):
        return json.loads(self.succeed("diff", before, after, "--json", code=1))["changes"]

    def test_equal_corpora_differ_in_nothing(self):
        self.assertEqual(self.succeed("diff", VECTORS, VECTORS), "0 changes\n")

    def test_says_what_changed_and_why(self):
        old = self.make("old", "--positions", "1,2")
        whole, case = self.changes(old, self.make("base", "--positions", "1,2", "--set",
                                                  "base=20000"))
        self.assertEqual(whole["reasons"], ["scheme.base: 10000.0 -> 20000.0"])
        self.assertEqual(case["id"], "table")
        self.assertIn("cos", {values["output"] for values in case["values"]})
        for values in case["values"]:
            self.assertEqual(values["of"], 128)
            self.assertLess(values["changed"], 128)  # pair 0 keeps its frequency
        case, = self.changes(old, self.make("positions", "--positions", "1,3"))
        self.assertEqual(case["reasons"][0], "input positions: 1 of 2 values changed")
        case, = self.changes(old, self.make("more", "--positions", "1,2,3"))
        self.assertEqual(case["reasons"][0], "shape of input positions: [2] -> [3]")
        case, = self.changes(old, self.make("dtype", "--positions", "1,2", "--dtype", "f64"))
        self.assertIn("output cos f32: removed", case["reasons"])
        self.assertEqual(case["values"], [])

    def test_counts_ulps(self):
        """One bit of one value, as far as the format allows it."""
        root = self.corpus("rope/worked-example-half")
        changed = self.folder / "changed"
        shutil.copytree(root, changed)
        payload = changed / "rope/worked-example-half.safetensors"
        data = bytearray(payload.read_bytes())
        start = 8 + struct.unpack_from("<Q", data)[0]
        place = start + json.loads(data[8:start])["q/out.f64"]["data_offsets"][0]
        data[place] ^= 2
        self.rewrite(payload, data)
        case, = self.changes(root, changed)
        self.assertEqual(case["values"], [{"output": "out", "dtype": "f64", "changed": 1, "of": 4,
                                           "farthest_ulp": 2, "distances": 0}])

    def rewrite(self, payload, data):
        import hashlib
        path = payload.with_suffix(".json")
        old = hashlib.sha256(payload.read_bytes()).hexdigest()
        payload.write_bytes(data)
        path.write_text(path.read_text().replace(old, hashlib.sha256(data).hexdigest()))

    def test_added_and_removed(self):
        one = self.corpus("alibi/key")
        two = self.folder / "two"
        shutil.copytree(one, two)
        for ending in (".json", ".safetensors"):
            shutil.copy(VECTORS / ("alibi/slice" + ending), two / ("alibi/slice" + ending))
        (two / "CHANGELOG.md").write_text("a line that says why\n")
        self.assertEqual(self.succeed("diff", one, two, code=1),
                         "alibi/slice: added\nchangelog: a line that says why\n1 changes\n")
        self.assertEqual(self.succeed("diff", two, one, code=1), "alibi/slice: removed\n1 changes\n")

    def test_refusals(self):
        self.refuse("No such file", "diff", VECTORS, self.folder / "missing")
        self.refuse("new is required", "diff", VECTORS)


class Export(Golden):
    def export(self, form, *options):
        out = self.folder / form
        self.succeed("export", *options, "--format", form, "--out", out)
        return out

    def test_safetensors_are_the_same_bytes(self):
        out = self.export("safetensors", VECTORS)
        files = [path.relative_to(VECTORS) for path in VECTORS.rglob("*") if path.is_file()]
        self.assertEqual(sorted(files), sorted(path.relative_to(out) for path in out.rglob("*")
                                               if path.is_file()))
        for path in files:
            self.assertEqual((VECTORS / path).read_bytes(), (out / path).read_bytes())

    def test_npz_is_numpys_and_is_verified(self):
        out = self.export("npz", VECTORS, "--scheme", "rope", "--dtype", "f64,f32,f16")
        self.succeed("verify", out)
        stored = numpy.load(out / "rope/worked-example-half.npz")
        self.assertEqual(stored["q/out.f64"].ravel()[0].hex(),
                         (-1.102888503048339241219155924311839781568).hex())
        payload = out / "rope/worked-example-half.npz"
        payload.write_bytes(payload.read_bytes()[:-1] + b"x")
        self.succeed("verify", out, code=1)

    def test_a_part_is_verified_too(self):
        out = self.export("safetensors", VECTORS, "--result", "invalid,acceptable", "--dtype",
                          "f64,bf16")
        self.succeed("verify", out)
        out = self.export("npz", VECTORS, "--dtype", "f32,i32")
        self.succeed("verify", out)

    def test_json_has_the_bits(self):
        out = self.export("json", VECTORS, "--scheme", "rope")
        manifest = json.loads((out / "rope/worked-example-half.json").read_text())
        case = next(case for case in manifest["cases"] if case["id"] == "q")
        bits = case["outputs"]["out"]["f64"]["bits"]
        self.assertEqual(struct.unpack(">d", bytes.fromhex(bits[0]))[0],
                         -1.102888503048339241219155924311839781568)
        self.assertEqual(case["outputs"]["out"]["f64"]["distances"], [16479, 29508, 21508, 16086])
        self.assertEqual([struct.unpack(">d", bytes.fromhex(b))[0] for b in
                          case["inputs"]["positions"]["bits"]], [3])
        self.assertNotIn("payload", manifest)

    def test_the_same_cases_give_the_same_bytes(self):
        for form in ("npz", "json", "onnx", "c", "cpp", "rust"):
            files = []
            for name in ("once", "again"):
                out = self.folder / (form + name)
                self.succeed("export", VECTORS, "--scheme", "alibi,rope", "--format", form, "--out", out)
                files.append({path.relative_to(out): path.read_bytes()
                              for path in out.rglob("*") if path.is_file()})
            self.assertEqual(*files)

    def test_refusals_leave_nothing(self):
        self.refuse("--format must be one of", "export", VECTORS, "--format", "x", "--out",
                    self.folder / "x")
        self.refuse("--out must not exist yet", "export", VECTORS, "--format", "c", "--out",
                    self.folder)
        self.refuse("--out is required", "export", VECTORS, "--format", "c")
        self.refuse("--out must name a folder", "export", VECTORS, "--format", "c", "--out", "")
        file = self.folder / "file"
        file.write_text("x")
        self.refuse("file", "export", VECTORS, "--format", "c", "--out", file / "x")
        self.assertIn("0 files", self.succeed("export", VECTORS, "--format", "c", "--out",
                                              self.folder / "x", "--flag", "None", code=4))
        self.assertEqual(list(self.folder.iterdir()), [file])


class Source(Golden):
    """Arrays that a compiler reads back to the payload's bits."""

    def setUp(self):
        super().setUp()
        self.npz = self.folder / "npz"
        self.options = (VECTORS, "--scheme", "rope,alibi,t5")
        self.succeed("export", *self.options, "--format", "npz", "--out", self.npz)

    def numbers(self, place, tensor):
        return numpy.load(self.npz / (place + ".npz"))[tensor].ravel()

    def compiled(self, compiler, name, text):
        source = self.folder / name
        source.write_text(text)
        program = self.folder / "program"
        subprocess.run([*compiler, "-I", str(self.folder), str(source), "-o", str(program)],
                       check=True)
        return subprocess.run([str(program)], capture_output=True, text=True,
                              check=True).stdout.split()

    def test_c_and_cpp_arrays_are_the_payloads(self):
        wanted = [value.hex() for value in
                  self.numbers("rope/special-inputs", "not-finite/out.f64").tolist()]
        wanted += [value.hex() for value in
                   self.numbers("rope/worked-example-half", "q/out.f32").tolist()]
        loop = "  for (int i = 0; i < (int)(sizeof(A) / sizeof(A[0])); ++i) printf(\"%a\\n\", (double)A[i]);\n"
        for form, compiler, ending, names in (
                ("c", ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror"], ".c",
                 ("rope_special_inputs_not_finite_out_f64",
                  "rope_worked_example_half_q_out_f32")),
                ("cpp", ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror"], ".cc",
                 ("posgauge_golden::rope_special_inputs::not_finite_out_f64",
                  "posgauge_golden::rope_worked_example_half::q_out_f32"))):
            out = self.folder / form
            self.succeed("export", *self.options, "--format", form, "--out", out)
            headers = "".join('#include "{}/{}"\n'.format(form, path.name)
                              for path in sorted(out.iterdir()))
            text = "#include <stdio.h>\n" + headers + "int main(void) {\n" + "".join(
                loop.replace("A", name) for name in names) + "  return 0;\n}\n"
            got = self.compiled(compiler, "main" + ending, text)
            self.assertEqual([float.fromhex(word).hex() for word in got], wanted)

    @unittest.skipIf(shutil.which("rustc") is None, "there is no rustc")
    def test_rust_arrays_are_the_payloads(self):
        out = self.folder / "rust"
        self.succeed("export", *self.options, "--format", "rust", "--out", out)
        modules = "".join('#[path = "rust/{}"] #[allow(dead_code)] mod {};\n'.format(
            path.name, path.stem) for path in sorted(out.iterdir()))
        source = self.folder / "main.rs"
        source.write_text(modules + "fn main() { for bits in rope_worked_example_half::Q_OUT_F64 "
                          '{ println!("{:016x}", bits); } }\n')
        program = self.folder / "program"
        subprocess.run(["rustc", "-D", "warnings", str(source), "-o", str(program)], check=True)
        got = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
        self.assertEqual(got.split(), [struct.pack(">d", value).hex() for value in self.numbers(
            "rope/worked-example-half", "q/out.f64")])


class Onnx(Golden):
    DIGITS = {onnx.TensorProto.FLOAT: (24, -149), onnx.TensorProto.FLOAT16: (11, -24),
              onnx.TensorProto.BFLOAT16: (8, -133)}

    def tensor(self, path):
        """As binary64; that version of onnx reads bfloat16 in one of its two forms alone."""
        proto = onnx.TensorProto.FromString(path.read_bytes())
        if proto.data_type == onnx.TensorProto.BFLOAT16:
            bits = numpy.frombuffer(proto.raw_data, "<u2").astype("<u4") << 16
            return proto, bits.view("<f4").astype(float).reshape(tuple(proto.dims))
        return proto, onnx.numpy_helper.to_array(proto).astype(float)

    def test_data_sets_are_tensors_of_their_names(self):
        out = self.folder / "onnx"
        self.succeed("export", VECTORS, "--scheme", "alibi", "--format", "onnx", "--out", out)
        proto, values = self.tensor(
            out / "test_alibi_heads-16_slopes_f64/test_data_set_0/output_0.pb")
        self.assertEqual((proto.name, values.shape), ("slopes", (16,)))
        self.assertEqual(values[0], 0.5 ** 0.5)
        # Wrong answers are no tests to pass.
        self.assertFalse(list(out.glob("*_max-bias_*")))

    def test_rotary_embedding_is_the_operator_of_opset_23(self):
        out = self.folder / "onnx"
        self.succeed("export", VECTORS, "--quantity", "rotate", "--format", "onnx", "--out", out)
        models = sorted(out.glob("*/model.onnx"))
        self.assertGreater(len(models), 100)
        interleaved_seen = set()
        for path in models:
            model = onnx.ModelProto.FromString(path.read_bytes())
            self.assertEqual([(entry.domain, entry.version) for entry in model.opset_import],
                             [("", 23)])
            node, = model.graph.node
            self.assertEqual((node.op_type, list(node.input), list(node.output)),
                             ("RotaryEmbedding", ["X", "cos_cache", "sin_cache"], ["Y"]))
            attributes = {entry.name: entry.i for entry in node.attribute}
            inputs = [self.tensor(path.parent / "test_data_set_0" / "input_{}.pb".format(i))
                      for i in range(3)]
            output = self.tensor(path.parent / "test_data_set_0/output_0.pb")
            for info, (proto, _) in zip([*model.graph.input, *model.graph.output],
                                        [*inputs, output]):
                shape = info.type.tensor_type.shape
                self.assertEqual((info.name, info.type.tensor_type.elem_type,
                                  [dim.dim_value for dim in shape.dim]),
                                 (proto.name, proto.data_type, list(proto.dims)))
            interleaved_seen.add(attributes["interleaved"])
            self.hold(path, attributes, [values for _, values in inputs], *output)
        self.assertEqual(interleaved_seen, {0, 1})

    def hold(self, path, attributes, inputs, proto, y):
        """The operator as its specification has it, in binary64: each rounded cache is off by at
        most half an ulp, and so is y. With u = 2^-digits and q half of the smallest number that is
        at most u (|cos a| + |sin b| + |y|) + q (|a| + |b| + 1), but for 2^-50 of it."""
        x, cos, sin = inputs
        digits, quantum = self.DIGITS[proto.data_type]
        width = attributes["rotary_embedding_dim"]
        if attributes["interleaved"]:
            first, second = slice(0, width, 2), slice(1, width, 2)
        else:
            first, second = slice(0, width // 2), slice(width // 2, width)
        cos, sin = cos[:, None], sin[:, None]
        with numpy.errstate(invalid="ignore", over="ignore"):
            a, b = x[..., first], x[..., second]
            for got, u, v, sign in ((y[..., first], a, b, -1), (y[..., second], b, a, 1)):
                error = abs(u * cos + sign * v * sin - got)
                bound = (1 + 2.0 ** -6) * (
                    2.0 ** -digits * (abs(u * cos) + abs(v * sin) + abs(got)) +
                    2.0 ** (quantum - 1) * (abs(u) + abs(v) + 1))
                finite = numpy.isfinite(got) & numpy.isfinite(u) & numpy.isfinite(v)
                self.assertTrue((error <= bound)[finite].all(), path)
        self.assertTrue(((x == y) | numpy.isnan(x))[..., width:].all(), path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
