#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posgauge/schemes/model/config.h"

namespace posgauge::cli {

/// The options by which a command is told its scheme: a model's config.json, or a scheme by name.
/// AddTo them to a subcommand; Resolve them in its callback.
struct SchemeOptions {
  std::string config;                 // positional or --config
  std::string scheme;                 // --scheme
  std::vector<std::string> settings;  // --set field=value, any number of times
  std::string pairing;                // --pairing
  std::optional<int64_t> length;      // --length, tokens
  std::string layer_kind;             // --layer-kind: keep one group of layers

  void AddTo(CLI::App& command);

  /// The config as read, with --set applied to every group that --layer-kind keeps; a --scheme
  /// gives one group "all" and no facts about a model. Throws the errors of ReadModelConfig and
  /// ParseScheme, and ParameterError when neither or both of config and scheme are given, or no
  /// group is of --layer-kind.
  ModelConfig Resolve() const;
};

}  // namespace posgauge::cli
