#include "posgauge/reference/rounding.h"

#include <algorithm>
#include <cmath>

namespace posgauge {

namespace {

// Scratch that holds any Real exactly, one a thread.
class Scratch {
 public:
  explicit Scratch(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
  ~Scratch() { mpfr_clear(value_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  mpfr_ptr AtLeast(mpfr_prec_t bits) {
    if (mpfr_get_prec(value_) < bits) mpfr_set_prec(value_, bits);
    return value_;
  }

 private:
  mpfr_t value_;
};

}  // namespace

double RoundReal(mpfr_srcptr value, Format format) {
  if (mpfr_zero_p(value)) return mpfr_signbit(value) ? -0.0 : 0.0;
  thread_local Scratch scratch(64), whole(64);
  // 2^(exponent-1) <= |value| < 2^exponent.
  const long exponent = mpfr_get_exp(value);
  const long quantum = std::max<long>(exponent - format.digits, format.min_quantum());
  const mpfr_ptr scaled = scratch.AtLeast(mpfr_get_prec(value));
  mpfr_mul_2si(scaled, value, -quantum, MPFR_RNDN);  // exact
  const mpfr_ptr integer = whole.AtLeast(64);
  // |scaled| <= 2^digits <= 2^53, so the integer fits and is rounded once, ties to even.
  mpfr_rint(integer, scaled, MPFR_RNDN);
  const double rounded =
      std::ldexp(std::fabs(mpfr_get_d(integer, MPFR_RNDN)), static_cast<int>(quantum));
  const bool negative = mpfr_signbit(value) != 0;
  if (exponent > format.max_exponent + 1 || rounded > Largest(format)) {
    return Overflowed(format, negative);
  }
  return negative ? -rounded : rounded;
}

int64_t DistanceInUlps(mpfr_srcptr value, Format format, double stored) {
  const int exponent = stored == 0 ? format.min_exponent : std::ilogb(stored);
  const long ulp = std::max(exponent, format.min_exponent) - format.digits + 1;
  // value and stored agree in their leading bits or are both tiny; the wide copy makes the
  // difference exact unless they differ by more than 2^1100, where rounding to nearest is harmless.
  thread_local Scratch scratch(2400);
  const mpfr_ptr difference = scratch.AtLeast(mpfr_get_prec(value) + 1200);
  mpfr_sub_d(difference, value, stored, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, 16 - ulp, MPFR_RNDN);
  return mpfr_get_si(difference, MPFR_RNDN);
}

}  // namespace posgauge
