// The golden format: what is refused, what verify sees, and what the shipped vectors are.
#include <sys/wait.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "posgauge/golden/check.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/manifest.h"
#include "posgauge/golden/plan.h"
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

const fs::path kRoot = POSGAUGE_SOURCE_DIR;
const fs::path kVectors = kRoot / "golden/vectors";

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

TEST(golden, GeneratedInputsHoldInEveryDtype) {
  const Tensor x = RandomInput({8, 2, 64}, 0, "a/b");
  int negative = 0;
  for (double value : x.Values()) {
    for (Dtype dtype : kFloatDtypes) EXPECT_EQ(RoundTo(FormatOf(dtype), value), value);
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
      {{"{", good.payload}, "not JSON"},
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
      {change("/payload/sha256", std::string(64, 'G')), "payload.sha256 must be 64 lower-case"},
      {change("/payload/bytes", 12), "payload.bytes is 12, but the payload has"},
      {change("/proof/exact", 0), "proof is {\"exact\":0,"},
      {change("/proof/max_bits", -1), "proof.max_bits must be an integer in 0..2^53, got -1"},
      {change("/cases", json::object()), "cases must be a list"},
      {change("/cases/0/id", "Bad"), "cases[0].id must be words of a-z and 0-9"},
      {change("/cases/0/id", "a--b"), "cases[0].id must be words of a-z and 0-9"},
      {change("/cases/1/id", "frequencies"), "which the payload lacks"},
      {change("/cases/0/quantity", "angles"), "cases[0]: quantity must be one of"},
      {change("/cases/0/result", "perhaps"), "cases[0]: result must be one of"},
      {change("/cases/0/result", "invalid"), "cases[0] must have a fault exactly where"},
      {change("/cases/0/fault", "x"), "cases[0] must have a fault exactly where"},
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
    EXPECT_TRUE(refusal.starts_with("folder/sample.json: ")) << refusal;
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
  EXPECT_EQ(CheckOf({good.manifest, std::string(good.payload.size(), 'x')}).differences.size(), 2u);
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

// 1 + 2^-53 + 2^-1074 lies beside a tie that no precision of the ladder tells from it.
TEST(golden, ComputeFlagsWhatTheReferenceCannotDecide) {
  Manifest manifest;
  manifest.scheme = ParseScheme("rope", {"head_dim=4"});
  const auto rows = [](const std::vector<double>& values) {
    return Tensor::FromValues(Dtype::f64, {1, 1, 4}, values);
  };
  manifest.cases = {MakeCase("tie", Quantity::scores,
                             {{"query_positions", Vector({5})},
                              {"key_positions", Vector({5})},
                              {"q", rows({1, 0x1p-53, 0x1p-1000, 0})},
                              {"k", rows({1, 1, 0x1p-74, 0})},
                              {"scale", Vector({1})}})};
  manifest.cases[0].flags = {};
  Compute(manifest);
  EXPECT_EQ(manifest.cases[0].flags, std::vector<std::string>{std::string(kUndecidedFlag)});
  EXPECT_EQ(manifest.cases[0].outputs.at("scores").at(Dtype::f64).undecided,
            std::vector<int64_t>{0});
  EXPECT_TRUE(manifest.notes.contains("Undecided"));
  EXPECT_EQ(CheckOf(Encoded(manifest)).differences.size(), 0u);
}

TEST(golden, InvalidCasesAreReadButNotVouchedFor) {
  Manifest manifest = Sample();
  manifest.cases[0].result = Result::invalid;
  manifest.cases[0].fault = "base_scaled";
  const Files files = Encoded(manifest);
  const Manifest read = Decode(files, kPath.string());
  EXPECT_EQ(read.cases[0].result, Result::invalid);
  EXPECT_EQ(read.cases[0].fault, "base_scaled");
  EXPECT_NE(Refusal([&] { CheckOf(files); }).find("cannot replay faults"), std::string::npos);
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
}

// ---- Plans.

std::string PlanRefusal(
    const std::string& cases,
    const std::string& manifest_keys = R"("parameters": {"head_dim": 4, "rotary_dim": 4})") {
  TemporaryFolder folder;
  WriteFileAtomically(folder / "rope.json",
                      fmt::format(R"({{"scheme": "rope", "manifests": [{{"name": "a", "comment": "",
                          {}, "cases": [{}]}}]}})",
                                  manifest_keys, cases));
  return Refusal([&] {
    ReadPlan(folder / "rope.json", kRoot / "golden/models", {{"Known", {"none", "x", {}}}});
  });
}

