// posgauge describe: the frequencies, magnitude, width and pairing that a model really uses.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numbers>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/describe_against.h"
#include "posgauge/cli/layer_ranges.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge::cli {

namespace {

struct Options {
  SchemeOptions scheme;
  std::string pairs = "9";
  std::string against;
  bool json = false;
};

// One group's proven values; all binary64. Only frequencies where the scheme does not rotate; of a
// scheme of attention those are its slopes, if it has any.
struct GroupFacts {
  LayerGroup group;
  RoundedValues frequencies, unscaled, magnitude, softmax;
};

GroupFacts FactsOf(const LayerGroup& group) {
  if (HasEquations(group.scheme)) {
    const ExactEquations exact(group.scheme);
    if (!exact.Yields(EquationQuantity::slopes)) return {group, {}, {}, {}, {}};
    return {group, exact.Evaluate(EquationQuantity::slopes, {}, Dtype::f64), {}, {}, {}};
  }
  if (!IsRotary(group.scheme)) {
    return {group, ExactAddition(group.scheme).Frequencies(Dtype::f64), {}, {}, {}};
  }
  const ExactRotation rotation(group.scheme);
  // Where several axes have series of their own no plain one is behind them.
  const bool plain = AxesOf(group.scheme).count == 1;
  const ExactRotation unscaled(plain ? Scheme(rope::Params{.rotary = RotaryOf(group.scheme)})
                                     : group.scheme);
  return {group, rotation.Frequencies(Dtype::f64), unscaled.Frequencies(Dtype::f64),
          rotation.Magnitude(Dtype::f64), rotation.SoftmaxMultiplier(Dtype::f64)};
}

std::string_view ProofName(Proof proof) {
  return proof == Proof::exact ? "exact" : proof == Proof::proven ? "proven" : "undecided";
}

// Tokens a turn: 2 pi / frequency. A reading aid, not proven.
double Wavelength(double frequency) { return 2 * std::numbers::pi / frequency; }

nlohmann::ordered_json ToRecord(const RoundedValues& values, size_t i) {
  return {{"value", values.values[i]}, {"proof", ProofName(values.proofs[i])}};
}

nlohmann::ordered_json ToRecord(const GroupFacts& facts) {
  if (HasEquations(facts.group.scheme)) {
    nlohmann::ordered_json record{{"kind", facts.group.kind}, {"layers", facts.group.layers}};
    record["scheme"] = ToJson(facts.group.scheme);
    if (!ActsInAttention(facts.group.scheme)) return record;
    record["slopes"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < facts.frequencies.values.size(); ++i) {
      record["slopes"].push_back(ToRecord(facts.frequencies, i));
    }
    return record;
  }
  nlohmann::ordered_json record{{"kind", facts.group.kind}, {"layers", facts.group.layers}};
  record["scheme"] = ToJson(facts.group.scheme);
  if (!IsRotary(facts.group.scheme)) {
    record["waves"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < facts.frequencies.values.size(); ++i) {
      const double frequency = facts.frequencies.values[i];
      record["waves"].push_back({{"wave", i},
                                 {"frequency", frequency},
                                 {"proof", ProofName(facts.frequencies.proofs[i])},
                                 {"wavelength", Wavelength(frequency)}});
    }
    return record;
  }
  const Rotary& rotary = RotaryOf(facts.group.scheme);
  record["channels"] = {rotary.rotary_offset, rotary.rotary_offset + rotary.rotary_dim};
  record["magnitude"] = ToRecord(facts.magnitude, 0);
  record["softmax_multiplier"] = ToRecord(facts.softmax, 0);
  record["pairs"] = nlohmann::ordered_json::array();
  const Axes axes = AxesOf(facts.group.scheme);
  for (size_t i = 0; i < facts.frequencies.values.size(); ++i) {
    const double frequency = facts.frequencies.values[i];
    record["pairs"].push_back({{"pair", i},
                               {"channels", rotary.Channels(static_cast<int64_t>(i))},
                               {"frequency", frequency},
                               {"proof", ProofName(facts.frequencies.proofs[i])},
                               {"wavelength", Wavelength(frequency)},
                               {"ratio", frequency / facts.unscaled.values[i]}});
    if (axes.count > 1) record["pairs"].back()["axis"] = axes.Of(static_cast<int64_t>(i));
  }
  return record;
}

nlohmann::ordered_json ToRecord(const ModelConfig& model, const std::vector<GroupFacts>& groups) {
  nlohmann::ordered_json record{{"version", 1}, {"source", model.source}};
  record["model_type"] = model.model_type;
  record["num_attention_heads"] = ToJson(model.num_attention_heads);
  record["num_key_value_heads"] = ToJson(model.num_key_value_heads);
  record["num_hidden_layers"] = ToJson(model.num_hidden_layers);
  record["max_position"] = ToJson(model.max_position);
  record["pairing_source"] = model.pairing_source;
  record["groups"] = nlohmann::ordered_json::array();
  for (const GroupFacts& facts : groups) record["groups"].push_back(ToRecord(facts));
  record["unrotated"] = nlohmann::ordered_json::array();
  for (const UnrotatedLayers& unrotated : model.unrotated) {
    record["unrotated"].push_back({{"kind", unrotated.kind}, {"layers", unrotated.layers}});
    if (unrotated.scheme) record["unrotated"].back()["scheme"] = ToJson(*unrotated.scheme);
  }
  record["notes"] = model.notes;
  return record;
}

void PrintLine(std::string_view name, const std::string& value) {
  fmt::print("  {:<22} {}\n", name, value);
}

std::string WithProof(const RoundedValues& values, size_t i) {
  return fmt::format("{} ({})", values.values[i], ProofName(values.proofs[i]));
}

size_t ParseRows(const std::string& text) {
  if (text == "all") return std::numeric_limits<size_t>::max();
  char* end = nullptr;
  const long long rows = std::strtoll(text.c_str(), &end, 10);
  Require(!text.empty() && *end == '\0' && rows >= 1,
          "--pairs must be all or a number above 0, got {}", Shown(text));
  return static_cast<size_t>(rows);
}

// At most `most` of `count` rows, evenly spread, the first and the last among them.
std::vector<size_t> Rows(size_t count, size_t most) {
  most = std::min(count, most);
  std::vector<size_t> rows;
  for (size_t i = 0; i < most; ++i) rows.push_back(most == 1 ? 0 : i * (count - 1) / (most - 1));
  return rows;
}

void PrintFrequencies(const GroupFacts& facts, size_t most) {
  const std::vector<double>& frequencies = facts.frequencies.values;
  const ProofCounts& counts = facts.frequencies.counts;
  PrintLine("frequencies",
            fmt::format("radians per token, correctly rounded to binary64: {} exact, {} proven, {} "
                        "undecided",
                        counts.exact, counts.proven, counts.undecided));
  const bool rotates = IsRotary(facts.group.scheme);
  const Axes axes = AxesOf(facts.group.scheme);
  fmt::print("  {:>6}  {:>24}  {:>14}{}\n", rotates ? "pair" : "wave", "frequency", "tokens a turn",
             axes.count > 1 ? "            axis"
             : rotates      ? "     of unscaled"
                            : "");
  for (size_t i : Rows(frequencies.size(), most)) {
    fmt::print("  {:>6}  {:>24}  {:>14.8g}", i, frequencies[i], Wavelength(frequencies[i]));
    if (axes.count > 1) {
      fmt::print("  {:>14}", axes.Of(static_cast<int64_t>(i)));
    } else if (rotates) {
      fmt::print("  {:>14.8g}", frequencies[i] / facts.unscaled.values[i]);
    }
    fmt::print("\n");
  }
}

void PrintFields(const Scheme& scheme, const std::vector<std::string_view>& told) {
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const auto& [name, value] : fields.items()) {
    if (std::ranges::find(told, name) != told.end() || value.is_null()) continue;
    PrintLine(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void PrintEquations(const GroupFacts& facts, size_t most) {
  PrintFields(facts.group.scheme, {"scheme"});
  const RoundedValues& slopes = facts.frequencies;
  if (const auto thresholds =
          ExactEquations(facts.group.scheme).ReadyMade("thresholds", Dtype::f64)) {
    PrintLine("buckets begin at", fmt::format("{} tokens", fmt::join(thresholds->values, " ")));
  }
  if (slopes.values.empty()) return;
  PrintLine("slopes",
            fmt::format("correctly rounded to binary64: {} exact, {} proven, {} undecided",
                        slopes.counts.exact, slopes.counts.proven, slopes.counts.undecided));
  fmt::print("  {:>6}  {:>24}\n", "head", "slope");
  for (size_t i : Rows(slopes.values.size(), most)) {
    fmt::print("  {:>6}  {:>24}\n", i, slopes.values[i]);
  }
}

// ", 192 of them by frequency 0: they stand still", if there are any.
std::string StillPairs(const GroupFacts& facts) {
  const auto& frequencies = facts.frequencies.values;
  const auto still = std::count(frequencies.begin(), frequencies.end(), 0.0);
  return still == 0 ? "" : fmt::format(", {} of them by frequency 0: they stand still", still);
}

std::string RotatingChannels(const Rotary& rotary, const GroupFacts& facts) {
  if (rotary.rotary_dim == 0) return fmt::format("none of {} rotate", rotary.head_dim);
  return fmt::format("{}-{} of {} rotate, {} pairs{}", rotary.rotary_offset,
                     rotary.rotary_offset + rotary.rotary_dim - 1, rotary.head_dim, rotary.Pairs(),
                     StillPairs(facts));
}

// "pairs 1, 4, 7, 10-12", or "no pair".
std::string PairsOf(const Axes& axes, int64_t axis) {
  std::vector<int64_t> pairs;
  for (size_t pair = 0; pair < axes.of_pair.size(); ++pair) {
    if (axes.of_pair[pair] == axis) pairs.push_back(static_cast<int64_t>(pair));
  }
  if (pairs.empty()) return "no pair";
  return fmt::format("{} pairs: {}", pairs.size(), Ranges(pairs));
}

void Print(const GroupFacts& facts, size_t most) {
  const LayerGroup& group = facts.group;
  fmt::print("\n{}{}: {}\n", group.kind,
             group.layers.empty() ? "" : fmt::format(" (layers {})", Ranges(group.layers)),
             Name(group.scheme));
  if (HasEquations(group.scheme)) return PrintEquations(facts, most);
  const bool rotates = IsRotary(group.scheme);
  PrintLine("channels", rotates ? RotatingChannels(RotaryOf(group.scheme), facts)
                                : fmt::format("{} are added, {} waves", WidthOf(group.scheme),
                                              facts.frequencies.values.size()));
  PrintFields(group.scheme, {"scheme", "head_dim", "rotary_dim", "rotary_offset"});
  if (const Axes axes = AxesOf(group.scheme); axes.count > 1) {
    for (int64_t axis = 0; axis < axes.count; ++axis)
      PrintLine(fmt::format("axis {}", axis), PairsOf(axes, axis));
  }
  if (rotates) {
    PrintLine("resulting magnitude", WithProof(facts.magnitude, 0));
    PrintLine("softmax multiplier", WithProof(facts.softmax, 0));
  }
  PrintFrequencies(facts, most);
}

void Print(const ModelConfig& model, const std::vector<GroupFacts>& groups, size_t most) {
  fmt::print("{}\n", model.source);
  const auto print_count = [](std::string_view name, const std::optional<int64_t>& count) {
    if (count) PrintLine(name, fmt::format("{}", *count));
  };
  if (!model.model_type.empty()) PrintLine("model_type", model.model_type);
  if (std::ranges::any_of(groups,
                          [](const GroupFacts& facts) { return IsRotary(facts.group.scheme); })) {
    PrintLine("pairing known from", model.pairing_source);
  }
  print_count("attention heads", model.num_attention_heads);
  print_count("key/value heads", model.num_key_value_heads);
  print_count("layers", model.num_hidden_layers);
  print_count("max position", model.max_position);
  for (const GroupFacts& facts : groups) Print(facts, most);
  for (const UnrotatedLayers& unrotated : model.unrotated) {
    fmt::print("\n{} (layers {}): no rotation\n", unrotated.kind, Ranges(unrotated.layers));
    if (unrotated.scheme) PrintFields(*unrotated.scheme, {"scheme"});
  }
  if (!model.notes.empty()) fmt::print("\nnotes\n");
  for (const std::string& note : model.notes) fmt::print("  {}\n", note);
}

void Run(const Options& options) {
  const size_t most = ParseRows(options.pairs);
  const ModelConfig model = options.scheme.Resolve();
  std::vector<GroupFacts> groups;
  for (const LayerGroup& group : model.groups) groups.push_back(FactsOf(group));
  if (options.json) {
    fmt::print("{}\n", ToRecord(model, groups).dump(2));
  } else {
    Print(model, groups, most);
  }
}

}  // namespace

void AddDescribe(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand(
      "describe", "Which frequencies, magnitude, width and pairing a model really uses, per layer");
  auto options = std::make_shared<Options>();
  options->scheme.AddTo(*command);
  CLI::Option* pairs = command->add_option("--pairs", options->pairs,
                                           "rows of the frequency table: all, or how many");
  command
      ->add_option("--against", options->against,
                   "what a framework really uses, JSON or safetensors "
                   "(docs/effective-parameters.md): name what differs from the config")
      ->excludes(pairs);
  command->add_flag("--json", options->json, "print JSON (always every pair)");
  command->callback([options, &exit_code] {
    if (options->against.empty()) {
      Run(*options);
      exit_code = kHolds;
    } else {
      exit_code = DescribeAgainst(options->scheme, options->against, options->json);
    }
  });
}

}  // namespace posgauge::cli
