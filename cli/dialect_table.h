#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/model/config.h"

namespace posgauge::cli {

/// A config as one kind of its layers means it.
struct DialectContext {
  const ModelConfig& model;
  const Scheme& scheme;
  const nlohmann::json& config;  // as published; null where a scheme was given by name
};

/// How one framework reads one parameter otherwise than posgauge, which follows the model's own
/// code. A claim about source text as it was read at that version; not run.
struct Dialect {
  std::string_view id;         // of the disagreement, which several frameworks may share
  std::string_view framework;  // or "papers"
  std::string_view version;    // commit or date of what was read
  std::string_view scheme;     // a scheme's word
  std::string_view parameter;
  std::string_view reads;  // what it makes of it, one line
  std::string_view when;   // the configs that it concerns, one line
  std::string_view link;
  bool (*applies)(const DialectContext& context);  // asked where the scheme is the row's
  /// The scheme as that framework reads it; null where no scheme says it.
  Scheme (*read)(const DialectContext& context);
};

/// Bumped with every change of the table.
inline constexpr int kDialectTableVersion = 1;

/// All rows; of each scheme those of frequencies first, then of magnitudes, papers last.
std::span<const Dialect> Dialects();

/// Frameworks whose sources were read, with rows or without, in alphabetical order, papers last.
std::span<const std::string_view> DialectFrameworks();

}  // namespace posgauge::cli
