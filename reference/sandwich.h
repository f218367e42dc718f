#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/sandwich.h"

namespace posgauge::sandwich {

template <class R>
class Head {
 public:
  Head(const Params& params, int64_t head) : params_(&params), head_(head) {
    for (int64_t k = 0; k < params.sandwich_width / 2; ++k) {
      frequency_.push_back(
          RationalPower(R(params.base), -2 * (k + params.first_index), params.sandwich_width));
    }
  }

  /// (S(D) - width/2 if centred) H / (8 h).
  R Bias(double query_position, double key_position) const {
    const R distance = R(query_position) - R(key_position);
    std::vector<R> terms;
    for (const R& frequency : frequency_) terms.push_back(CosSin(distance * frequency)[0]);
    R sum = Sum(terms);
    if (params_->centred) sum = sum - R(params_->sandwich_width / 2);
    return sum * R(params_->attention.heads) / R(8 * (head_ + 1));
  }

 private:
  const Params* params_;
  int64_t head_;
  std::vector<R> frequency_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs&, int64_t head) {
  return {params, head};
}

}  // namespace posgauge::sandwich
