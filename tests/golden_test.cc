// The golden format: what is refused, and what verify sees.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "posgauge/golden/check.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/manifest.h"
#include "posgauge/golden/pretty_json.h"
#include "posgauge/golden/sha256.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/hex_float.h"
#include "posgauge/verify/random.h"
#include "posgauge/verify/safetensors.h"
#include "temporary_folder.h"

namespace posgauge::golden {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Tensor Vector(const std::vector<double>& values) {
  return Tensor::FromValues(Dtype::f64, {static_cast<int64_t>(values.size())}, values);
}

Case MakeCase(const std::string& id, Quantity quantity, std::map<std::string, Tensor> inputs) {
  Case golden_case;
  golden_case.id = id;
  golden_case.quantity = quantity;
  golden_case.flags = {"Example"};
  golden_case.dtypes = {Dtype::f64, Dtype::f32, Dtype::bf16};
  golden_case.inputs = std::move(inputs);
  return golden_case;
}

// Every quantity of a small scheme, computed.
Manifest Sample() {
  Manifest manifest;
  manifest.generator = "test";
  manifest.version = "1";
  manifest.comment = "a sample";
  manifest.scheme = ParseScheme("yarn", {"head_dim=4", "factor=4", "original_length=64"});
  manifest.notes["Example"] = {"none", "An example.", {"https://example.org"}};
  manifest.notes["Unused"] = {"none", "Dropped, as no case has it.", {}};
  const Tensor x = RandomInput({2, 1, 4}, 1, "x");
  const Tensor positions = Vector({1, 257});
  manifest.cases = {
      MakeCase("frequencies", Quantity::frequencies, {}),
      MakeCase("magnitude", Quantity::magnitude, {}),
      MakeCase("table", Quantity::table, {{"positions", positions}}),
      MakeCase("rotate", Quantity::rotate, {{"positions", positions}, {"x", x}}),
      MakeCase("backward", Quantity::rotate_backward, {{"positions", positions}, {"x", x}}),
      MakeCase("scores", Quantity::scores,
               {{"query_positions", positions},
                {"key_positions", Vector({0, 3})},
                {"q", x},
                {"k", RandomInput({2, 1, 4}, 1, "k")},
                {"scale", Vector({0.5})}})};
  Compute(manifest);
  return manifest;
}

Files Encoded(const Manifest& manifest) { return Encode(manifest, "sample.safetensors"); }

const fs::path kPath = "folder/sample.json";

Check CheckOf(const Files& files) {
  Check check;
  CheckFiles(files, kPath, check);
  return check;
}

// The one-line error of a call, or "accepted".
std::string Refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "accepted";
}

std::string DecodeRefusal(const Files& files) {
  return Refusal([&] { Decode(files, kPath.string()); });
}

// The manifest as JSON with one value changed; unpretty, but the same to a reader.
Files Changed(const Files& files, const char* pointer, const json& value) {
  json changed = json::parse(files.manifest);
  changed[json::json_pointer(pointer)] = value;
  return {changed.dump(), files.payload};
}

Files Without(const Files& files, const char* object, const char* key) {
  json changed = json::parse(files.manifest);
  changed[json::json_pointer(object)].erase(key);
  return {changed.dump(), files.payload};
}

// The files with another payload, of the right hash and size.
Files WithPayload(const Files& files, const std::string& payload) {
  Files changed = files;
  const std::string old = Sha256(files.payload);
  changed.manifest.replace(changed.manifest.find(old), old.size(), Sha256(payload));
  const std::string size = fmt::format("\"bytes\": {}", files.payload.size());
  changed.manifest.replace(changed.manifest.find(size), size.size(),
                           fmt::format("\"bytes\": {}", payload.size()));
  changed.payload = payload;
  return changed;
}

Files WithTensors(const Files& files, const std::function<void(Safetensors&)>& change) {
  Safetensors content = ParseSafetensors(files.payload, "x");
  change(content);
  return WithPayload(files, SerializeSafetensors(content));
}

