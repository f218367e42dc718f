// Cases that are not valid: computed with their departure, told from the right ones, and
// recomputed.
#include <functional>

#include <gtest/gtest.h>

#include "posgauge/golden/check.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/manifest.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge::golden {
namespace {

constexpr const char* kPath = "folder/sample.json";

Tensor Vector(const std::vector<double>& values) {
  return Tensor::FromValues(Dtype::f64, {static_cast<int64_t>(values.size())}, values);
}

Manifest Table(const std::vector<std::string>& settings, const std::vector<double>& positions) {
  Manifest manifest;
  manifest.generator = "test";
  manifest.version = "1";
  manifest.scheme = ParseScheme("linear", settings);
  Case golden_case;
  golden_case.id = "table";
  golden_case.quantity = Quantity::table;
  golden_case.dtypes = {Dtype::f64, Dtype::f32};
  golden_case.inputs = {{"positions", Vector(positions)}};
  manifest.cases = {golden_case};
  return manifest;
}

Manifest Wrong(const Departure& departure) {
  Manifest manifest = Table({"head_dim=4", "factor=2"}, {1, 301});
  Case& golden_case = manifest.cases[0];
  golden_case.result = Result::invalid;
  golden_case.fault = "a_fault";
  golden_case.cause = "a reason";
  golden_case.departure = departure;
  return manifest;
}

std::map<std::string, std::map<Dtype, Rounding>> OutputsOf(Manifest manifest) {
  Compute(manifest);
  return manifest.cases[0].outputs;
}

std::string Refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// What is computed is the right answer to another question, with its certificate.
TEST(golden_departure, IsTheAnswerToAnotherQuestion) {
  EXPECT_EQ(OutputsOf(Wrong({.parameters = {{"factor", 4}}})),
            OutputsOf(Table({"head_dim=4", "factor=4"}, {1, 301})));
  EXPECT_EQ(OutputsOf(Wrong({.inputs = {{"positions", {.multiply = 2, .add = 1}}}})),
            OutputsOf(Table({"head_dim=4", "factor=2"}, {3, 603})));
  EXPECT_EQ(OutputsOf(Wrong({.inputs = {{"positions", {.round = Dtype::bf16}}}})),
            OutputsOf(Table({"head_dim=4", "factor=2"}, {1, 300})));  // a tie, to even
  Manifest rope = Table({"head_dim=4"}, {1, 301});
  rope.scheme = ParseScheme("rope", {"head_dim=4"});
  EXPECT_EQ(OutputsOf(Wrong({.parameters = {{"scheme", "rope"}}})), OutputsOf(rope));
}

TEST(golden_departure, RoundsFrequencies) {
  // 1/2 holds in bf16; 1/200 is 0x1.47ae...p-8, in bf16 0x1.48p-8.
  const auto outputs = OutputsOf(Wrong({.frequencies = Dtype::bf16}));
  Manifest frequency = Table({"head_dim=2", "rotary_dim=2"}, {0x1.48p-8, 301 * 0x1.48p-8});
  const auto wanted = OutputsOf(frequency);  // one pair of frequency 1
  for (const std::string name : {"cos", "sin"}) {
    EXPECT_EQ(outputs.at(name).at(Dtype::f64).values.Value(1),
              wanted.at(name).at(Dtype::f64).values.Value(0));
    EXPECT_EQ(outputs.at(name).at(Dtype::f64).values.Value(3),
              wanted.at(name).at(Dtype::f64).values.Value(1));
  }
}

TEST(golden_departure, IsReadBackAndRecomputed) {
  for (const Departure& departure :
       {Departure{.parameters = {{"factor", 4}}},
        Departure{.inputs = {{"positions", {.multiply = 0.5, .add = -1, .round = Dtype::f16}}}},
        Departure{.frequencies = Dtype::bf16}}) {
    Manifest manifest = Wrong(departure);
    Compute(manifest);
    const Files files = Encode(manifest, "sample.safetensors");
    const Manifest read = Decode(files, kPath);
    EXPECT_EQ(read.cases[0].departure, departure);
    EXPECT_EQ(read.cases[0].fault, "a_fault");
    Check check;
    CheckFiles(files, kPath, check);
    EXPECT_EQ(check.differences.size(), 0u);
    // The values of another departure are not these.
    Manifest other = Wrong({.parameters = {{"factor", 8}}});
    other.cases[0].outputs = manifest.cases[0].outputs;
    CheckFiles(Encode(other, "sample.safetensors"), kPath, check);
    EXPECT_EQ(check.differences.size(), 1u);
  }
}

TEST(golden_departure, MustDepart) {
  const auto refusal = [](const Departure& departure) {
    return Refusal([&] { OutputsOf(Wrong(departure)); });
  };
  EXPECT_NE(refusal({}).find("must have a departure exactly where"), std::string::npos);
  EXPECT_NE(refusal({.parameters = {{"factor", 2}}}).find("its f64 values are the right ones"),
            std::string::npos);
  EXPECT_NE(refusal({.parameters = {{"head_dim", 8}, {"rotary_dim", 8}}}).find("their shapes"),
            std::string::npos);
  EXPECT_NE(refusal({.parameters = {{"factor", 0}}}).find("factor"), std::string::npos);
  EXPECT_NE(refusal({.parameters = {{"scheme", "warp"}}}).find("scheme must be one of"),
            std::string::npos);
  EXPECT_NE(refusal({.inputs = {{"x", {.add = 1}}}}).find("there is no input x"),
            std::string::npos);
  EXPECT_NE(refusal({.inputs = {{"positions", {.multiply = 1e308}}}}).find("table: "),
            std::string::npos);
}

TEST(golden_departure, OfMalformedJsonIsRefusedByPlace) {
  Manifest manifest = Wrong({.parameters = {{"factor", 4}}});
  Compute(manifest);
  const Files good = Encode(manifest, "sample.safetensors");
  using nlohmann::json;
  for (const auto& [departure, expected] : std::vector<std::pair<json, std::string>>{
           {json::object(), "cases[0].departure must change something"},
           {{{"other", 1}}, "cases[0].departure must not have the key \"other\""},
           {{{"parameters", 1}}, "cases[0].departure.parameters must be an object"},
           {{{"inputs", 1}}, "cases[0].departure.inputs must be an object"},
           {{{"inputs", {{"positions", json::object()}}}},
            "cases[0].departure.inputs.positions must change something"},
           {{{"inputs", {{"positions", {{"add", "x"}}}}}}, "must be a hex float"},
           {{{"frequencies", "f99"}}, "cases[0].departure.frequencies: dtype must be one of"}}) {
    json changed = json::parse(good.manifest);
    changed["cases"][0]["departure"] = departure;
    const std::string refusal = Refusal([&] { Decode({changed.dump(), good.payload}, kPath); });
    EXPECT_NE(refusal.find(expected), std::string::npos) << refusal;
  }
}

}  // namespace
}  // namespace posgauge::golden
