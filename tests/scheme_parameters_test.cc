// Fields named once: JSON, the command line and refusals follow from them for every scheme.
#include <algorithm>

#include <gtest/gtest.h>

#include "posgauge/schemes/base/scheme.h"

namespace posgauge {
namespace {

using nlohmann::json;

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const SchemeInfo& info : AllSchemes()) names.push_back(info.name);
  return names;
}

// The message of a refusal, or what was accepted instead.
std::string Refusal(std::string_view name, const std::vector<std::string>& settings) {
  try {
    return "accepted as " + ToJson(ParseScheme(name, settings)).dump();
  } catch (const ParameterError& error) {
    return error.what();
  }
}

std::vector<std::string> RotaryNames() {
  std::vector<std::string> names = Names();
  std::erase_if(names, [](const std::string& name) { return !IsRotary(ParseScheme(name, {})); });
  return names;
}

// Valid values of rotary schemes that differ from every default, by field name.
const json& Changed() {
  static const json values = {{"head_dim", 96},
                              {"rotary_dim", 64},
                              {"rotary_offset", 16},
                              {"pairing", "interleaved"},
                              {"direction", "clockwise"},
                              {"base", 500.5},
                              {"factor", 2.5},
                              {"form", "naive"},
                              {"original_length", 1234},
                              {"low_frequency_factor", 1.5},
                              {"high_frequency_factor", 3.5},
                              {"beta_fast", 16.5},
                              {"beta_slow", 2.5},
                              {"truncate", false},
                              {"ramp", "turns"},
                              {"proportion", 0.25},
                              {"extrapolation_factor", 0.75},
                              {"magnitude", "deepseek"},
                              {"attention_multiplier", 1.25},
                              {"attention_factor", 1.5},
                              {"mscale", 0.5},
                              {"mscale_all_dim", 0.25},
                              {"inverted_ramp", "ggml"},
                              {"width", 96},
                              {"layout", "flipped"},
                              {"frequency_shift", 2},
                              {"odd_width", "zero"},
                              {"scale", 2.5},
                              {"start", -3},
                              {"padding_index", 1}};
  return values;
}

// Where the pairs are shared out: all but two to the first axis.
json SectionOf(const std::string& name, int64_t pairs) {
  return name == "mrope" ? json{pairs - 2, 1, 1} : json{pairs - 2, 2};
}

// A rotary scheme's JSON with every field changed that Changed() knows.
json AllChanged(const std::string& name) {
  json object = ToJson(ParseScheme(name, {}));
  for (auto& [field, value] : object.items()) {
    if (Changed().contains(field)) value = Changed()[field];
  }
  if (object.contains("section")) object["section"] = SectionOf(name, 32);
  if (object.contains("order")) object["order"] = "interleaved";
  return object;
}