TEST(sha256, OfTheStandardsExample) {  // FIPS 180-4, "abc"
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(hex_float, IsExactAndShort) {
  EXPECT_EQ(HexFloat(1), "0x1p+0");
  EXPECT_EQ(HexFloat(-0.0), "-0x0p+0");
  EXPECT_EQ(HexFloat(-0.1), "-0x1.999999999999ap-4");
  EXPECT_EQ(HexFloat(0x1p-1074), "0x1p-1074");
  EXPECT_EQ(HexFloat(-INFINITY), "-inf");
  Random random(1, "hex_float");
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(random.Bits());
    if (std::isnan(value)) continue;
    EXPECT_EQ(std::strtod(HexFloat(value).c_str(), nullptr), value);
  }
}

TEST(golden, NumbersAreExactEitherWay) {
  for (double value : {0.0, -0.0, 1.0, -131071.0, 0x1p53, 0x1p54, 0.1, 0x1p-1074, 1e300,
                       std::numeric_limits<double>::infinity()}) {
    const double read = NumberFromJson(json(NumberToJson(value)), "x");
    EXPECT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(value)) << value;
  }
  EXPECT_TRUE(NumberToJson(-131071).is_number_integer());
  EXPECT_TRUE(std::isnan(NumberFromJson(json(NumberToJson(NAN)), "x")));
  EXPECT_EQ(NumberFromJson(json(0.8), "x"), 0.8);
  for (const char* text : {R"("0.8")", R"("")", R"("0x")", R"("0x1p+0 ")", R"("-")", R"("nano")",
                           "9007199254740993", "[1]", "true", "null"}) {
    EXPECT_THROW(NumberFromJson(json::parse(text), "x"), ParameterError) << text;
  }
}

TEST(golden, PrettyJsonKeepsTheContent) {
  const auto object = nlohmann::ordered_json::parse(
      R"({"b": [1, "x"], "a": {"deep": [{"y": 1}, {}], "empty": []}, "text": "a\"\n\u00e9"})");
  const std::string text = PrettyJson(object);
  EXPECT_EQ(nlohmann::ordered_json::parse(text), object);
  EXPECT_TRUE(text.starts_with("{\n  \"b\": [1, \"x\"],\n")) << text;
  EXPECT_THROW(PrettyJson("\xff"), ParameterError);
}

TEST(golden, GeneratedInputsHoldInSixteenBits) {
  const Tensor x = RandomInput({8, 2, 64}, 0, "a/b");
  int negative = 0;
  for (double value : x.Values()) {
    for (Dtype dtype : {Dtype::bf16, Dtype::f16}) {
      EXPECT_EQ(RoundTo(FormatOf(dtype), value), value);
    }
    EXPECT_GE(std::fabs(value), 0.125);
    EXPECT_LT(std::fabs(value), 16);
    negative += value < 0;
  }
  EXPECT_GT(negative, 400);
  EXPECT_LT(negative, 624);
  EXPECT_EQ(RandomInput({8, 2, 64}, 0, "a/b"), x);
  EXPECT_FALSE(RandomInput({8, 2, 64}, 0, "a/c") == x);
  EXPECT_FALSE(RandomInput({8, 2, 64}, 1, "a/b") == x);
}

TEST(golden, EncodingIsCanonical) {
  const Manifest manifest = Sample();
  const Files files = Encoded(manifest);
  const Manifest read = Decode(files, kPath.string());
  const Files again = Encoded(read);
  EXPECT_EQ(again.manifest, files.manifest);
  EXPECT_EQ(again.payload, files.payload);
  EXPECT_FALSE(read.notes.contains("Unused"));
  ASSERT_EQ(read.cases.size(), manifest.cases.size());
  for (size_t i = 0; i < read.cases.size(); ++i) {
    EXPECT_EQ(read.cases[i].inputs, manifest.cases[i].inputs);
    EXPECT_EQ(read.cases[i].outputs, manifest.cases[i].outputs);
  }
  EXPECT_EQ(CheckOf(files).differences.size(), 0u);
}

