#include "posgauge/schemes/base/scalars.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

namespace posgauge {
namespace {

const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"rope", {"rotary_dim=64", "head_dim=80", "rotary_offset=16", "pairing=interleaved"}},
    {"linear", {"factor=2.5", "direction=clockwise"}},
    {"ntk", {"form=dynamic", "factor=4", "trained_length=4096", "length=9000"}},
    {"ntk", {"form=naive", "factor=4"}},
    {"yarn", {"factor=16", "truncate=false", "magnitude=deepseek", "mscale=0.707"}},
    {"llama3", {"original_length=1099511627776"}},
    {"ntk", {"form=mixed", "factor=4", "mixed_exponent=0.625"}},
    {"mrope", {"section=[24,20,20]", "order=interleaved"}},
    {"axial", {"section=[8,28,28]", "pairing=interleaved"}},
    {"axial", {"section=[8,28,28]", "pairing=half_per_axis"}},
    {"longrope", {"factor=32"}},
    {"longrope", {"rotary_dim=4", "long_factor=[1,47.77]", "length=4097"}},
    {"longrope", {"rotary_dim=4", "short_factor=[1,2]", "long_factor=[3,4]", "length=4097"}},
};

std::vector<Scalar> YarnScalars() { return ScalarsOf(ParseScheme("yarn", {"factor=4"})); }

void Set(std::vector<Scalar>& scalars, std::string_view name, double value) {
  for (Scalar& scalar : scalars) {
    if (scalar.first == name) scalar.second = value;
  }
}

std::string Refusal(std::string_view name, const std::vector<Scalar>& scalars) {
  try {
    SchemeFromScalars(name, scalars);
  } catch (const ParameterError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(scalars, RoundTripKeepsEveryField) {
  for (const auto& [name, settings] : kSchemes) {
    const Scheme scheme = ParseScheme(name, settings);
    EXPECT_EQ(SchemeFromScalars(name, ScalarsOf(scheme), ListsOf(scheme)), scheme)
        << ToJson(scheme);
  }
}

TEST(scalars, VariantIsItsIndexAndUnsetIsAbsent) {
  const auto scalars = ScalarsOf(ParseScheme("yarn", {"magnitude=telechat3", "mscale=2"}));
  const auto count = [&](const Scalar& wanted) {
    return std::count(scalars.begin(), scalars.end(), wanted);
  };
  EXPECT_EQ(count({"magnitude", 2}), 1);
  EXPECT_EQ(count({"truncate", 1}), 1);
  EXPECT_EQ(count({"mscale", 2}), 1);
  EXPECT_TRUE(std::none_of(scalars.begin(), scalars.end(),
                           [](const Scalar& s) { return s.first == "mscale_all_dim"; }));
}

TEST(scalars, ListsTravelByNameAndUnsetOnesAreAbsent) {
  EXPECT_EQ(ListFields("longrope"), (std::vector<std::string>{"short_factor", "long_factor"}));
  EXPECT_TRUE(ListFields("yarn").empty());
  const Scheme scheme =
      ParseScheme("longrope", {"rotary_dim=4", "long_factor=[1,47.77]", "length=4097"});
  const std::vector<NamedList> lists = ListsOf(scheme);
  EXPECT_EQ(lists, (std::vector<NamedList>{{"long_factor", {1, 47.77}}}));
  const std::vector<Scalar> scalars = ScalarsOf(scheme);
  const auto refusal = [&](const std::vector<NamedList>& given) {
    try {
      SchemeFromScalars("longrope", scalars, given);
    } catch (const ParameterError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal({{"long_factor", {1}}}),
            "longrope.long_factor must have 2 entries (rotary_dim/2), got 1");
  EXPECT_EQ(refusal({{"factor", {1, 2}}}),
            "longrope has no field 'factor': its fields are short_factor, long_factor");
  EXPECT_EQ(refusal({lists[0], lists[0]}), "longrope.long_factor is given twice");
}

TEST(scalars, RefusesWhatAFieldCannotHold) {
  const std::vector<std::pair<Scalar, std::string>> cases = {
      {{"head_dim", 128.5}, "yarn.head_dim must be an integer within 2^53, got 128.5"},
      {{"head_dim", 0x1p60}, "yarn.head_dim must be an integer within 2^53"},
      {{"factor", std::numeric_limits<double>::infinity()}, "yarn.factor must be finite"},
      {{"factor", std::numeric_limits<double>::quiet_NaN()}, "yarn.factor must be finite"},
      {{"original_length", std::numeric_limits<double>::quiet_NaN()}, "must be an integer"},
      {{"truncate", 2}, "yarn.truncate must be 0 or 1, got 2"},
      {{"magnitude", 4}, "yarn.magnitude must be an index into huggingface, deepseek"},
      {{"magnitude", -1}, "yarn.magnitude must be an index into"},
      {{"factor", 0.5}, "yarn.factor must be in 1.."},
  };
  for (const auto& [scalar, message] : cases) {
    std::vector<Scalar> scalars = YarnScalars();
    Set(scalars, scalar.first, scalar.second);
    EXPECT_NE(Refusal("yarn", scalars).find(message), std::string::npos)
        << Refusal("yarn", scalars);
  }
}

TEST(scalars, RefusesUnknownMissingAndRepeatedNames) {
  std::vector<Scalar> scalars = YarnScalars();
  EXPECT_NE(Refusal("yern", scalars).find("scheme must be one of"), std::string::npos);
  scalars.push_back({"facter", 2});
  EXPECT_NE(Refusal("yarn", scalars).find("yarn has no field 'facter'"), std::string::npos);
  scalars.back().first = "factor";
  EXPECT_EQ(Refusal("yarn", scalars), "yarn.factor is given twice");
  scalars = YarnScalars();
  scalars.erase(scalars.begin());
  EXPECT_EQ(Refusal("yarn", scalars), "yarn.head_dim is missing from the scalars");
}

}  // namespace
}  // namespace posgauge
