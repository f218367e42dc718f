#include "posgauge/cli/scheme_table.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "posgauge/cli/command.h"
#include "posgauge/fast/kernels.h"
#include "posgauge/golden/manifest.h"
#include "posgauge/properties/laws.h"
#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/kernel_info.h"

namespace posgauge::cli {

namespace {

namespace fs = std::filesystem;

bool Yields(const Scheme& scheme, golden::Quantity quantity) {
  try {
    return !golden::OutputsOf(scheme, quantity).empty();
  } catch (const ParameterError&) {
    return false;
  }
}

// "table, rotate: f64 f32 bf16 f16; frequencies: f64", of our kernels, and what the reference alone
// yields.
std::string Quantities(const Scheme& scheme) {
  std::vector<std::pair<std::string, std::vector<std::string>>> dtypes;  // by quantity, in order
  size_t count = 0;
  const posgauge_kernel* kernels = FastKernels(&count);
  for (size_t i = 0; i < count; ++i) {
    const KernelInfo info(kernels[i]);
    if (!info.Serves(scheme)) continue;
    auto at =
        std::ranges::find(dtypes, info.quantity, [](const auto& entry) { return entry.first; });
    if (at == dtypes.end()) at = dtypes.insert(at, {info.quantity, {}});
    const std::string dtype(Name(info.io()));
    if (std::ranges::find(at->second, dtype) == at->second.end()) at->second.push_back(dtype);
  }
  std::vector<std::string> groups;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    std::string names = dtypes[i].first;
    while (i + 1 < dtypes.size() && dtypes[i + 1].second == dtypes[i].second) {
      names += ", " + dtypes[++i].first;
    }
    groups.push_back(fmt::format("{}: {}", names, fmt::join(dtypes[i].second, " ")));
  }
  std::vector<std::string> reference_alone;
  for (const std::string_view name : kVariantNames<golden::Quantity>) {
    const auto quantity = ParseVariant<golden::Quantity>("quantity", name);
    const bool computed =
        std::ranges::any_of(dtypes, [&](const auto& entry) { return entry.first == name; });
    if (computed || !Yields(scheme, quantity)) continue;
    reference_alone.emplace_back(name);
  }
  if (!reference_alone.empty()) {
    groups.push_back(fmt::format("reference alone: {}", fmt::join(reference_alone, ", ")));
  }
  return fmt::format("{}", fmt::join(groups, "; "));
}

std::string Variants(const SchemeInfo& info) {
  std::vector<std::string> variants;
  for (const FieldInfo& field : info.fields) {
    if (!field.choices.empty()) {
      variants.push_back(fmt::format("{} {}", field.name, fmt::join(field.choices, "/")));
    }
  }
  return variants.empty() ? "none: numbers alone" : fmt::format("{}", fmt::join(variants, "; "));
}

// The number of its laws, and those that no other scheme has.
std::string LawNames(const Scheme& scheme, const std::map<std::string_view, int>& holders) {
  std::vector<std::string_view> own;
  const std::vector<Law> laws = Laws(scheme);
  for (const Law& law : laws) {
    if (holders.at(law.name) == 1) own.push_back(law.name);
  }
  if (own.empty()) return fmt::format("{}, all shared with its kind", laws.size());
  return fmt::format("{}, its own: {}", laws.size(), fmt::join(own, ", "));
}

std::string Vectors(const fs::path& folder) {
  size_t files = 0, cases = 0;
  ProofCounts proof;
  if (!fs::is_directory(folder)) return "none in this folder";
  for (const fs::path& path : golden::FilesIn(folder, ".json")) {
    const golden::Manifest manifest = golden::ReadManifest(path);
    ++files;
    cases += manifest.cases.size();
    for (const golden::Case& golden_case : manifest.cases) {
      proof.Merge(golden::ProofOf(golden_case));
    }
  }
  return fmt::format("{} files, {} cases, {} values, {} undecided", files, cases, proof.Total(),
                     proof.undecided);
}

// Names of configs by the word of a scheme that they mean.
std::map<std::string, std::vector<std::string>> ModelsIn(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> models;
  if (!fs::is_directory(folder)) return models;
  const ConfigOverrides overrides{.length = 131072};  // some schedules must be given one
  for (const fs::path& path : golden::FilesIn(folder, ".json")) {
    const std::string stem = path.stem().string();
    const auto add = [&](const Scheme& scheme) {
      std::vector<std::string>& names = models[std::string(Name(scheme))];
      if (names.empty() || names.back() != stem) names.push_back(stem);
    };
    const ModelConfig model = ReadModelConfig(path, overrides);
    for (const LayerGroup& group : model.groups) add(group.scheme);
    for (const UnrotatedLayers& layers : model.unrotated) {
      if (layers.scheme) add(*layers.scheme);
    }
  }
  return models;
}

std::string Section(const SchemeInfo& info) {
  std::string text = fmt::format("\n### {}\n\n{}.\n\n    {}\n\nSource: {}.\n\n", info.name,
                                 info.summary, info.equation, info.source);
  for (const FieldInfo& field : info.fields) {
    const std::string type =
        field.choices.empty() ? field.type : fmt::format("{}", fmt::join(field.choices, ", "));
    const std::string if_none = field.default_value == "null" ? "not set" : field.default_value;
    text +=
        fmt::format("- `{}` ({}; default {}): {}\n", field.name, type, if_none, field.description);
  }
  for (const Weight& weight : info.weights) {
    text += fmt::format("- weight `{}` [{}]: {}\n", weight.name, fmt::join(weight.shape, ", "),
                        weight.description);
  }
  return text;
}

}  // namespace

std::string SchemeTable(const std::string& golden_folder) {
  if (!fs::is_directory(golden_folder)) {
    throw FileError(
        fmt::format("{}: no folder of golden vectors; give one with --golden", golden_folder));
  }
  const std::vector<SchemeInfo> schemes = AllSchemes();
  const auto models = ModelsIn(fs::path(golden_folder).parent_path() / "models");
  std::map<std::string_view, int> holders;
  for (const SchemeInfo& info : schemes) {
    for (const Law& law : Laws(ParseScheme(info.name, {}))) ++holders[law.name];
  }
  std::string text =
      "<!-- written by: posgauge schemes --markdown -->\n# Schemes\n\n"
      "| scheme | what it is | quantities: dtypes of our kernels | variants | laws | golden "
      "vectors "
      "| configs in golden/models |\n|---|---|---|---|---|---|---|\n";
  for (const SchemeInfo& info : schemes) {
    const Scheme scheme = ParseScheme(info.name, {});
    const auto read = models.find(info.name);
    text += fmt::format("| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} | {6} |\n", info.name,
                        info.summary, Quantities(scheme), Variants(info), LawNames(scheme, holders),
                        Vectors(fs::path(golden_folder) / info.name),
                        read == models.end() ? "none in this folder"
                                             : fmt::format("{}", fmt::join(read->second, ", ")));
  }
  text +=
      "\nQuantities, dtypes and laws are those of a scheme's default parameters; weights have the "
      "shapes of the default fields, all switches on.\n";
  for (const SchemeInfo& info : schemes) text += Section(info);
  return text;
}

}  // namespace posgauge::cli