TEST(golden, EveryMalformedManifestHasItsOwnMessage) {
  const Files good = Encoded(Sample());
  ASSERT_EQ(DecodeRefusal(good), "accepted");
  const auto change = [&](const char* pointer, const json& value) {
    return Changed(good, pointer, value);
  };
  const std::vector<std::pair<Files, std::string>> cases = {
      {{"[]", good.payload}, "must be an object with \"format\": \"posgauge-golden\""},
      {{"{}", good.payload}, "must be an object with \"format\": \"posgauge-golden\""},
      {{"{", good.payload}, ":1:2: the JSON ends too early"},
      {{good.manifest + "x", good.payload}, "not JSON"},
      {change("/schema_version", 2),
       "must have \"schema_version\": 1; this program reads no other"},
      {change("/extra", 1), "must not have the key \"extra\""},
      {Without(good, "", "notes"), "must have the key notes"},
      {change("/comment", 3), "comment must be a string, got 3"},
      {change("/generator", {{"name", "x"}}), "generator must have the key version"},
      {change("/scheme/scheme", "warp"), "scheme: scheme must be one of"},
      {change("/scheme/base", "x"), "scheme: yarn.base must be a finite number"},
      {change("/scheme/factor", 0.5), "scheme: yarn.factor must be"},
      {change("/scheme/other", 1), "scheme: yarn has no field"},
      {Without(good, "/scheme", "base"), "scheme must give every field of yarn"},
      {change("/notes/Example/links", "x"), "notes.Example.links must be a list"},
      {change("/notes/lower", 1), "notes must name flags in camel case, got \"lower\""},
      {change("/notes/Extra", {{"bug_type", "x"}, {"description", "x"}, {"links", json::array()}}),
       "notes must not define \"Extra\", which no case has"},
      {change("/payload/file", "../sample.safetensors"), "payload.file must be the name of a"},
      {change("/payload/file", "sample.bin"), "payload.file must be the name of a"},
      {change("/payload/file", "two\nlines.safetensors"), "payload.file must be the name of a"},
      {change("/payload/sha256", std::string(64, 'G')), "payload.sha256 must be 64 lower-case"},
      {change("/payload/bytes", 12), "payload.bytes is 12, but the payload has"},
      {change("/proof/exact", 0), "proof must be what its cases add up to: "},
      {change("/proof/max_bits", -1), "proof.max_bits must be an integer in 0..2^53, got -1"},
      {change("/cases", json::object()), "cases must be a list"},
      {change("/cases/0/id", "Bad"), "cases[0].id must be words of a-z and 0-9"},
      {change("/cases/0/id", "a--b"), "cases[0].id must be words of a-z and 0-9"},
      {change("/cases/1/id", "frequencies"), "which the payload lacks"},
      {change("/cases/0/quantity", "angles"), "cases[0]: quantity must be one of"},
      {change("/cases/0/result", "perhaps"), "cases[0]: result must be one of"},
      {change("/cases/0/result", "invalid"), "cases[0] must have a fault exactly where"},
      {change("/cases/0/fault", "x"), "cases[0] must have a fault exactly where"},
      {change("/cases/0/dialect", "x"), "cases[0] must have a dialect exactly where"},
      {change("/cases/0/cause", "x"), "cases[0] must have a cause exactly where"},
      {change("/cases/0/departure", {{"frequencies", "f32"}}),
       "cases[0] must have a departure exactly where"},
      {change("/cases/0/flags/0", "Other"), "cases[0].flags has \"Other\", which no note defines"},
      {change("/cases/0/flags/1", "Example"), "cases[0].flags must have Example once"},
      {change("/cases/0/dtypes", json::array()), "cases[0].dtypes must be some of f64, f32, bf16"},
      {change("/cases/0/dtypes", {"f32", "f64"}), "cases[0].dtypes must be some of f64, f32, bf16"},
      {change("/cases/0/dtypes", {"f99"}), "cases[0].dtypes: dtype must be one of"},
      {change("/cases/2/inputs/positions/values/0", 2),
       "cases[2].inputs.positions.values[0] is 2, but the payload holds 1"},
      {change("/cases/2/inputs/positions/values", {1}),
       "cases[2].inputs.positions.values must be 2 numbers, got 1"},
      {Without(good, "/cases/2/inputs/positions", "values"),
       "cases[2].inputs.positions must have values exactly where it has at most 64 elements"},
      {change("/cases/2/inputs/positions/shape", {1}), "the payload has f64 of shape [2]"},
      {change("/cases/2/inputs/positions/shape", {1.5}), "must be an integer in 0..2^53, got 1.5"},
      {change("/cases/2/inputs/x", 1), "cases[2].inputs must not have the key \"x\""},
      {Without(good, "/cases/2/inputs", "positions"),
       "cases[2].inputs must have the key positions"},
      {change("/cases/2/outputs/tan", 1), "cases[2].outputs must not have the key \"tan\""},
      {change("/cases/2/outputs/cos/shape", {2, 3}), "cases[2].outputs.cos.shape must be [2, 2]"},
      {change("/cases/2/outputs/cos/f64/proven", 3),
       "cases[2].outputs.cos.f64 counts 3 proofs for 4 values"},
      {Without(good, "/cases/2/outputs/cos", "f32"), "cases[2].outputs.cos must have the key f32"},
      {change("/cases/2/outputs/cos/f64/undecided_values", {0}),
       "cases[2].outputs.cos.f64 names 1 undecided values but counts 0"},
  };
  for (const auto& [files, expected] : cases) {
    const std::string refusal = DecodeRefusal(files);
    EXPECT_TRUE(refusal.starts_with("folder/sample.json:")) << refusal;
    EXPECT_NE(refusal.find(expected), std::string::npos)
        << "got:    " << refusal << "\nwanted: " << expected;
  }
}