TEST(golden_plan, EveryMistakeIsNamed) {
  const std::string head = R"("id": "a", "comment": "", "flags": ["Known"])";
  const std::string table = R"("quantity": "table")", rotate = R"("quantity": "rotate")";
  EXPECT_EQ(PlanRefusal("{" + head + "," + table + R"(, "positions": [1, "0x1p-1", 0.1]})"),
            "accepted");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{" + head + "}", "cases[0] must have the key quantity"},
      {"{" + head + "," + table + "}", "cases[0] must have the key positions"},
      {"{" + head + "," + table + R"(, "positions": ["1"]})", "an element must be a hex float"},
      {"{" + head + "," + table + R"(, "positions": [1], "x": [1]})", "must not have x for table"},
      {"{" + head + "," + table + R"(, "positions": [1], "y": [1]})",
       "must not have the key \"y\""},
      {"{" + head + "," + rotate + R"(, "positions": [1], "x": [1]})", "takes 4 values, got 1"},
      {R"({"id": "a", "comment": "", "flags": [], "quantity": "frequencies"})",
       "flags must say why the case exists"},
      {R"({"id": "a", "comment": "", "flags": ["Other"], "quantity": "frequencies"})",
       "flags has \"Other\", which no note defines"},
      {"{" + head + R"(, "quantity": "frequencies"},{)" + head + R"(, "quantity": "magnitude"})",
       "cases[1].id must be unique"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string refusal = PlanRefusal(text);
    EXPECT_NE(refusal.find(expected), std::string::npos)
        << "got:    " << refusal << "\nwanted: " << expected;
  }
  const auto expect_manifest = [](const std::string& keys, const std::string& expected) {
    const std::string refusal = PlanRefusal("", keys);
    EXPECT_NE(refusal.find(expected), std::string::npos)
        << "got:    " << refusal << "\nwanted: " << expected;
  };
  expect_manifest(R"("source": "")", "must not have the key \"source\"");
  expect_manifest(R"("parameters": {"factor": 2})", "must not have the key \"factor\"");
  expect_manifest(R"("parameters": {}, "model": "x")", "must have either parameters or a model");
  expect_manifest(R"("model": "missing.json")", "No such file");
  expect_manifest(R"("model": "llama-3.1-8b.json")", "model must be of scheme rope, is llama3");
  expect_manifest(R"("model": "gemma-3-27b.json")", "must have layers, one of");
}

