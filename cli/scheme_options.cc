#include "posgauge/cli/scheme_options.h"

#include <algorithm>

namespace posgauge::cli {

namespace {

ModelConfig FromScheme(const SchemeOptions& options) {
  std::vector<std::string> settings = options.settings;
  if (!options.pairing.empty()) settings.push_back("pairing=" + options.pairing);
  if (options.length) settings.push_back(fmt::format("length={}", *options.length));
  const bool paired = std::any_of(settings.begin(), settings.end(), [](const std::string& setting) {
    return setting.starts_with("pairing=");
  });
  ModelConfig model;
  model.source = "--scheme " + options.scheme;
  model.groups.push_back({"all", {}, ParseScheme(options.scheme, settings)});
  model.pairing_source = paired ? "given" : "the scheme's default";
  return model;
}

ModelConfig FromConfig(const SchemeOptions& options) {
  ConfigOverrides overrides;
  if (!options.pairing.empty()) {
    overrides.pairing = ParseVariant<Pairing>("--pairing", options.pairing);
  }
  overrides.length = options.length;
  return ReadModelConfig(options.config, overrides);
}

void KeepKind(ModelConfig& model, const std::string& kind) {
  std::vector<std::string> kinds;
  for (const LayerGroup& group : model.groups) kinds.push_back(group.kind);
  std::erase_if(model.groups, [&](const LayerGroup& group) { return group.kind != kind; });
  model.unrotated.clear();
  Require(!model.groups.empty(), "--layer-kind must be one of {}, got {}", fmt::join(kinds, ", "),
          Shown(kind));
}

}  // namespace

void SchemeOptions::AddTo(CLI::App& command) {
  command.add_option("config,--config", config, "a model's config.json");
  command.add_option("--scheme", scheme, "a scheme by name (posgauge schemes) instead of a config");
  command
      .add_option("--set", settings,
                  "field=value of the scheme; with a config, of the scheme of every layer group")
      ->allow_extra_args(false);
  command.add_option(
      "--pairing", pairing,
      "half or interleaved, where the config does not tell and the model is unknown");
  command.add_option(
      "--length", length,
      "current length in tokens, for schemes that depend on it (dynamic NTK, LongRoPE)");
  command.add_option("--layer-kind", layer_kind,
                     "only the layers of this kind, in the config's own word: full_attention");
}

ModelConfig SchemeOptions::Resolve() const {
  Require(config.find('=') == std::string::npos || settings.empty(),
          "{} is no config: each field=value needs a --set of its own", Shown(config));
  Require(config.empty() != scheme.empty(), "{}",
          config.empty() ? "give a model's config.json, or --scheme NAME"
                         : "give a config or --scheme, not both");
  ModelConfig model = config.empty() ? FromScheme(*this) : FromConfig(*this);
  const auto is_open = [](const LayerGroup& group) {
    return !group.positions && !PositionCount(group.scheme);
  };
  if (!config.empty() && !model.max_position && std::ranges::any_of(model.groups, is_open)) {
    model.notes.push_back(
        "the config gives no max_position_embeddings: 131072 tokens are taken where no other "
        "number "
        "is given");
  }
  Require(!length || *length >= 1, "--length must be at least 1 token, got {}", *length);
  model.length = length;
  if (!layer_kind.empty()) KeepKind(model, layer_kind);
  if (!config.empty() && !settings.empty()) {
    for (LayerGroup& group : model.groups) Apply(group.scheme, settings);
    model.notes.push_back(
        fmt::format("set by the caller, not by the config: {}", fmt::join(settings, ", ")));
  }
  return model;
}

}  // namespace posgauge::cli
