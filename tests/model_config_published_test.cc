// Published configs against what is known of their models: tests/published_models.json has the
// config as it is published, as far as it bears on positions or has been seen to confuse readers,
// and the facts. What of an entry no public source was read for is named in its from_memory (true:
// all of it). Frequencies, magnitudes and slopes are digits of independent computations with
// mpmath, more of them than binary64 holds, so that reading them gives the correctly rounded
// number.

#include <cstdio>
#include <map>
#include <set>

#include "model_config_reading.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/exact_equations.h"

namespace posgauge::config_test {
namespace {

json Entries() {
  return ReadJson(std::filesystem::path(POSGAUGE_SOURCE_DIR) / "tests/published_models.json");
}

ModelConfig ReadEntry(const json& entry) {
  ConfigOverrides overrides;
  if (entry.contains("length")) overrides.length = entry["length"].get<int64_t>();
  return ModelConfigFromJson(entry["config"], "config.json", overrides);
}

double Value(const json& digits) { return std::stod(digits.get<std::string>()); }

std::optional<int64_t> Count(const json& entry, const char* key) {
  return entry[key].is_null() ? std::nullopt : std::optional(entry[key].get<int64_t>());
}

// Frequencies of a rotation or of waves, or slopes, correctly rounded.
std::vector<double> SeriesOf(const Scheme& scheme) {
  if (IsRotary(scheme)) return FrequenciesOf(scheme);
  if (!HasEquations(scheme)) return ExactAddition(scheme).Frequencies(Dtype::f64).values;
  return ExactEquations(scheme).Evaluate(EquationQuantity::slopes, {}, Dtype::f64).values;
}

void ExpectGroup(const LayerGroup& group, const json& expected) {
  EXPECT_EQ(group.kind, expected["kind"]);
  if (expected.contains("layers")) {
    EXPECT_EQ(group.layers, expected["layers"].get<std::vector<int64_t>>());
  }
  if (expected.contains("positions")) {
    EXPECT_EQ(group.positions, expected["positions"].get<int64_t>());
  }
  // Fields that the facts leave out have the scheme's defaults.
  EXPECT_EQ(ToJson(group.scheme), ToJson(SchemeFromJson(expected["scheme"])));
  if (!expected.contains("frequencies")) return;
  const std::vector<double> series = SeriesOf(group.scheme);
  for (const auto& [index, digits] : expected["frequencies"].items()) {
    EXPECT_EQ(series.at(std::stoul(index)), Value(digits)) << index;
  }
  if (!IsRotary(group.scheme)) return;
  const ExactRotation rotation(group.scheme);
  EXPECT_EQ(rotation.Magnitude(Dtype::f64).values.at(0), Value(expected["magnitude"]));
  EXPECT_EQ(rotation.SoftmaxMultiplier(Dtype::f64).values.at(0), Value(expected["softmax"]));
}

void ExpectUnrotated(const ModelConfig& model, const json& expected) {
  ASSERT_EQ(model.unrotated.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(model.unrotated[i].kind, expected[i]["kind"]);
    EXPECT_EQ(model.unrotated[i].layers, expected[i]["layers"].get<std::vector<int64_t>>());
    ASSERT_EQ(model.unrotated[i].scheme.has_value(), expected[i].contains("scheme"));
    if (model.unrotated[i].scheme) {
      EXPECT_EQ(*model.unrotated[i].scheme, SchemeFromJson(expected[i]["scheme"]));
    }
  }
}

void ExpectRead(const json& entry) {
  const ModelConfig model = ReadEntry(entry);
  for (const auto& [key, value] : {std::pair("num_attention_heads", model.num_attention_heads),
                                   std::pair("num_key_value_heads", model.num_key_value_heads),
                                   std::pair("max_position", model.max_position)}) {
    if (entry.contains(key)) {
      EXPECT_EQ(value, Count(entry, key)) << key;
    }
  }
  const json& groups = entry["groups"];
  std::vector<std::string> kinds, expected_kinds;
  for (const LayerGroup& group : model.groups) kinds.push_back(group.kind);
  for (const json& group : groups) expected_kinds.push_back(group["kind"]);
  ASSERT_EQ(kinds, expected_kinds);
  for (size_t i = 0; i < groups.size(); ++i) {
    SCOPED_TRACE(kinds[i]);
    ExpectGroup(model.groups[i], groups[i]);
  }
  ExpectUnrotated(model, entry.value("unrotated", json::array()));
}

TEST(PublishedModels, AreReadAsTheirFactsSayOrRefusedForAReason) {
  std::set<std::string> read;
  std::map<std::string, std::string> refused;
  for (const json& entry : Entries()) {
    const std::string name = entry["model"];
    SCOPED_TRACE(name);
    if (!entry.contains("refused")) {
      ASSERT_NO_THROW(ExpectRead(entry));
      read.insert(name);
      continue;
    }
    try {
      ReadEntry(entry);
      ADD_FAILURE() << "was read, not refused";
    } catch (const ParameterError& error) {
      EXPECT_EQ(std::string(error.what()), "config.json: " + entry["refused"].get<std::string>());
    }
    refused[name] = entry["refused"];
  }
  fmt::print("{} published models read, {} refused:\n", read.size(), refused.size());
  for (const auto& [name, reason] : refused) fmt::print("  {}: {}\n", name, reason);
  EXPECT_GE(read.size(), 85u);
}

}  // namespace
}  // namespace posgauge::config_test