// Nobody edits vectors, and nobody edits a plan without writing its vectors.
TEST(golden_plan, ShippedVectorsAreThoseOfThePlans) {
  std::set<fs::path> planned_files, files;
  for (const auto& [word, manifests] : ReadPlans(kRoot / "golden")) {
    for (const PlannedManifest& planned : manifests) {
      const fs::path path = kVectors / word / (planned.name + ".json");
      planned_files.insert(path);
      const Manifest shipped = ReadManifest(path);
      EXPECT_EQ(shipped.scheme, planned.manifest.scheme) << path;
      EXPECT_EQ(shipped.comment, planned.manifest.comment) << path;
      EXPECT_EQ(shipped.source, planned.manifest.source) << path;
      for (const auto& [flag, note] : shipped.notes) {
        EXPECT_EQ(note, planned.manifest.notes.at(flag)) << path << " " << flag;
      }
      ASSERT_EQ(shipped.cases.size(), planned.manifest.cases.size()) << path;
      for (size_t i = 0; i < shipped.cases.size(); ++i) {
        const Case &a = shipped.cases[i], &b = planned.manifest.cases[i];
        EXPECT_EQ(std::tie(a.id, a.quantity, a.comment, a.flags, a.dtypes, a.inputs),
                  std::tie(b.id, b.quantity, b.comment, b.flags, b.dtypes, b.inputs))
            << path << " " << a.id;
      }
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(kVectors)) {
    if (entry.path().extension() == ".json") files.insert(entry.path());
  }
  EXPECT_EQ(files, planned_files);
}

TEST(golden_plan, EveryFlagIsUsed) {
  std::map<std::string, Note> unused = ReadNotes(kRoot / "golden/flags.json");
  for (const auto& [word, manifests] : ReadPlans(kRoot / "golden")) {
    for (const PlannedManifest& planned : manifests) {
      for (const Case& golden_case : planned.manifest.cases) {
        for (const std::string& flag : golden_case.flags) unused.erase(flag);
      }
    }
  }
  for (const auto& [flag, note] : unused) ADD_FAILURE() << flag;
}

// ---- The shipped vectors.

TEST(golden_vectors, AreRegeneratedByteForByteAndAllDecided) {
  const Check check = CheckGolden(kVectors);
  for (const Difference& difference : check.differences) {
    ADD_FAILURE() << difference.file << ": " << difference.what;
  }
  EXPECT_GT(check.values, 50'000);
  EXPECT_EQ(check.proof.undecided, 0);
  EXPECT_EQ(check.proof.Total(), check.values);
}

TEST(golden_vectors, StaySmall) {
  uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kVectors)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LT(bytes, uintmax_t{3} << 20);
}

// An output of a shipped case.
struct Shipped {
  Shipped(const std::string& file, const std::string& id, const std::string& output) {
    const Manifest manifest = ReadManifest(kVectors / (file + ".json"));
    for (const Case& golden_case : manifest.cases) {
      if (golden_case.id == id) roundings = golden_case.outputs.at(output);
    }
  }
  double operator()(size_t index, Dtype dtype = Dtype::f64) const {
    return roundings.at(dtype).values.Value(index);
  }
  std::map<Dtype, Rounding> roundings;
};

// glibc's strtod rounds a decimal of any length correctly.
double Decimal(const char* digits) { return std::strtod(digits, nullptr); }

// Digits from a computation with 60 decimal digits, in no part this one.
TEST(golden_vectors, FrequenciesHaveTheDigitsComputedElsewhere) {
  const Shipped base_10000("rope/llama-2-7b", "frequencies", "frequencies");
  EXPECT_EQ(base_10000(1), Decimal("0.8659643233600653523531691834"));
  EXPECT_EQ(base_10000(63), Decimal("1.1547819846894581796664828e-4"));
  const Shipped base_500000("rope/hard-to-round-base-500000", "frequencies", "frequencies");
  EXPECT_EQ(base_500000(32), Decimal("1.4142135623730950488016887e-3"));
  const Shipped base_1000000("rope/mistral-7b-v0-3", "frequencies", "frequencies");
  EXPECT_EQ(base_1000000(63), Decimal("1.24093776075171956609870735e-6"));
  const Shipped base_150000("rope/gpt-oss-base", "frequencies", "frequencies");
  EXPECT_EQ(base_150000(17), Decimal("1.7791047476692703473945854e-3"));
  const Shipped llama3("llama3/llama-3-1-8b", "frequencies", "frequencies");
  EXPECT_EQ(llama3(28), Decimal("3.2114459947525910185434e-3"));
  EXPECT_EQ(llama3(29), Decimal("2.1665707635033586093415e-3"));
  EXPECT_EQ(llama3(31), Decimal("8.5675141291963208107433e-4"));
  EXPECT_EQ(llama3(34), Decimal("1.7850781276799641852367e-4"));
  EXPECT_EQ(llama3(35), Decimal("9.5562123539646830198683e-5"));
  EXPECT_EQ(llama3(63), Decimal("3.0689259889145110890524e-7"));
  const Shipped gpt_oss("yarn/gpt-oss-120b", "frequencies", "frequencies");
  EXPECT_EQ(gpt_oss(17), Decimal("0.0001293187012450627206078607612838930195263"));
  const Shipped hunyuan("ntk/hunyuan-a13b", "frequencies", "frequencies");
  EXPECT_EQ(hunyuan(1), Decimal("0.7760343630469744112979767804420877661403"));
  const Shipped aware("ntk/aware-2", "frequencies", "frequencies");
  EXPECT_EQ(aware(63), Decimal("0.00005773909923447290898332414436477541407835"));
  const Shipped naive("ntk/naive-2", "frequencies", "frequencies");
  EXPECT_EQ(naive(63), Decimal("0.0000583678368024046035400818703780508058874"));
  const Shipped linear("linear/gemma-3-27b-full", "frequencies", "frequencies");
  EXPECT_EQ(linear(1), Decimal("0.100730273470185227125321924467597240362"));
}

// Five significant digits from the tests of transformers.
TEST(golden_vectors, FrequenciesAgreeWithPublishedSnapshots) {
  const auto digits = [](double value) { return fmt::format("{:.5g}", value); };
  const Shipped dynamic("ntk/dynamic-10", "frequencies", "frequencies");
  EXPECT_EQ(digits(dynamic(1)), "0.80931");
  EXPECT_EQ(digits(dynamic(63)), "1.6265e-06");
  const Shipped yarn("yarn/factor-10", "frequencies", "frequencies");
  EXPECT_EQ(digits(yarn(17)), "0.083479");
  EXPECT_EQ(digits(yarn(40)), "0.00043007");
  const Shipped llama3("llama3/factor-10", "frequencies", "frequencies");
  EXPECT_EQ(digits(llama3(31)), "0.01073");
  EXPECT_EQ(digits(llama3(40)), "0.00034539");
}

TEST(golden_vectors, TablesHaveTheDigitsComputedElsewhere) {
  const Shipped cos("rope/hard-to-round-base-500000", "anchors", "cos");
  const Shipped sin("rope/hard-to-round-base-500000", "anchors", "sin");
  EXPECT_EQ(cos(1), Decimal(".6861468919275439955673405"));
  EXPECT_EQ(sin(1), Decimal(".7274630180965705011837724"));
  EXPECT_EQ(cos(64 + 1), Decimal(".8708706189214010799620"));
  EXPECT_EQ(sin(64 + 1), Decimal("-.4915123244634419330159"));
  EXPECT_EQ(cos(128 + 1), Decimal("-.8173161500238642727854"));
  EXPECT_EQ(sin(128 + 1), Decimal(".5761894748345965655316"));
}

TEST(golden_vectors, WorkedExampleHasTheDigitsComputedElsewhere) {
  const Shipped interleaved("rope/worked-example-interleaved", "q", "out");
  EXPECT_EQ(interleaved(0), Decimal("-1.060552500630379068321945196135316442317"));
  EXPECT_EQ(interleaved(1), Decimal("-0.3538762402403555065350415945575203713499"));
  EXPECT_EQ(interleaved(2), Decimal("0.7906413769384413595091244815141335931298"));
  EXPECT_EQ(interleaved(3), Decimal("0.3238614102866927737313018665495803798322"));
  EXPECT_EQ(interleaved.roundings.at(Dtype::f64).distances.Values(),
            (std::vector<double>{6800, 18066, -16222, -27288}));
  const Shipped half("rope/worked-example-half", "q", "out");
  EXPECT_EQ(half(0), Decimal("-1.102888503048339241219155924311839781568"));
  EXPECT_EQ(half(1), Decimal("0.490776366813745060238538400255020710285"));
  EXPECT_EQ(half(2), Decimal("-0.6508739892204891876810119902551611436359"));
  EXPECT_EQ(half(3), Decimal("0.314862760225944074168676165573332775218"));
  EXPECT_EQ(half.roundings.at(Dtype::f64).distances.Values(),
            (std::vector<double>{16479, 29508, 21508, 16086}));
}

TEST(golden_vectors, YarnsMagnitudeActsOnQueryAndKey) {
  const Shipped magnitude("yarn/worked-example", "magnitude", "magnitude");
  EXPECT_EQ(magnitude(0), Decimal("1.27725887222397812376689284858327062723"));  // 0.1 ln 16 + 1
  EXPECT_EQ(magnitude.roundings.at(Dtype::f64).distances.Value(0), -10369);
  const Shipped q("yarn/worked-example", "q", "out");
  EXPECT_EQ(q(0), Decimal("-1.354600090889477816984777402843393404495"));
  EXPECT_EQ(q(3), Decimal("0.399413359604368992271285568095420157608"));
  const Shipped k("yarn/worked-example", "k", "out");
  EXPECT_EQ(k(0), Decimal("1.419829237991511627621863295388010461593"));
  EXPECT_EQ(k(3), Decimal("2.55617804835503197637579522667419607239"));
  const Shipped score("yarn/worked-example", "score", "scores");
  EXPECT_EQ(score(0), Decimal("-0.2614010160469704287514270740223005819574"));
}

TEST(golden_vectors, MagnitudesFollowTheirRule) {
  const auto value = [](const std::string& file, const std::string& output) {
    return Shipped("yarn/" + file, "magnitude", output)(0);
  };
  EXPECT_EQ(value("gpt-oss-120b", "magnitude"), Decimal("1.346573590279972654708616060729088284"));
  for (const char* pure : {"deepseek-v3", "deepseek-v2-lite", "kimi-k2", "ministral-3-3b",
                           "magnitude-none", "factor-one"}) {
    EXPECT_EQ(value(pure, "magnitude"), 1) << pure;
  }
  EXPECT_EQ(value("deepseek-v3", "softmax_multiplier"),
            Decimal("1.873854207092626587463763862657710799894"));
  EXPECT_EQ(value("deepseek-v2-lite", "softmax_multiplier"),
            Decimal("1.589626165120873475406077229695629169713"));
  EXPECT_EQ(value("mscale-huggingface", "magnitude"),
            Decimal("1.368887945411393630285245569760071734375"));
  EXPECT_EQ(value("mscale-deepseek", "magnitude"),
            Decimal("1.260803777405855282523221184537911438475"));
  EXPECT_EQ(value("magnitude-telechat3", "magnitude"),
            Decimal("1.145560907917588514977618745506217079296"));
  EXPECT_EQ(value("attention-multiplier", "magnitude"),
            Decimal("0.7426015131959808582960312425103617988264"));
  EXPECT_EQ(value("attention-factor", "magnitude"), 1.4852);
}

// Found by rounding every entry of positions below 2^20 with proof.
TEST(golden_vectors, HardEntriesAreRoundedRight) {
  const Shipped cos_500000("rope/hard-to-round-base-500000", "binary32", "cos");
  EXPECT_EQ(cos_500000(19, Dtype::f32), -0x1.8c0496p-3);
  // 2^-31.67 ulp from a midpoint: the binary64 value is that midpoint, and tells nothing.
  EXPECT_EQ(cos_500000(19), -0x1.8c0495p-3);
  EXPECT_EQ(static_cast<float>(cos_500000(19)), -0x1.8c0494p-3f);
  const Shipped cos_10000("rope/hard-to-round-base-10000", "binary32", "cos");
  EXPECT_EQ(cos_10000(62), Decimal("-0.0554177742451429417907073858903"));
  const Shipped sin_10000("rope/hard-to-round-base-10000", "binary64", "sin");
  EXPECT_EQ(sin_10000(18), 0x1.f88982610d92ep-1);
  const Shipped sin_500000("rope/hard-to-round-base-500000", "binary64", "sin");
  EXPECT_EQ(sin_500000(45), -0x1.81c389c6a4ef9p-2);
  for (const auto& [shipped, pair, dtype] : {std::tuple(&cos_500000, 19, Dtype::f32),
                                             {&cos_10000, 62, Dtype::f32},
                                             {&sin_10000, 18, Dtype::f64},
                                             {&sin_500000, 45, Dtype::f64}}) {
    const double distance = shipped->roundings.at(dtype).distances.Value(static_cast<size_t>(pair));
    EXPECT_EQ(std::fabs(distance), 32768) << "half an ulp, to 2^-16";
  }
}

// ---- The documentation's readers.

// The fenced Python blocks of the format's page.
std::vector<std::string> Snippets() {
  std::ifstream file(kRoot / "docs/golden-format.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> snippets;
  const std::string fence = "```python\n";
  for (size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    snippets.push_back(text.substr(at, text.find("```", at) - at));
  }
  return snippets;
}

std::string Output(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, got);
  }
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << output;
  return output;
}

