#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/longrope.h"

namespace posgauge::longrope {

/// sqrt(1 + ln s/ln L) as exp(ln(1 + ln s/ln L)/2): relative error at most 2^-96.
inline fast::Wide AttentionMagnitude(const Params& params, bool beyond) {
  if (params.attention_factor) return *params.attention_factor;
  if (beyond && params.long_mscale) return *params.long_mscale;
  if (!beyond && params.short_mscale) return *params.short_mscale;
  if (params.factor <= 1) return 1;
  const fast::Wide ratio =
      fast::Log(params.factor) / fast::Log(static_cast<double>(params.original_length));
  return fast::Exp(fast::Log(fast::Wide(1) + ratio) / 2);
}

/// base^(-2i/rotary_dim) divided by the factor of pair i in the list of the current length: long
/// from original_length + 1 on. Ding et al. 2024, arXiv:2402.13753.
inline FastRotation Frequencies(const Params& params) {
  const bool beyond = params.length.value_or(0) >= params.original_length + 1;
  std::vector<fast::Wide> frequencies = fast::PlainFrequencies(params.rotary);
  const std::optional<std::vector<double>>& list =
      beyond ? params.long_factor : params.short_factor;
  if (list) {
    for (size_t i = 0; i < frequencies.size(); ++i) frequencies[i] = frequencies[i] / (*list)[i];
  }
  return fast::Rotation(params.rotary, frequencies, AttentionMagnitude(params, beyond));
}

}  // namespace posgauge::longrope