TEST(SchemeParameters, ServesSchemesInAlphabeticalOrder) {
  const std::vector<std::string> names = Names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
  const std::vector<std::string> rotary = {"axial", "linear",       "llama3", "longrope", "mrope",
                                           "ntk",   "proportional", "rope",   "yarn"};
  EXPECT_TRUE(std::ranges::includes(RotaryNames(), rotary));
  for (const char* name : {"sinusoidal", "alibi"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
    EXPECT_FALSE(IsRotary(ParseScheme(name, {}))) << name;
  }
}

TEST(SchemeParameters, JsonRoundTripsEveryField) {
  for (const std::string& name : Names()) {
    const json defaults = ToJson(ParseScheme(name, {}));
    const bool rotary = IsRotary(ParseScheme(name, {}));
    for (const json& object : {defaults, rotary ? AllChanged(name) : defaults}) {
      const Scheme scheme = SchemeFromJson(object);
      EXPECT_EQ(Name(scheme), name);
      EXPECT_EQ(json(ToJson(scheme)), object);
      EXPECT_EQ(SchemeFromJson(json(ToJson(scheme))), scheme);
    }
  }
}

TEST(SchemeParameters, EveryFieldIsSettableAloneAndReachesTheScheme) {
  for (const SchemeInfo& info : AllSchemes()) {
    if (!IsRotary(ParseScheme(info.name, {}))) continue;
    for (const FieldInfo& field : info.fields) {
      if (!Changed().contains(field.name)) continue;
      const json& value = Changed()[field.name];
      std::vector<std::string> settings;
      if (IsRotary(ParseScheme(info.name, {})) && field.name != "head_dim") {
        settings = {"head_dim=128", "rotary_dim=96"};
      }
      if (field.name == "rotary_dim") settings = {"head_dim=128"};
      if (AxesOf(ParseScheme(info.name, {})).count > 1) {
        const json section = SectionOf(info.name, field.name == "rotary_dim" ? 32 : 48);
        settings.push_back("section=" + section.dump());
      }
      settings.push_back(field.name + "=" +
                         (value.is_string() ? value.get<std::string>() : value.dump()));
      EXPECT_EQ(json(ToJson(ParseScheme(info.name, settings)))[field.name], value)
          << info.name << "." << field.name;
    }
  }
}

TEST(SchemeParameters, EveryFieldIsDescribed) {
  for (const SchemeInfo& info : AllSchemes()) {
    EXPECT_FALSE(info.summary.empty());
    for (const FieldInfo& field : info.fields) {
      EXPECT_FALSE(field.description.empty()) << info.name << "." << field.name;
      EXPECT_EQ(field.choices.empty(), field.type != "variant") << info.name << "." << field.name;
    }
  }
}

TEST(SchemeParameters, WidthsFollowEachOtherWhenOneIsSet) {
  EXPECT_EQ(RotaryOf(ParseScheme("rope", {"head_dim=64"})).rotary_dim, 64);
  EXPECT_EQ(RotaryOf(ParseScheme("rope", {"rotary_dim=32"})).head_dim, 32);
  const Rotary both = RotaryOf(ParseScheme("rope", {"head_dim=64", "rotary_dim=32"}));
  EXPECT_EQ(both.head_dim, 64);
  EXPECT_EQ(both.rotary_dim, 32);
}

TEST(SchemeParameters, DynamicNtkTakesItsLengths) {
  const Scheme scheme =
      ParseScheme("ntk", {"form=dynamic", "factor=2", "trained_length=4096", "length=8192"});
  EXPECT_EQ(SchemeFromJson(json(ToJson(scheme))), scheme);
  Scheme longer = scheme;
  Apply(longer, {"length=16384"});
  EXPECT_EQ(std::get<ntk::Params>(longer).length, 16384);
  EXPECT_THROW(Apply(longer, {"length=null"}), ParameterError);
}

TEST(SchemeParameters, UnknownNamesListWhatThereIs) {
  EXPECT_EQ(Refusal("ropee", {}),
            fmt::format("scheme must be one of {}, got \"ropee\"", fmt::join(Names(), ", ")));
  EXPECT_EQ(Refusal("linear", {"scale=2"}),
            "linear has no field \"scale\": its fields are head_dim, rotary_dim, rotary_offset, "
            "pairing, direction, base, factor");
  EXPECT_EQ(Refusal("rope", {"pairing=neox"}),
            "rope.pairing must be one of half, interleaved, half_per_axis, got \"neox\"");
  EXPECT_EQ(Refusal("rope", {"pairing=1"}),
            "rope.pairing must be one of half, interleaved, half_per_axis, got 1");
  EXPECT_EQ(Refusal("rope", {"base"}), "a setting must be field=value, got \"base\"");
  EXPECT_EQ(Refusal("rope", {"=3"}), "a setting must be field=value, got \"=3\"");
}

TEST(SchemeParameters, UnknownFieldsInJsonAreRefused) {
  for (const std::string& name : Names()) {
    json object = ToJson(ParseScheme(name, {}));
    object["bogus"] = 1;
    EXPECT_THROW(SchemeFromJson(object), ParameterError) << name;
  }
  EXPECT_THROW(SchemeFromJson(json::array()), ParameterError);
  EXPECT_THROW(SchemeFromJson({{"factor", 2}}), ParameterError);
  EXPECT_THROW(SchemeFromJson({{"scheme", 2}}), ParameterError);
}

TEST(SchemeParameters, NumbersThatAreNotFiniteAreRefusedByName) {
  for (const std::string number : {"1e400", "-1e400", "nan", "NaN", "inf", "-inf", "Infinity"}) {
    EXPECT_EQ(Refusal("rope", {"base=" + number}),
              "rope.base must be a finite number, got \"" + number + "\"");
  }
  EXPECT_EQ(Refusal("rope", {"head_dim=1e400"}), "rope.head_dim must be an integer, got \"1e400\"");
  EXPECT_EQ(Refusal("rope", {"base= \ninf"}), "rope.base must be a finite number, got \" \\ninf\"");
  EXPECT_EQ(Refusal("rope", {"ba\nse=inf"}).substr(0, 26), "rope has no field \"ba\\nse\"");
  EXPECT_EQ(Refusal("rope", {"base=ten"}), "rope.base must be a finite number, got \"ten\"");
  EXPECT_EQ(Refusal("rope", {"base="}), "rope.base must be a finite number, got \"\"");
  EXPECT_EQ(Refusal("rope", {"base=[1]"}), "rope.base must be a finite number, got a list");
  EXPECT_EQ(Refusal("rope", {"base=null"}), "rope.base must be a finite number, got null");
}

TEST(SchemeParameters, MessagesStayOnOneLine) {
  for (const std::string& text :
       {std::string("a\nb"), std::string("\xff\xfe"), std::string(100000, 'x'),
        std::string(100000, '['), std::string(50000, '[') + std::string(50000, ']')}) {
    for (const std::string& setting : {"base=" + text, "pairing=" + text, text + "=1"}) {
      const std::string message = Refusal("rope", {setting});
      EXPECT_EQ(message.find('\n'), message.npos);
      EXPECT_LT(message.size(), 300u);
      EXPECT_FALSE(message.starts_with("accepted")) << message;
    }
  }
}

struct Case {
  std::string name;
  std::vector<std::string> settings;
  std::string message;
};

TEST(SchemeParameters, ImpossibleValuesAreRefused) {
  const std::string base = "base must be a positive number in 1e-30..1e30, got ";
  const std::string scale = " must be in 1e-06..1000000, got ";
  const std::vector<Case> cases = {
      {"rope", {"head_dim=0"}, "rope.head_dim must be in 1..65536, got 0"},
      {"rope", {"head_dim=65537"}, "rope.head_dim must be in 1..65536, got 65537"},
      {"rope", {"head_dim=128.5"}, "rope.head_dim must be an integer, got 128.5"},
      {"rope", {"head_dim=1e30"}, "rope.head_dim must be an integer, got 1e+30"},
      {"rope", {"head_dim=99999999999999999999"}, "rope.head_dim must be an integer, got 1e+20"},
      {"rope", {"head_dim=63"}, "rope.rotary_dim must be even and in 0..63 (head_dim), got 63"},
      {"rope",
       {"head_dim=64", "rotary_dim=66"},
       "rope.rotary_dim must be even and in 0..64 (head_dim), got 66"},
      {"rope",
       {"head_dim=64", "rotary_dim=-2"},
       "rope.rotary_dim must be even and in 0..64 (head_dim), got -2"},
      {"rope",
       {"head_dim=64", "rotary_dim=32", "rotary_offset=33"},
       "rope.rotary_offset must be in 0..32 (head_dim 64 - rotary_dim 32), got 33"},
      {"rope",
       {"rotary_offset=-1"},
       "rope.rotary_offset must be in 0..0 (head_dim 128 - rotary_dim 128), got -1"},
      {"rope", {"base=0"}, "rope." + base + "0"},
      {"rope", {"base=-1"}, "rope." + base + "-1"},
      {"rope", {"base=1e31"}, "rope." + base + "1e+31"},
      {"rope", {"base=1e-400"}, "rope." + base + "0"},
      {"linear", {"factor=0"}, "linear.factor" + scale + "0"},
      {"linear", {"factor=-8"}, "linear.factor" + scale + "-8"},
      {"linear", {"factor=1e7"}, "linear.factor" + scale + "10000000"},
      {"ntk", {"factor=0"}, "ntk.factor" + scale + "0"},
      {"ntk",
       {"head_dim=2"},
       "ntk.rotary_dim must not be 2 in the NTK form aware: its exponent d/(d-2) divides by zero"},
      {"ntk",
       {"form=dynamic", "factor=0.5", "trained_length=1", "length=1"},
       "ntk.factor must be in 1..1000000, got 0.5"},
      {"ntk", {"form=dynamic"}, "ntk.trained_length must be given for the dynamic form"},
      {"ntk",
       {"form=dynamic", "trained_length=4096"},
       "ntk.length must be given for the dynamic form: its frequencies depend on the current "
       "length in tokens"},
      {"ntk",
       {"form=dynamic", "trained_length=0", "length=1"},
       "ntk.trained_length must be in 1..1099511627776 tokens, got 0"},
      {"ntk",
       {"form=dynamic", "trained_length=1", "length=-1"},
       "ntk.length must be in 0..1099511627776 tokens, got -1"},
      {"ntk",
       {"length=8192"},
       "ntk.trained_length and length belong to the dynamic and qwen forms, not aware"},
      {"llama3", {"factor=0.5"}, "llama3.factor must be in 1..1000000, got 0.5"},
      {"llama3", {"low_frequency_factor=0"}, "llama3.low_frequency_factor" + scale + "0"},
      {"llama3",
       {"low_frequency_factor=5"},
       "llama3.high_frequency_factor must be at least low_frequency_factor 5, got 4"},
      {"llama3",
       {"original_length=0"},
       "llama3.original_length must be in 1..1099511627776 tokens, got 0"},
      {"yarn",
       {"base=1"},
       "yarn.base must be above 1 for YaRN's ramp over pairs (it divides by ln base), got 1"},
      {"yarn",
       {"base=0.5"},
       "yarn.base must be above 1 for YaRN's ramp over pairs (it divides by ln base), got 0.5"},
      {"yarn",
       {"rotary_dim=0", "head_dim=8"},
       "yarn.rotary_dim must be at least 2 for YaRN's ramp, got 0"},
      {"yarn", {"factor=0"}, "yarn.factor must be in 1..1000000, got 0"},
      {"yarn", {"beta_slow=0"}, "yarn.beta_slow" + scale + "0"},
      {"yarn", {"beta_fast=0.5"}, "yarn.beta_fast must be at least beta_slow 1, got 0.5"},
      {"yarn", {"extrapolation_factor=1.5"}, "yarn.extrapolation_factor must be in 0..1, got 1.5"},
      {"yarn", {"attention_factor=0"}, "yarn.attention_factor" + scale + "0"},
      {"yarn", {"attention_multiplier=-1"}, "yarn.attention_multiplier" + scale + "-1"},
      {"yarn", {"mscale=-1"}, "yarn.mscale must be in 0..1000000, got -1"},
      {"yarn", {"truncate=1"}, "yarn.truncate must be true or false, got 1"},
      {"yarn",
       {"original_length=1e13"},
       "yarn.original_length must be in 1..1099511627776 tokens, got 10000000000000"},
  };
  for (const Case& c : cases) EXPECT_EQ(Refusal(c.name, c.settings), c.message);
}

}  // namespace
}  // namespace posgauge
