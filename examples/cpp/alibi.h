#pragma once

#include <bit>
#include <cmath>
#include <cstdio>

#include "call.h"

namespace example {

/// 2^(-max_bias h/n) for h = 1..n, n the largest power of two up to the number of heads, then the
/// odd powers of 2^(-max_bias/(2n)). Press, Smith, Lewis 2022, arXiv:2108.12409, sec. 3.
inline double Slope(double max_bias, int64_t head, int64_t heads) {
  const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  const int64_t half_steps = head < n ? 2 * (head + 1) : 2 * (head - n) + 1;
  return std::exp2(-max_bias * static_cast<double>(half_steps) / static_cast<double>(2 * n));
}

/// What is added to the scaled scores: slope times the key's place, seen from the query (the
/// paper), from 0 (BLOOM) or from the last key (MPT).
inline int32_t AlibiBias(const posgauge_call* call, char* why, size_t why_size) {
  enum Form { kRelative, kSymmetric, kKey, kKeyFromLast };  // as `posgauge schemes alibi` has them
  const auto form = static_cast<Form>(Scalar(*call, "form"));
  if (form == kSymmetric || Scalar(*call, "before_scale") == 1) {
    std::snprintf(why, why_size, "neither form=symmetric nor before_scale");
    return POSGAUGE_UNSUPPORTED;
  }
  const View<const int64_t> queries(call->inputs[0]), keys(call->inputs[1]);
  const View<float> bias(call->outputs[0]);
  const double max_bias = Scalar(*call, "max_bias");
  const auto first_head = static_cast<int64_t>(Scalar(*call, "first_head"));
  const auto heads =
      static_cast<int64_t>(Scalar(*call, "total_heads", static_cast<double>(bias.extent(0))));
  const int64_t last_key = keys(keys.extent(0) - 1);
  for (int64_t head = 0; head < bias.extent(0); ++head) {
    const double slope = Slope(max_bias, first_head + head, heads);
    for (int64_t query = 0; query < bias.extent(1); ++query) {
      const int64_t origin = form == kRelative ? queries(query) : form == kKey ? 0 : last_key;
      for (int64_t key = 0; key < bias.extent(2); ++key) {
        bias(head, query, key) =
            static_cast<float>(slope * static_cast<double>(keys(key) - origin));
      }
    }
  }
  return POSGAUGE_OK;
}

}  // namespace example
