#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/swin.h"

namespace posgauge::swin {

/// bias = table[index(i, j)][head].
template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : window_(params.window), inputs_(&inputs), head_(head) {}

  /// Liu et al. 2021, sec. 3.2: offsets from -(h - 1) and -(w - 1) on, row by row.
  int64_t Bucket(double query_position, double key_position) const {
    const auto query = static_cast<int64_t>(query_position),
               key = static_cast<int64_t>(key_position);
    const int64_t rows = query / window_.w - key / window_.w;
    const int64_t columns = query % window_.w - key % window_.w;
    return (rows + window_.h - 1) * (2 * window_.w - 1) + columns + window_.w - 1;
  }

  R Bias(double query_position, double key_position) const {
    return R((*inputs_)["table"].At(Bucket(query_position, key_position), head_));
  }

 private:
  Window window_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::swin
