#pragma once

#include <algorithm>
#include <bit>

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/ntk.h"

namespace posgauge::ntk {

/// The last pair's stretch. Dynamic: s N/L - (s - 1) with N = max(length, L), rearranged so that
/// nothing cancels; the integers are below 2^41, exact. Qwen: 2^(k+1) - 1, where 2^k L >= N means
/// 2^k > (N - 1)/L, so that k is the width of that quotient in bits.
inline fast::Wide Stretch(const Params& params) {
  if (params.form == Form::qwen) {
    const int64_t above = std::max(*params.length - 1, int64_t{0}) / *params.trained_length;
    return static_cast<double>((int64_t{2} << std::bit_width(static_cast<uint64_t>(above))) - 1);
  }
  if (params.form != Form::dynamic) return params.factor;
  const auto trained = static_cast<double>(*params.trained_length);
  const double excess = std::max(0.0, static_cast<double>(*params.length) - trained);
  return fast::Wide(1) + fast::Wide(params.factor) * fast::Wide(excess) / trained;
}

/// aware, dynamic, qwen: base^(-2i/d) stretch^(-2i/(d-2)); naive: (base * factor)^(-2i/d); fixed:
/// base^(-2i/d) factor^(-2(i+1)/d); mixed: base^(-2i/d) factor^-(((i+1)/(d/2))^mixed_exponent).
/// Peng et al. 2023, arXiv:2309.00071, Def. 1, eqs. 14-16; sec. 3.3. Su 2023,
/// kexue.fm/archives/9706.
inline FastRotation Frequencies(const Params& params) {
  const int64_t dim = params.rotary.rotary_dim;
  const fast::Wide log_stretch = fast::Log(Stretch(params));
  std::vector<fast::Wide> frequencies = fast::PlainFrequencies(params.rotary);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    fast::Wide& frequency = frequencies[static_cast<size_t>(i)];
    switch (params.form) {
      case Form::aware:
      case Form::dynamic:
      case Form::qwen:
        frequency = frequency * fast::InversePower(log_stretch, 2 * i, dim - 2);
        break;
      case Form::naive:
        frequency = frequency * fast::InversePower(log_stretch, 2 * i, dim);
        break;
      case Form::fixed:
        frequency = frequency * fast::InversePower(log_stretch, 2 * (i + 1), dim);
        break;
      case Form::mixed: {
        const fast::Wide part =
            fast::Wide(static_cast<double>(2 * (i + 1))) / static_cast<double>(dim);
        const fast::Wide share = fast::Exp(fast::Wide(*params.mixed_exponent) * fast::Log(part));
        frequency = frequency * fast::Exp(-(share * log_stretch));
        break;
      }
    }
  }
  return fast::Rotation(params.rotary, frequencies);
}

}  // namespace posgauge::ntk