TEST(golden_format, PythonReadsWhatWasWritten) {
  const std::string python = "/usr/bin/python3";
  const std::vector<std::string> snippets = Snippets();
  ASSERT_EQ(snippets.size(), 2u);
  // The first needs numpy; the second nothing.
  const bool has_numpy = Output(python +
                                " -c 'import importlib.util as u;"
                                "print(u.find_spec(\"numpy\") is not None)'") == "True\n";
  TemporaryFolder folder;
  const fs::path manifest = kVectors / "rope/special-inputs.json";
  for (size_t i = has_numpy ? 0 : 1; i < snippets.size(); ++i) {
    WriteFileAtomically(folder / "read.py", snippets[i]);
    std::istringstream lines(Output(
        fmt::format("{} {} {} 2>&1", python, (folder / "read.py").string(), manifest.string())));
    Safetensors payload = ReadSafetensors(fs::path(manifest).replace_extension(".safetensors"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, word;
      words >> name;
      ASSERT_TRUE(payload.tensors.contains(name)) << line;
      const Tensor& tensor = payload.tensors.at(name);
      for (size_t k = 0; k < tensor.size(); ++k) {
        ASSERT_TRUE(words >> word) << line;
        const double read = std::strtod(word.c_str(), nullptr), value = tensor.Value(k);
        EXPECT_TRUE(std::isnan(value) ? std::isnan(read)
                                      : read == value && std::signbit(read) == std::signbit(value))
            << name << "[" << k << "] " << word;
      }
      EXPECT_FALSE(words >> word) << line;
      payload.tensors.erase(name);
    }
    EXPECT_EQ(payload.tensors.size(), 0u) << "tensors that the snippet did not print";
  }
}

}  // namespace
}  // namespace posgauge::golden