TEST(golden, PayloadMustHoldExactlyTheTensors) {
  const Files good = Encoded(Sample());
  const auto refusal = [&](const std::function<void(Safetensors&)>& change) {
    return DecodeRefusal(WithTensors(good, change));
  };
  EXPECT_NE(refusal([](Safetensors& content) {
              content.tensors.erase("table/cos.f64");
            }).find("cases[2].outputs.cos.f64 needs the tensor table/cos.f64"),
            std::string::npos);
  EXPECT_NE(refusal([](Safetensors& content) {
              content.tensors["extra"] = Tensor(Dtype::u8, {1});
            }).find("must not hold the tensor \"extra\", which no case has"),
            std::string::npos);
  EXPECT_NE(refusal([](Safetensors& content) {
              content.tensors["table/cos.f64"] = Tensor(Dtype::f32, {2, 2});
            }).find("the payload has f32 of shape [2, 2]"),
            std::string::npos);
  EXPECT_NE(refusal([](Safetensors& content) {
              content.tensors["table/cos.f64.distance"].Set(0, 32769);
            }).find("a rounding to nearest has at most 2^15"),
            std::string::npos);
  EXPECT_NE(refusal([](Safetensors& content) {
              content.metadata["a"] = "b";
            }).find("payload must not have metadata"),
            std::string::npos);
}

