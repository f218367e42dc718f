#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "posgauge/reference/interval.h"
#include "posgauge/reference/rotation_ladder.h"

namespace posgauge {

/// numerator/denominator, the denominator positive. While both ends are exact, as products and sums
/// of binary numbers are at enough precision, so is the fraction: one that is a binary number, or
/// halfway between two, is found to be so by its one division (Quotient).
template <unsigned Digits>
class Fraction {
 public:
  using I = Interval<Digits>;

  explicit Fraction(double value) : Fraction(I(value)) {}
  explicit Fraction(int64_t value) : Fraction(I(value)) {}
  explicit Fraction(int value) : Fraction(I(value)) {}
  explicit Fraction(I value) : numerator_(std::move(value)), denominator_(1) {}
  Fraction(I numerator, I denominator)
      : numerator_(std::move(numerator)), denominator_(std::move(denominator)) {}

  const I& numerator() const { return numerator_; }
  const I& denominator() const { return denominator_; }

  friend Fraction operator-(const Fraction& a) { return {-a.numerator_, a.denominator_}; }

  friend Fraction operator+(const Fraction& a, const Fraction& b) {
    if (Same(a.denominator_, b.denominator_)) {
      return {a.numerator_ + b.numerator_, a.denominator_};
    }
    return {a.numerator_ * b.denominator_ + b.numerator_ * a.denominator_,
            a.denominator_ * b.denominator_};
  }
  friend Fraction operator-(const Fraction& a, const Fraction& b) { return a + -b; }

  friend Fraction operator*(const Fraction& a, const Fraction& b) {
    return {a.numerator_ * b.numerator_, a.denominator_ * b.denominator_};
  }
  friend Fraction operator*(const Fraction& a, const I& b) {
    return {a.numerator_ * b, a.denominator_};
  }

  /// b > 0.
  friend Fraction operator/(const Fraction& a, const Fraction& b) {
    if (Same(a.denominator_, b.denominator_)) return {a.numerator_, b.numerator_};
    return {a.numerator_ * b.denominator_, a.denominator_ * b.numerator_};
  }

 private:
  static bool Same(const I& a, const I& b) {
    return a.IsPoint() && b.IsPoint() && mpfr_equal_p(I::Ptr(a.lo()), I::Ptr(b.lo())) != 0;
  }

  I numerator_, denominator_;
};

/// Throws Undecided where the precision does not hold both ends exactly and there is a higher one:
/// what is exact is then said to be.
template <unsigned Digits>
Interval<Digits> Quotient(const Fraction<Digits>& x) {
  const bool exact = x.numerator().IsPoint() && x.denominator().IsPoint();
  if (!exact && Digits < kDigits[kLevels - 1]) throw Undecided();
  return x.numerator() / x.denominator();
}

template <unsigned Digits>
Fraction<Digits> Abs(const Fraction<Digits>& x) {
  return {Abs(x.numerator()), x.denominator()};
}

template <unsigned Digits>
std::array<int64_t, 2> FloorRange(const Fraction<Digits>& x) {
  return FloorRange(Quotient(x));
}

template <unsigned Digits>
Fraction<Digits> Hull(const Fraction<Digits>& a, const Fraction<Digits>& b) {
  return Fraction<Digits>(Hull(Quotient(a), Quotient(b)));
}

template <unsigned Digits>
Fraction<Digits> Sum(const std::vector<Fraction<Digits>>& terms) {
  Fraction<Digits> sum(0);
  for (size_t i = 0; i < terms.size(); ++i) sum = i == 0 ? terms[0] : sum + terms[i];
  return sum;
}

template <unsigned Digits>
const Fraction<Digits>& Held(const Fraction<Digits>& x) {
  return x;
}

/// Numbers that round have no fractions: a kernel divides at once.
template <class R>
struct FractionOf {
  using Type = R;
};
template <unsigned Digits>
struct FractionOf<Interval<Digits>> {
  using Type = Fraction<Digits>;
};
template <class R>
const R& Quotient(const R& x) {
  return x;
}

}  // namespace posgauge
