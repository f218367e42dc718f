#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/all.h"
#include "posgauge/schemes/base/axes.h"
#include "posgauge/schemes/base/kind.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge {

/// What one scheme is, for tables, help texts and docs.
struct FieldInfo {
  std::string name, type, default_value, description;
  std::vector<std::string> choices;  // spellings, for a variant
};
struct SchemeInfo {
  std::string name, summary, equation, source;
  std::vector<FieldInfo> fields;
  std::vector<Weight> weights;  // those of any parameters, with the shapes of the default ones
};

/// Every scheme, in alphabetical order (the order of the alternatives of Scheme).
std::vector<SchemeInfo> AllSchemes();

/// The scheme's word: "yarn".
std::string_view Name(const Scheme& scheme);

/// Throws ParameterError that begins with the scheme's word.
void Validate(const Scheme& scheme);

bool IsRotary(const Scheme& scheme);

/// The rotary block of a rotary scheme. Throws ParameterError for others.
const Rotary& RotaryOf(const Scheme& scheme);
Rotary& RotaryOf(Scheme& scheme);

/// Channels of a row that a scheme adds to embeddings. Throws ParameterError for others.
int64_t WidthOf(const Scheme& scheme);

bool ActsInAttention(const Scheme& scheme);

/// Whether every element is given by an equation of its own (posgauge/schemes/base/kind.h).
bool HasEquations(const Scheme& scheme);

/// The scheme has rows for the positions 0..count-1; nothing where there is no such limit.
std::optional<int64_t> PositionCount(const Scheme& scheme);

/// What a scheme of attention shares with the others. Throws ParameterError for others.
const Attention& AttentionOf(const Scheme& scheme);

/// The learned tensors that a scheme takes with every call; none for most.
std::vector<Weight> WeightsOf(const Scheme& scheme);

/// One line: "linear biases on scores, a slope a head".
std::string_view SummaryOf(const Scheme& scheme);

/// Pairs of a rotary scheme, waves of an addition that has any; none of other schemes.
int64_t FrequencyCount(const Scheme& scheme);

/// How its positions are laid out: one axis for most schemes.
Axes AxesOf(const Scheme& scheme);

/// For people: "yarn head_dim=128 rotary_dim=128 ...", every field that is set.
std::string Text(const Scheme& scheme);

/// {"scheme": "yarn", "head_dim": 128, ...}: every field, so that a reader needs no defaults.
nlohmann::ordered_json ToJson(const Scheme& scheme);

/// Inverse of ToJson; fields that are missing keep the scheme's defaults, unknown ones are refused.
/// The result is validated. Throws ParameterError.
Scheme SchemeFromJson(const nlohmann::json& json);

/// From the command line: ParseScheme("yarn", {"factor=16", "pairing=interleaved"}). Where
/// rotary_dim is not set it is head_dim, and head_dim rotary_dim if only that is set. Validated.
Scheme ParseScheme(std::string_view name, const std::vector<std::string>& settings);

/// Sets fields of an existing scheme: Apply(scheme, {"length=8192"}). Validated. Throws
/// ParameterError.
void Apply(Scheme& scheme, const std::vector<std::string>& settings);

}  // namespace posgauge
