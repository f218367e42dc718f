#pragma once

#include <memory>

#include "posgauge/reference/attention.h"
#include "posgauge/reference/by_offset.h"
#include "posgauge/schemes/sandwich.h"

namespace posgauge::sandwich {

/// S(D), or S(D) - width/2 if centred, of every distance of a call; the same for all heads.
template <class R>
class Sums {
 public:
  Sums(const Params& params, const NamedInputs& inputs) : params_(&params), inputs_(&inputs) {
    for (int64_t k = 0; k < params.sandwich_width / 2; ++k) {
      frequency_.push_back(Held(
          RationalPower(R(params.base), -2 * (k + params.first_index), params.sandwich_width)));
    }
  }

  void Evaluate() {
    sums_.Fill(*inputs_, [&](double query, double key) {
      const R distance = R(query) - R(key);
      std::vector<R> terms;
      for (const R& frequency : frequency_) {
        terms.push_back(CosSin(Angle(distance, frequency))[0]);
      }
      const R sum = Sum(terms);
      return params_->centred ? sum - R(params_->sandwich_width / 2) : sum;
    });
  }

  const R& At(double query, double key) const { return sums_.At(query, key); }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  std::vector<R> frequency_;
  ByOffset<R, R> sums_;
};

template <class R>
class Head {
 public:
  Head(const Params& params, int64_t head, std::shared_ptr<const Sums<R>> sums)
      : params_(&params), head_(head), sums_(std::move(sums)) {}

  /// S(D) H / (8 h).
  R Bias(double query_position, double key_position) const {
    return sums_->At(query_position, key_position) * R(params_->attention.heads) /
           R(8 * (head_ + 1));
  }

 private:
  const Params* params_;
  int64_t head_;
  std::shared_ptr<const Sums<R>> sums_;
};

template <class R>
std::shared_ptr<Sums<R>> MakeShared(const Params& params, const NamedInputs& inputs) {
  return std::make_shared<Sums<R>>(params, inputs);
}

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs&, int64_t head,
                 std::shared_ptr<const Sums<R>> sums) {
  return {params, head, std::move(sums)};
}

}  // namespace posgauge::sandwich