TEST(golden, VerifySeesOneUlp) {
  const Files good = Encoded(Sample());
  for (const std::string tensor :
       {"frequencies/frequencies.f64", "magnitude/magnitude.f32", "table/sin.bf16",
        "rotate/out.f64", "backward/out.f32", "scores/scores.f64"}) {
    const Files changed = WithTensors(good, [&](Safetensors& content) {
      Tensor& values = content.tensors.at(tensor);
      values.SetBits(values.size() - 1, values.Bits(values.size() - 1) + 1);
    });
    const Check check = CheckOf(changed);
    ASSERT_EQ(check.differences.size(), 1u) << tensor;
    const std::string id = tensor.substr(0, tensor.find('/'));
    EXPECT_TRUE(check.differences[0].what.starts_with(fmt::format("case {}, ", id)))
        << check.differences[0].what;
    EXPECT_EQ(check.differences[0].file, kPath);
  }
}

TEST(golden, VerifyNamesValueAndBits) {
  const Files changed = WithTensors(Encoded(Sample()), [](Safetensors& content) {
    content.tensors.at("table/cos.f32").SetBits(2, 0x3f800000);
  });
  const Check check = CheckOf(changed);
  ASSERT_EQ(check.differences.size(), 1u);
  const std::string& what = check.differences[0].what;
  EXPECT_TRUE(
      what.starts_with("case table, f32, cos[1, 0]: stored 0x1p+0 (0x3f800000), regenerated 0x1."))
      << what;
}

TEST(golden, VerifySeesEveryKindOfTampering) {
  const Files good = Encoded(Sample());
  // A wrong hash, a wrong evidence, another order of keys, a payload in another order.
  Files changed = good;
  changed.payload.back() = static_cast<char>(changed.payload.back() ^ 1);
  Check check = CheckOf(changed);
  ASSERT_EQ(check.differences.size(), 2u);
  EXPECT_TRUE(check.differences[0].what.starts_with("payload.sha256: stored "));
  EXPECT_TRUE(check.differences[1].what.starts_with("case table, bf16, sin[1, 1]: stored "))
      << check.differences[1].what;

  changed = WithTensors(good, [](Safetensors& content) {
    Tensor& distances = content.tensors.at("rotate/out.f64.distance");
    distances.Set(1, distances.Value(1) + 1);
  });
  check = CheckOf(changed);
  ASSERT_EQ(check.differences.size(), 1u);
  EXPECT_TRUE(check.differences[0].what.starts_with("case rotate, f64, out distance[0, 0, 1]: "))
      << check.differences[0].what;

  json bits = json::parse(good.manifest);
  bits["cases"][2]["outputs"]["cos"]["f64"]["max_bits"] = 64;
  EXPECT_EQ(CheckOf({bits.dump(), good.payload}).differences.size(), 1u);

  EXPECT_EQ(CheckOf({json::parse(good.manifest).dump(), good.payload}).differences.size(), 1u);

  std::string padded = good.payload;
  const size_t header =
      static_cast<unsigned char>(padded[0]) + 256u * static_cast<unsigned char>(padded[1]);
  padded.insert(8 + header, 8, ' ');
  padded[0] = static_cast<char>((header + 8) & 0xff);
  padded[1] = static_cast<char>((header + 8) >> 8);
  EXPECT_GE(CheckOf(WithPayload(good, padded)).differences.size(), 1u);

  // Garbage instead of the payload is a difference where the hash betrays it, an error otherwise.
  check = CheckOf({good.manifest, std::string(good.payload.size(), 'x')});
  ASSERT_EQ(check.differences.size(), 2u);
  EXPECT_TRUE(check.differences[1].what.starts_with("payload sample.safetensors: "))
      << check.differences[1].what;
  EXPECT_THROW(CheckOf(WithPayload(good, "garbage")), FormatError);
}

