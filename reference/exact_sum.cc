#include "posgauge/reference/exact_sum.h"

#include <cmath>

namespace posgauge {

ExactSum::ExactSum() {
  mpfr_init2(sum_, kBits);
  mpfr_init2(term_, 3 * 53);
  mpfr_set_zero(sum_, 1);
}

ExactSum::~ExactSum() {
  mpfr_clear(sum_);
  mpfr_clear(term_);
}

void ExactSum::Add(double a, double b, double c) {
  mpfr_set_d(term_, a, MPFR_RNDN);
  mpfr_mul_d(term_, term_, b, MPFR_RNDN);
  mpfr_mul_d(term_, term_, c, MPFR_RNDN);
  mpfr_add(sum_, sum_, term_, MPFR_RNDN);
}

Decided ExactSum::Round(Format format, bool with_distance) const {
  if (mpfr_zero_p(sum_)) return {0, 0, Proof::exact};
  Decided decided{.value = RoundReal(sum_, format)};
  const bool exact = std::isfinite(decided.value) && mpfr_cmp_d(sum_, decided.value) == 0;
  decided.proof = exact ? Proof::exact : Proof::proven;
  if (with_distance && std::isfinite(decided.value)) {
    decided.distance = static_cast<int32_t>(DistanceInUlps(sum_, format, decided.value));
  }
  return decided;
}

}  // namespace posgauge
