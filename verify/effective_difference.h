#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/verify/effective_cause.h"

namespace posgauge {

/// A pair (or head) whose number in use is not what the config means.
struct FirstDifference {
  size_t index = 0;
  double in_use = 0, meant = 0;
};

/// Fields that are not what the config means, and why.
struct EffectiveDifference {
  std::vector<EffectiveField> fields;
  std::vector<const EffectiveCause*> causes;  // one, or two that act together; none known: empty
  std::string what;                           // "base 10000 in use, the config says 500000"
  std::vector<std::string_view> twins;        // ids of causes that give the same numbers
  std::optional<FirstDifference> first;       // of inv_freq and slopes
};

/// Layers that use the same, held against what the config means for them.
struct EffectiveComparison {
  std::string kind;
  std::vector<int64_t> layers;  // indices from 0; empty where the config does not tell
  Scheme scheme;                // what the config means
  bool rotates = true;
  std::vector<EffectiveField> compared, not_said;
  std::vector<std::string> notes;
  std::vector<EffectiveDifference> differences;
};

struct EffectiveReport {
  std::vector<EffectiveComparison> comparisons;
  std::vector<std::string> not_said;  // kinds of layers that the file says nothing of

  bool Same() const;
};

/// Holds what a framework uses against what the model's config means, layer by layer. Numbers agree
/// within the rounding of the format in which they are held and the error of forming them in it
/// (verify/frequency_error.h). What differs is named by the cause, or the two causes together,
/// whose replay gives all that is said; else cause by cause for each field; else it has no name.
///
/// What the file says of every layer holds for all but those of vision and those that do not turn,
/// of which it must speak by kind or index. `scales_logits_otherwise`: the config has a logit scale
/// of its own, which no scheme knows. Throws ParameterError for a layer that the model has not.
EffectiveReport CompareEffective(const ModelConfig& model, const EffectiveFile& file,
                                 bool scales_logits_otherwise);

}  // namespace posgauge