// Free text may change; every other byte of a manifest is pinned by the payload or the values.
TEST(golden, EveryFlippedByteIsSeen) {
  Manifest manifest = Sample();
  // A scheme all of whose parameters show in these values.
  manifest.scheme = ParseScheme("rope", {"head_dim=4"});
  manifest.cases.resize(4);
  manifest.cases.erase(manifest.cases.begin() + 1);
  for (Case& golden_case : manifest.cases) golden_case.dtypes = {Dtype::f32};
  Compute(manifest);
  const Files good = Encoded(manifest);

  const auto is_refused = [](const Files& files) {
    try {
      return !CheckOf(files).differences.empty();
    } catch (const FormatError&) {
      return true;
    }
  };
  const auto only_text_differs = [&](const Files& files) {
    Manifest restored = Decode(files, kPath.string());
    restored.generator = manifest.generator;
    restored.version = manifest.version;
    restored.comment = manifest.comment;
    restored.source = manifest.source;
    restored.notes = manifest.notes;
    for (size_t i = 0; i < restored.cases.size(); ++i) {
      restored.cases[i].comment = manifest.cases[i].comment;
      restored.cases[i].flags = manifest.cases[i].flags;
    }
    return Encoded(restored).manifest == good.manifest;
  };
  for (size_t i = 0; i < good.manifest.size(); ++i) {
    Files flipped = good;
    flipped.manifest[i] = static_cast<char>(flipped.manifest[i] ^ (1 << (i % 8)));
    EXPECT_TRUE(is_refused(flipped) || only_text_differs(flipped)) << "manifest byte " << i;
  }
  for (size_t i = 0; i < good.payload.size(); ++i) {
    Files flipped = good;
    flipped.payload[i] = static_cast<char>(flipped.payload[i] ^ (1 << (i % 8)));
    EXPECT_TRUE(is_refused(flipped)) << "payload byte " << i;
    EXPECT_TRUE(is_refused(WithPayload(good, flipped.payload)))
        << "payload byte " << i << ", rehashed";
  }
}

TEST(golden, EveryTruncationIsSeen) {
  Manifest manifest = Sample();
  manifest.cases.resize(1);
  Compute(manifest);
  const Files good = Encoded(manifest);
  for (size_t size = 0; size + 1 < good.manifest.size(); ++size) {
    EXPECT_THROW(CheckOf({good.manifest.substr(0, size), good.payload}), FormatError) << size;
  }
  // Without its last newline it still is JSON, but not these bytes.
  const std::string without_newline = good.manifest.substr(0, good.manifest.size() - 1);
  EXPECT_EQ(CheckOf({without_newline, good.payload}).differences.size(), 1u);
  for (size_t size = 0; size < good.payload.size(); ++size) {
    const std::string payload = good.payload.substr(0, size);
    EXPECT_GE(CheckOf({good.manifest, payload}).differences.size(), 1u) << size;
    EXPECT_THROW(CheckOf(WithPayload(good, payload)), FormatError) << size;
  }
}

TEST(golden, UndecidedValuesAreFlaggedAndNamed) {
  Manifest manifest = Sample();
  Case& golden_case = manifest.cases[0];
  Rounding& rounding = golden_case.outputs.at("frequencies").at(Dtype::f64);
  --rounding.proof.proven;
  ++rounding.proof.undecided;
  rounding.undecided = {1};
  EXPECT_NE(DecodeRefusal(Encoded(manifest)).find("cases[0].flags must have Undecided"),
            std::string::npos);
  golden_case.flags.emplace_back(kUndecidedFlag);
  manifest.notes[std::string(kUndecidedFlag)] = {"none", "x", {}};
  ASSERT_EQ(DecodeRefusal(Encoded(manifest)), "accepted");
  EXPECT_EQ(Decode(Encoded(manifest), "x").cases[0].outputs, golden_case.outputs);
  // The reference decides it, so that verify sees the claim as tampering.
  EXPECT_EQ(CheckOf(Encoded(manifest)).differences.size(), 1u);
  for (const std::vector<int64_t>& indices : {std::vector<int64_t>{2}, {0, 0}, {1, 0}}) {
    const auto count = static_cast<int64_t>(indices.size());
    rounding.undecided = indices;
    rounding.proof = {.exact = 2 - count, .proven = 0, .undecided = count, .max_bits = 128};
    EXPECT_NE(DecodeRefusal(Encoded(manifest)).find("must name undecided values once, in order"),
              std::string::npos);
  }
}

