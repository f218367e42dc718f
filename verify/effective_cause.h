#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/effective_reading.h"

namespace posgauge {

/// What a cause is replayed on.
struct ReplayContext {
  const ModelConfig& model;
  const LayerGroup& group;  // its scheme is what the config means, or what another cause made of it
  const Effective& effective;
  Arithmetic arithmetic;  // that the frequencies were formed in
};

/// The readings of a config that a cause may lead to, none where it changes nothing or makes no
/// sense. Invalid ones are left out.
using Replay = std::vector<Reading> (*)(const ReplayContext& context);

/// A named reason why a framework uses something else than the config means.
struct EffectiveCause {
  std::string_view id;     // snake_case
  std::string_view cause;  // one line
  std::string_view fix;    // one line
  std::string_view link;   // a public report of it; empty where there is none
  Replay replay;
};

/// The known causes, the commonest first. The numbers of one that holds the frequencies in a
/// narrower format (frequency_bf16, slopes_f16) are compared, not replayed: it has no Replay and
/// goes with any other.
std::span<const EffectiveCause> EffectiveCauses();

/// Throws ParameterError for an id that there is not.
const EffectiveCause& FindEffectiveCause(std::string_view id);

}  // namespace posgauge
