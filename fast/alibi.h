#pragma once

#include <bit>
#include <cmath>
#include <numbers>

#include "posgauge/fast/bias.h"
#include "posgauge/fast/simd.h"
#include "posgauge/fast/wide.h"
#include "posgauge/schemes/alibi.h"

namespace posgauge::alibi {

/// 2^-e in double-double: 2^-floor(e), exact above 2^-1022, times e^(-fraction ln 2), whose
/// relative error is below 2^-98 (fast/wide.h: 34 2^-106 of Exp, 2^-100 of its argument).
inline fast::Wide Slope(const Params& params, int64_t head) {
  const fast::Wide kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(params.TotalHeads())));
  const int64_t index = params.first_head + head;
  const int64_t halves = index < n ? 2 * (index + 1) : 2 * (index - n) + 1;
  // n is a power of two: the quotient is as exact as the product.
  const fast::Wide exponent = fast::Wide(params.max_bias) *
                              fast::Wide(static_cast<double>(halves)) /
                              fast::Wide(static_cast<double>(2 * n));
  const fast::Wide whole = fast::Floor(exponent), fraction = exponent - whole;
  const fast::Wide power = fraction.high == 0 ? fast::Wide(1) : fast::Exp(-(fraction * kLn2));
  const int shift = -static_cast<int>(whole.high);
  return {std::ldexp(power.high, shift), std::ldexp(power.low, shift)};
}

/// Of every head.
inline std::vector<fast::Wide> Slopes(const Params& params) {
  std::vector<fast::Wide> slopes;
  for (int64_t head = 0; head < params.attention.heads; ++head) {
    slopes.push_back(Slope(params, head));
  }
  return slopes;
}

/// A kernel's row does not depend on the query where the form goes by the key alone.
inline fast::RowsBy BiasRowsBy(const Params& params) {
  return params.form == Form::relative || params.form == Form::symmetric ? fast::RowsBy::distance
                                                                         : fast::RowsBy::key;
}

/// What a slope is multiplied by where the scale counts for the bias too: 1/sqrt(head_dim) of two
/// binary64 operations.
inline fast::Wide BiasScale(const Params& params) {
  const bool scaled = params.before_scale && params.attention.scale == ScoreScale::inverse_sqrt;
  return fast::Wide(scaled ? 1 / std::sqrt(static_cast<double>(params.attention.head_dim)) : 1.0);
}

/// One product an element; slopes, scaled ones too, are rounded once, to T.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>&, int64_t head) {
  const T slope = fast::RoundedTo<T>(Slope(params, head) * BiasScale(params));
  const Form form = params.form;
  return [slope, form](const fast::BiasRow<T>& row) {
    const bool symmetric = form == Form::symmetric;
    fast::ScaleRow(form == Form::key ? row.key : row.offset, symmetric ? -slope : slope, symmetric,
                   row.keys, row.out);
  };
}

}  // namespace posgauge::alibi
