#include "posgauge/verify/effective_difference.h"

#include <algorithm>
#include <set>

#include "posgauge/verify/effective_explanation.h"

namespace posgauge {

namespace {

bool Has(const std::vector<EffectiveField>& fields, std::string_view field) {
  return std::ranges::find(fields, field) != fields.end();
}

// Of slopes and frequencies the first that is off; another count is off from its end on.
std::optional<FirstDifference> FirstOf(const EffectiveField& field, const Effective& effective,
                                       const Reading& meant) {
  const auto& said = field == "slopes" ? effective.slopes : effective.inv_freq;
  const auto& right = field == "slopes" ? meant.slopes : meant.frequencies;
  if ((field != "slopes" && field != "inv_freq") || !said) return std::nullopt;
  const size_t count = std::min(said->values.size(), right.size());
  for (size_t i = 0; i < count; ++i) {
    Effective one = effective;
    Reading alone = meant;
    const HeldNumbers number{.dtype = said->dtype, .values = {said->values[i]}};
    (field == "slopes" ? one.slopes : one.inv_freq) = number;
    (field == "slopes" ? alone.slopes : alone.frequencies) = {right[i]};
    if (field == "inv_freq") alone.errors = {meant.errors[i]};
    if (FitOf(field, one, alone) == Fit::no) return FirstDifference{i, said->values[i], right[i]};
  }
  return std::nullopt;
}

// Every single number of a narrow format fits its rounding: then the first that is not the number
// itself.
std::optional<FirstDifference> FirstRounded(const Effective& effective, const Reading& meant) {
  if (!effective.inv_freq || meant.errors.size() != effective.inv_freq->values.size()) return {};
  for (size_t i = 0; i < meant.errors.size(); ++i) {
    const double in_use = effective.inv_freq->values[i], right = meant.frequencies[i];
    if (!(std::abs(in_use - right) <= std::abs(right) * meant.errors[i])) {
      return FirstDifference{i, in_use, right};
    }
  }
  return std::nullopt;
}

// Numbers of a narrow format that would be right without it.
EffectiveDifference Rounded(const EffectiveField& field, Fit fit, const Effective& effective,
                            const Reading& meant) {
  const std::string_view format = fit == Fit::as_bf16 ? "bf16" : "f16";
  const bool slopes = field == "slopes";
  EffectiveDifference difference{.fields = {field}};
  difference.causes = {
      &FindEffectiveCause(fmt::format("{}_{}", slopes ? "slopes" : "frequency", format))};
  difference.what = fmt::format("{} are numbers of {}", slopes ? "slopes" : "frequencies", format);
  if (!slopes) difference.first = FirstRounded(effective, meant);
  return difference;
}

void Compare(const ModelConfig& model, const LayerGroup& group, const Effective& effective,
             bool scales_logits_otherwise, EffectiveComparison& comparison) {
  comparison.compared = FieldsSaid(effective);
  if (scales_logits_otherwise && Has(comparison.compared, "logit_scale")) {
    std::erase(comparison.compared, "logit_scale");
    comparison.notes.emplace_back(
        "logit_scale is not compared: the config has one of its own, which is no part of a scheme");
  }
  for (const EffectiveField& field : FieldsOf(group.scheme)) {
    if (!Has(comparison.compared, field)) comparison.not_said.push_back(field);
  }
  const ReplayContext context{model, group, effective, ArithmeticBehind(effective)};
  const Reading meant = ReadingOf(group.scheme, context.arithmetic);
  std::vector<EffectiveField> wrong;
  Fit rounding = Fit::yes;
  for (const EffectiveField& field : comparison.compared) {
    const Fit fit = FitOf(field, effective, meant);
    if (fit == Fit::no) wrong.push_back(field);
    if (field == "inv_freq" && fit != Fit::no) rounding = fit;
  }
  if (!wrong.empty()) {
    comparison.differences = Explain(context, comparison.compared, wrong, rounding);
    for (EffectiveDifference& difference : comparison.differences) {
      for (const EffectiveField& field : difference.fields) {
        if (!difference.first) difference.first = FirstOf(field, effective, meant);
      }
    }
  }
  for (const EffectiveField& field : comparison.compared) {
    const Fit fit = FitOf(field, effective, meant);
    if (fit != Fit::as_bf16 && fit != Fit::as_f16) continue;
    comparison.differences.push_back(Rounded(field, fit, effective, meant));
  }
}

// Layers of a kind by what is said of them.
using Said = std::vector<std::pair<Effective, std::vector<int64_t>>>;

Said SaidOf(const std::string& kind, const std::vector<int64_t>& layers, bool of_every_layer,
            const EffectiveFile& file) {
  const auto find = [&](const std::string& layer) {
    const auto found = file.layers.find(layer);
    return found == file.layers.end() ? Effective{} : found->second;
  };
  Effective of_kind = find(kind);
  if (of_every_layer) of_kind = file.everywhere.With(of_kind);
  if (layers.empty()) return {{of_kind, {}}};
  Said said;
  for (const int64_t layer : layers) {
    const Effective own = of_kind.With(find(std::to_string(layer)));
    const auto same = std::ranges::find(said, own, &Said::value_type::first);
    if (same == said.end()) {
      said.push_back({own, {layer}});
    } else {
      same->second.push_back(layer);
    }
  }
  return said;
}

void RequireLayers(const ModelConfig& model, const EffectiveFile& file) {
  std::set<std::string> known;
  const auto add = [&](const std::string& kind, const std::vector<int64_t>& layers) {
    known.insert(kind);
    if (kind == "vision") return;
    for (const int64_t layer : layers) known.insert(std::to_string(layer));
  };
  for (const LayerGroup& group : model.groups) add(group.kind, group.layers);
  for (const UnrotatedLayers& layers : model.unrotated) add(layers.kind, layers.layers);
  for (const auto& [layer, effective] : file.layers) {
    Require(known.contains(layer), "{}: layers.{}: {} has no such layer or kind of layers",
            file.path, layer, model.source);
  }
}

// What a kind of layers without rotation means.
Scheme StillScheme(const ModelConfig& model, const UnrotatedLayers& layers) {
  if (layers.scheme) return *layers.scheme;
  none::Params none;
  for (const LayerGroup& group : model.groups) {
    if (IsRotary(group.scheme)) none.attention.head_dim = RotaryOf(group.scheme).head_dim;
  }
  return none;
}

}  // namespace

bool EffectiveReport::Same() const {
  return std::ranges::all_of(comparisons,
                             [](const auto& comparison) { return comparison.differences.empty(); });
}

EffectiveReport CompareEffective(const ModelConfig& model, const EffectiveFile& file,
                                 bool scales_logits_otherwise) {
  RequireLayers(model, file);
  EffectiveReport report;
  const auto compare = [&](const LayerGroup& group, bool rotates) {
    // Indices of a vision tower count its own layers.
    const bool vision = group.kind == "vision";
    const std::vector<int64_t> layers = vision ? std::vector<int64_t>{} : group.layers;
    for (auto& [effective, same] : SaidOf(group.kind, layers, rotates && !vision, file)) {
      if (effective.IsEmpty()) {
        report.not_said.push_back(group.kind);
        continue;
      }
      EffectiveComparison comparison{
          .kind = group.kind, .layers = same, .scheme = group.scheme, .rotates = rotates};
      Compare(model, group, effective, scales_logits_otherwise, comparison);
      report.comparisons.push_back(std::move(comparison));
    }
  };
  for (const LayerGroup& group : model.groups) compare(group, true);
  for (const UnrotatedLayers& layers : model.unrotated) {
    compare({.kind = layers.kind, .layers = layers.layers, .scheme = StillScheme(model, layers)},
            false);
  }
  Require(!report.comparisons.empty(), "{}: nothing is said of any layer of {}", file.path,
          model.source);
  return report;
}

}  // namespace posgauge
