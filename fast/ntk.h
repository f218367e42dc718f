#pragma once

#include <algorithm>

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/ntk.h"

namespace posgauge::ntk {

/// The last pair's stretch. Dynamic: s N/L - (s - 1) with N = max(length, L), rearranged so that
/// nothing cancels; the integers are below 2^41, exact.
inline fast::Wide Stretch(const Params& params) {
  if (params.form != Form::dynamic) return params.factor;
  const auto trained = static_cast<double>(*params.trained_length);
  const double excess = std::max(0.0, static_cast<double>(*params.length) - trained);
  return fast::Wide(1) + fast::Wide(params.factor) * fast::Wide(excess) / trained;
}

/// aware, dynamic: base^(-2i/d) stretch^(-2i/(d-2)); naive: (base * factor)^(-2i/d).
/// Peng et al. 2023, arXiv:2309.00071, Def. 1, eqs. 14-16; sec. 3.3.
inline FastRotation Frequencies(const Params& params) {
  const int64_t dim = params.rotary.rotary_dim;
  const fast::Wide log_stretch = fast::Log(Stretch(params));
  std::vector<fast::Wide> frequencies = fast::PlainFrequencies(params.rotary);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    fast::Wide& frequency = frequencies[static_cast<size_t>(i)];
    const int64_t denominator = params.form == Form::naive ? dim : dim - 2;
    frequency = frequency * fast::InversePower(log_stretch, 2 * i, denominator);
  }
  return fast::Rotation(params.rotary, frequencies);
}

}  // namespace posgauge::ntk
