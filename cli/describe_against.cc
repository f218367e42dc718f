// posgauge describe --against: what a framework really uses, held against what a config means.
#include "posgauge/cli/describe_against.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "posgauge/cli/layer_ranges.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/verify/effective_difference.h"

namespace posgauge::cli {

namespace {

using nlohmann::ordered_json;

// Keys of a config that give logits a scale of their own: Gemma's, Granite's, MPT's and GPT-Neo's.
constexpr auto kLogitScales = std::to_array<std::string_view>(
    {"query_pre_attn_scalar", "attention_multiplier", "attn_scale", "softmax_scale",
     "scale_attn_weights", "scale_attn_by_inverse_layer_idx"});

bool ScalesLogits(const nlohmann::json& config) {
  for (const auto& [key, value] : config.items()) {
    if (value.is_object() && ScalesLogits(value)) return true;
    if (!value.is_null() && std::ranges::find(kLogitScales, key) != kLogitScales.end()) return true;
  }
  return false;
}

std::string Where(const EffectiveComparison& comparison) {
  return comparison.layers.empty()
             ? comparison.kind
             : fmt::format("{} (layers {})", comparison.kind, Ranges(comparison.layers));
}

std::string Ids(const EffectiveDifference& difference) {
  std::vector<std::string_view> ids;
  for (const EffectiveCause* cause : difference.causes) ids.push_back(cause->id);
  return ids.empty() ? "none of the known differences" : fmt::format("{}", fmt::join(ids, " + "));
}

ordered_json ToRecord(const EffectiveDifference& difference) {
  ordered_json record{{"fields", difference.fields}};
  record["causes"] = ordered_json::array();
  for (const EffectiveCause* cause : difference.causes) {
    record["causes"].push_back(
        {{"id", cause->id}, {"cause", cause->cause}, {"fix", cause->fix}, {"link", cause->link}});
  }
  record["what"] = difference.what;
  record["twins"] = difference.twins;
  if (const auto& first = difference.first) {
    record["first"] = {{"index", first->index},
                       {"in_use", first->in_use},
                       {"meant", first->meant},
                       {"ratio", first->meant != 0 ? ordered_json(first->in_use / first->meant)
                                                   : ordered_json(nullptr)}};
  }
  return record;
}

ordered_json ToRecord(const EffectiveReport& report, const ModelConfig& model,
                      const EffectiveFile& file) {
  ordered_json record{{"version", 1}, {"config", model.source}, {"against", file.path}};
  record["source"] = file.source;
  record["same"] = report.Same();
  record["groups"] = ordered_json::array();
  for (const EffectiveComparison& comparison : report.comparisons) {
    ordered_json group{{"kind", comparison.kind}, {"layers", comparison.layers}};
    group["scheme"] = ToJson(comparison.scheme);
    group["compared"] = comparison.compared;
    group["not_said"] = comparison.not_said;
    group["notes"] = comparison.notes;
    group["differences"] = ordered_json::array();
    for (const EffectiveDifference& difference : comparison.differences) {
      group["differences"].push_back(ToRecord(difference));
    }
    record["groups"].push_back(std::move(group));
  }
  record["not_said"] = report.not_said;
  return record;
}

void PrintLine(std::string_view name, const std::string& value) {
  if (!value.empty()) fmt::print("  {:<10} {}\n", name, value);
}

void Print(const EffectiveDifference& difference) {
  fmt::print("  {:<10} {}: {}\n", "DIFFERS", fmt::join(difference.fields, ", "), Ids(difference));
  PrintLine("", difference.what);
  if (const auto& first = difference.first) {
    PrintLine(
        "",
        fmt::format(
            "first at {}: {} in use, {} meant{}", first->index, first->in_use, first->meant,
            first->meant != 0 ? fmt::format(", ratio {:.6g}", first->in_use / first->meant) : ""));
  }
  for (const EffectiveCause* cause : difference.causes) {
    PrintLine("cause", std::string(cause->cause));
    PrintLine("fix", std::string(cause->fix));
    PrintLine("seen", std::string(cause->link));
  }
  PrintLine("twins", fmt::format("{}", fmt::join(difference.twins, ", ")));
}

void Print(const EffectiveReport& report, const ModelConfig& model, const EffectiveFile& file) {
  fmt::print("{} against {}{}\n", model.source, file.path,
             file.source.empty() ? "" : fmt::format(" ({})", file.source));
  for (const EffectiveComparison& comparison : report.comparisons) {
    fmt::print("\n{}: {}\n", Where(comparison),
               comparison.rotates ? Name(comparison.scheme) : "no rotation");
    PrintLine("compared", fmt::format("{}", fmt::join(comparison.compared, ", ")));
    PrintLine("not said", fmt::format("{}", fmt::join(comparison.not_said, ", ")));
    for (const std::string& note : comparison.notes) PrintLine("note", note);
    for (const EffectiveDifference& difference : comparison.differences) Print(difference);
    if (comparison.differences.empty()) fmt::print("  same\n");
  }
  if (!report.not_said.empty()) {
    fmt::print("\nnothing is said of {}\n", fmt::join(report.not_said, ", "));
  }
}

}  // namespace

ExitCode DescribeAgainst(const SchemeOptions& options, const std::string& path, bool json) {
  const ModelConfig model = options.Resolve();
  const bool scales = !options.config.empty() && ScalesLogits(ReadJson(options.config));
  const EffectiveFile file = ReadEffective(path);
  const EffectiveReport report = CompareEffective(model, file, scales);
  if (json) {
    fmt::print("{}\n", ToRecord(report, model, file).dump(2));
  } else {
    Print(report, model, file);
  }
  return report.Same() ? kHolds : kViolated;
}

}  // namespace posgauge::cli