TEST(golden, ComputeFlagsWhatTheReferenceCannotDecide) {
  Manifest manifest;
  manifest.scheme = ParseScheme("rope", {"head_dim=4"});
  // 1 + 2^-24 is a tie of binary32; the turn by 2^-1070 lowers it by less than 1025 bits show.
  manifest.cases = {MakeCase(
      "tie", Quantity::rotate,
      {{"positions", Vector({0x1p-1070})},
       {"x",
        Tensor::FromValues(Dtype::f64, {1, 1, 4}, std::vector<double>{1 + 0x1p-24, 1, 1, 1})}})};
  manifest.cases[0].dtypes = {Dtype::f32};
  manifest.cases[0].flags = {};
  Compute(manifest);
  EXPECT_EQ(manifest.cases[0].flags, std::vector<std::string>{std::string(kUndecidedFlag)});
  EXPECT_EQ(manifest.cases[0].outputs.at("out").at(Dtype::f32).undecided, std::vector<int64_t>{0});
  EXPECT_TRUE(manifest.notes.contains("Undecided"));
  EXPECT_EQ(CheckOf(Encoded(manifest)).differences.size(), 0u);
}

TEST(golden, FoldersAreCheckedWhole) {
  TemporaryFolder folder;
  WriteFiles(folder / "sample", Encoded(Sample()));
  EXPECT_EQ(CheckGolden(folder.path()).files, 1);
  EXPECT_EQ(CheckGolden(folder.path()).differences.size(), 0u);
  EXPECT_EQ(CheckGolden(folder / "sample.json").values, CheckGolden(folder.path()).values);

  WriteFileAtomically(folder / "stray.safetensors", "x");
  ASSERT_EQ(CheckGolden(folder.path()).differences.size(), 1u);
  EXPECT_EQ(CheckGolden(folder.path()).differences[0].what, "no manifest names it");

  WriteFileAtomically(folder / "sample.safetensors", "x");
  EXPECT_NE(Refusal([&] { ReadManifest(folder / "sample.json"); }).find("payload.sha256 is"),
            std::string::npos);
  fs::remove(folder / "sample.safetensors");
  EXPECT_THROW(CheckGolden(folder.path()), FileError);
  EXPECT_THROW(CheckGolden(folder / "missing"), FileError);
}

TEST(golden, ComputeNamesTheCaseThatIsWrong) {
  const auto refusal = [](const std::function<void(Case&)>& change) {
    Manifest manifest = Sample();
    change(manifest.cases[3]);
    return Refusal([&] { Compute(manifest); });
  };
  EXPECT_EQ(refusal([](Case& c) { c.inputs.erase("x"); }),
            "rotate: the input x of rotate is missing");
  EXPECT_EQ(refusal([](Case& c) { c.inputs["q"] = Vector({1}); }),
            "rotate: q is not an input of rotate");
  EXPECT_EQ(refusal([](Case& c) {
              c.inputs["positions"] = Vector({1, NAN});
            }),
            "rotate: positions must be finite, got nan");
  EXPECT_EQ(refusal([](Case& c) { c.inputs["positions"] = Vector({1}); }),
            "rotate: x must have the shape [1, -1, 4], got [2, 1, 4]");
  EXPECT_EQ(refusal([](Case& c) {
              c.inputs["x"] = Tensor(Dtype::f32, {2, 1, 4});
            }),
            "rotate: x must be of dtype f64, got f32");
  EXPECT_EQ(Refusal([] {
              Manifest manifest = Sample();
              manifest.cases[5].inputs["k"] = RandomInput({2, 3, 4}, 1, "k");
              Compute(manifest);
            }),
            "scores: q and k must have the same heads, got 1 and 3");
}

}  // namespace
}  // namespace posgauge::golden
