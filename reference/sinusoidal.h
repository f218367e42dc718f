#pragma once

#include "posgauge/reference/addition.h"
#include "posgauge/schemes/sinusoidal.h"

namespace posgauge::sinusoidal {

/// frequency_k = scale / base^(k/D). Vaswani et al. 2017, arXiv:1706.03762, sec. 3.5, where D is
/// width/2; tensor2tensor and what follows it take K - 1 instead, so that the last frequency is
/// exactly 1/base.
template <class R>
Addition<R> Exact(const Params& params) {
  Addition<R> addition{.frequency = {}, .start = params.start, .zero_row = params.padding_index};
  for (int64_t k = 0; k < params.Waves(); ++k) {
    // A power that is a binary number stays one, and a quotient that is one too.
    addition.frequency.push_back(R(params.scale) /
                                 RationalPower(R(params.base), 2 * k, params.TwiceDenominator()));
  }
  for (int64_t channel = 0; channel < params.width; ++channel) {
    addition.channels.push_back(params.ChannelAt(channel));
  }
  return addition;
}

}  // namespace posgauge::sinusoidal
