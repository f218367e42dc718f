#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <boost/multiprecision/mpfr.hpp>

#ifdef __FAST_MATH__
#error "the reference's bounds hold for IEEE arithmetic as written: build without -ffast-math"
#endif

namespace posgauge {

/// A number of at least Digits decimal digits. Static precision: no process-wide state, and no
/// heap.
template <unsigned Digits>
using Real = boost::multiprecision::number<
    boost::multiprecision::mpfr_float_backend<Digits, boost::multiprecision::allocate_stack>,
    boost::multiprecision::et_off>;

/// The precision does not suffice for a decision (which side of a number, which integer below).
/// Whoever chose the precision takes the next one.
class Undecided : public std::exception {
 public:
  const char* what() const noexcept override { return "enclosure too wide to decide"; }
};

/// A closed interval that holds the real number meant. Every operation rounds its lower end down
/// and its upper end up, so the result holds every value that the operands may stand for. Boost's
/// own operators round to nearest and are never applied to the ends.
template <unsigned Digits>
class Interval {
 public:
  using Number = Real<Digits>;

  Interval() : Interval(int64_t{0}) {}
  // Exact: a binary64 or int64 number has at most 64 bits, every Real at least 128.
  explicit Interval(double value) : lo_(value), hi_(value) {}
  explicit Interval(int64_t value) : lo_(value), hi_(value) {}
  explicit Interval(int value) : Interval(int64_t{value}) {}
  Interval(Number lo, Number hi) : lo_(std::move(lo)), hi_(std::move(hi)) {}

  const Number& lo() const { return lo_; }
  const Number& hi() const { return hi_; }
  bool IsPoint() const { return mpfr_equal_p(Ptr(lo_), Ptr(hi_)) != 0; }
  bool IsZero() const { return mpfr_zero_p(Ptr(lo_)) && mpfr_zero_p(Ptr(hi_)); }
  static mpfr_prec_t Bits() { return mpfr_get_prec(Ptr(Number())); }

  static mpfr_ptr Ptr(Number& x) { return x.backend().data(); }
  static mpfr_srcptr Ptr(const Number& x) { return x.backend().data(); }

  friend Interval operator-(const Interval& a) { return {-a.hi_, -a.lo_}; }

  friend Interval operator+(const Interval& a, const Interval& b) {
    Number lo, hi;
    mpfr_add(Ptr(lo), Ptr(a.lo_), Ptr(b.lo_), MPFR_RNDD);
    mpfr_add(Ptr(hi), Ptr(a.hi_), Ptr(b.hi_), MPFR_RNDU);
    return {std::move(lo), std::move(hi)};
  }

  Interval& operator+=(const Interval& b) {
    mpfr_add(Ptr(lo_), Ptr(lo_), Ptr(b.lo_), MPFR_RNDD);
    mpfr_add(Ptr(hi_), Ptr(hi_), Ptr(b.hi_), MPFR_RNDU);
    return *this;
  }

  friend Interval operator-(const Interval& a, const Interval& b) {
    Number lo, hi;
    mpfr_sub(Ptr(lo), Ptr(a.lo_), Ptr(b.hi_), MPFR_RNDD);
    mpfr_sub(Ptr(hi), Ptr(a.hi_), Ptr(b.lo_), MPFR_RNDU);
    return {std::move(lo), std::move(hi)};
  }

  friend Interval operator*(double a, const Interval& b) {
    Number lo, hi;
    mpfr_mul_d(Ptr(lo), b.End(a < 0), a, MPFR_RNDD);
    mpfr_mul_d(Ptr(hi), b.End(a >= 0), a, MPFR_RNDU);
    return {std::move(lo), std::move(hi)};
  }

  friend Interval operator*(const Interval& a, const Interval& b) {
    const int of_a = a.Side(), of_b = b.Side();
    Number lo, hi;
    if (of_a == 0 && of_b == 0) {
      Number other;
      mpfr_mul(Ptr(lo), Ptr(a.lo_), Ptr(b.hi_), MPFR_RNDD);
      mpfr_mul(Ptr(other), Ptr(a.hi_), Ptr(b.lo_), MPFR_RNDD);
      mpfr_min(Ptr(lo), Ptr(lo), Ptr(other), MPFR_RNDD);
      mpfr_mul(Ptr(hi), Ptr(a.lo_), Ptr(b.lo_), MPFR_RNDU);
      mpfr_mul(Ptr(other), Ptr(a.hi_), Ptr(b.hi_), MPFR_RNDU);
      mpfr_max(Ptr(hi), Ptr(hi), Ptr(other), MPFR_RNDU);
    } else {
      // The lowest product takes the far end of the operand whose partner has the other sign, or,
      // where the partner has both, of the one that has its own; the highest the opposite.
      mpfr_mul(Ptr(lo), a.End(of_b != 0 ? of_b < 0 : of_a > 0),
               b.End(of_a != 0 ? of_a < 0 : of_b > 0), MPFR_RNDD);
      mpfr_mul(Ptr(hi), a.End(of_b != 0 ? of_b > 0 : of_a > 0),
               b.End(of_a != 0 ? of_a > 0 : of_b > 0), MPFR_RNDU);
    }
    return {std::move(lo), std::move(hi)};
  }

  /// Throws Undecided if b may be zero.
  friend Interval operator/(const Interval& a, const Interval& b) {
    const int of_b = mpfr_sgn(Ptr(b.lo_));
    if (of_b * mpfr_sgn(Ptr(b.hi_)) <= 0) throw Undecided();
    const int of_a = a.Side();
    Number lo, hi;
    // As a product with 1/b, whose ends are those of b the other way round.
    mpfr_div(Ptr(lo), a.End(of_b < 0), b.End(of_a != 0 ? of_a > 0 : of_b < 0), MPFR_RNDD);
    mpfr_div(Ptr(hi), a.End(of_b > 0), b.End(of_a != 0 ? of_a < 0 : of_b < 0), MPFR_RNDU);
    return {std::move(lo), std::move(hi)};
  }

 private:
  // 1 where all of it is at least 0, -1 where all is at most 0, 0 where it goes over zero.
  int Side() const { return mpfr_sgn(Ptr(lo_)) >= 0 ? 1 : mpfr_sgn(Ptr(hi_)) <= 0 ? -1 : 0; }
  mpfr_srcptr End(bool upper) const { return Ptr(upper ? hi_ : lo_); }

  Number lo_, hi_;
};

// The vocabulary of the schemes' equations, for intervals. reference/float64.h has it for double.

template <unsigned Digits>
Interval<Digits> Log(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  if (mpfr_sgn(I::Ptr(x.lo())) <= 0) throw Undecided();
  typename I::Number lo, hi;
  mpfr_log(I::Ptr(lo), I::Ptr(x.lo()), MPFR_RNDD);
  mpfr_log(I::Ptr(hi), I::Ptr(x.hi()), MPFR_RNDU);
  return {std::move(lo), std::move(hi)};
}

/// Exactly 1 at 0.
template <unsigned Digits>
Interval<Digits> Exp(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  typename I::Number lo, hi;
  mpfr_exp(I::Ptr(lo), I::Ptr(x.lo()), MPFR_RNDD);
  mpfr_exp(I::Ptr(hi), I::Ptr(x.hi()), MPFR_RNDU);
  return {std::move(lo), std::move(hi)};
}

namespace interval_detail {

// x^(n/m) for x > 0, n >= 0, m >= 1, rounded in one direction. x^n is formed exactly where that is
// affordable, so that a power that is a number of the format comes out as exactly that number.
template <unsigned Digits>
Real<Digits> DirectedPower(const Real<Digits>& x, uint64_t n, uint64_t m, mpfr_rnd_t rounding) {
  using I = Interval<Digits>;
  constexpr uint64_t kLargestExact = uint64_t{1} << 17;  // bits
  mpfr_t power;
  const auto needed = static_cast<uint64_t>(mpfr_min_prec(I::Ptr(x))) * n + 64;
  const auto bits =
      static_cast<mpfr_prec_t>(needed <= kLargestExact ? std::max<uint64_t>(needed, 128)
                                                       : static_cast<uint64_t>(I::Bits()) + 64);
  mpfr_init2(power, bits);
  mpfr_pow_ui(power, I::Ptr(x), n, rounding);
  Real<Digits> root;
  mpfr_rootn_ui(I::Ptr(root), power, m, rounding);
  mpfr_clear(power);
  return root;
}

}  // namespace interval_detail

/// x^(numerator/denominator), x > 0, denominator >= 1. A point where the power is a binary number
/// that fits the precision.
template <unsigned Digits>
Interval<Digits> RationalPower(const Interval<Digits>& x, int64_t numerator, int64_t denominator) {
  using I = Interval<Digits>;
  if (mpfr_sgn(I::Ptr(x.lo())) <= 0) throw Undecided();
  const auto n = static_cast<uint64_t>(std::abs(numerator));
  const auto m = static_cast<uint64_t>(denominator);
  const uint64_t divisor = std::gcd(n, m);
  using interval_detail::DirectedPower;
  const I power(DirectedPower<Digits>(x.lo(), n / divisor, m / divisor, MPFR_RNDD),
                DirectedPower<Digits>(x.hi(), n / divisor, m / divisor, MPFR_RNDU));
  return numerator >= 0 ? power : I(1) / power;
}

template <class I>
I Pi() {
  typename I::Number lo, hi;
  mpfr_const_pi(I::Ptr(lo), MPFR_RNDD);
  mpfr_const_pi(I::Ptr(hi), MPFR_RNDU);
  return {std::move(lo), std::move(hi)};
}

/// Throws Undecided if the interval crosses an integer.
template <unsigned Digits>
Interval<Digits> Floor(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  typename I::Number lo, hi;
  mpfr_floor(I::Ptr(lo), I::Ptr(x.lo()));
  mpfr_floor(I::Ptr(hi), I::Ptr(x.hi()));
  if (!mpfr_equal_p(I::Ptr(lo), I::Ptr(hi))) throw Undecided();
  return {lo, hi};
}

template <unsigned Digits>
Interval<Digits> Ceil(const Interval<Digits>& x) {
  return -Floor(-x);
}

/// a < b. Throws Undecided if the intervals overlap in more than one common point.
template <unsigned Digits>
bool Less(const Interval<Digits>& a, const Interval<Digits>& b) {
  using I = Interval<Digits>;
  if (mpfr_less_p(I::Ptr(a.hi()), I::Ptr(b.lo()))) return true;
  if (mpfr_greaterequal_p(I::Ptr(a.lo()), I::Ptr(b.hi()))) return false;
  throw Undecided();
}

template <unsigned Digits>
Interval<Digits> Max(const Interval<Digits>& a, const Interval<Digits>& b) {
  using I = Interval<Digits>;
  typename I::Number lo, hi;
  mpfr_max(I::Ptr(lo), I::Ptr(a.lo()), I::Ptr(b.lo()), MPFR_RNDN);
  mpfr_max(I::Ptr(hi), I::Ptr(a.hi()), I::Ptr(b.hi()), MPFR_RNDN);
  return {std::move(lo), std::move(hi)};
}

template <unsigned Digits>
Interval<Digits> Min(const Interval<Digits>& a, const Interval<Digits>& b) {
  return -Max(-a, -b);
}

/// ln(1 + x). Throws Undecided where x may be -1 or less.
template <unsigned Digits>
Interval<Digits> Log1p(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  if (mpfr_cmp_si(I::Ptr(x.lo()), -1) <= 0) throw Undecided();
  typename I::Number lo, hi;
  mpfr_log1p(I::Ptr(lo), I::Ptr(x.lo()), MPFR_RNDD);
  mpfr_log1p(I::Ptr(hi), I::Ptr(x.hi()), MPFR_RNDU);
  return {std::move(lo), std::move(hi)};
}

/// x >= 0; exact where the root is. Throws Undecided where x may be negative.
template <unsigned Digits>
Interval<Digits> Sqrt(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  if (mpfr_sgn(I::Ptr(x.lo())) < 0) throw Undecided();
  typename I::Number lo, hi;
  mpfr_sqrt(I::Ptr(lo), I::Ptr(x.lo()), MPFR_RNDD);
  mpfr_sqrt(I::Ptr(hi), I::Ptr(x.hi()), MPFR_RNDU);
  return {std::move(lo), std::move(hi)};
}

/// 1 / (1 + e^-x). As every operation is monotone, so is the result in x: no width is lost.
template <unsigned Digits>
Interval<Digits> Sigmoid(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  return I(1) / (I(1) + Exp(-x));
}

/// x^y = e^(y ln x) for x > 0; 1 at y = 0.
template <unsigned Digits>
Interval<Digits> Power(const Interval<Digits>& x, const Interval<Digits>& y) {
  return Exp(y * Log(x));
}

/// 2^x; exact where x is a whole number.
template <unsigned Digits>
Interval<Digits> Power2(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  typename I::Number lo, hi;
  mpfr_exp2(I::Ptr(lo), I::Ptr(x.lo()), MPFR_RNDD);
  mpfr_exp2(I::Ptr(hi), I::Ptr(x.hi()), MPFR_RNDU);
  return {std::move(lo), std::move(hi)};
}

template <unsigned Digits>
Interval<Digits> Abs(const Interval<Digits>& x) {
  return Max(x, -x);
}

/// Every number between two enclosures: for a function whose branch an interval cannot tell but
/// whose branches meet there.
template <unsigned Digits>
Interval<Digits> Hull(const Interval<Digits>& a, const Interval<Digits>& b) {
  using I = Interval<Digits>;
  typename I::Number lo, hi;
  mpfr_min(I::Ptr(lo), I::Ptr(a.lo()), I::Ptr(b.lo()), MPFR_RNDN);
  mpfr_max(I::Ptr(hi), I::Ptr(a.hi()), I::Ptr(b.hi()), MPFR_RNDN);
  return {std::move(lo), std::move(hi)};
}

/// The floors of the ends: what the floor of the number may be. Below 2^53 in magnitude.
template <unsigned Digits>
std::array<int64_t, 2> FloorRange(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  return {mpfr_get_si(I::Ptr(x.lo()), MPFR_RNDD), mpfr_get_si(I::Ptr(x.hi()), MPFR_RNDD)};
}

/// A parameter derived from the scheme's fields, as a kernel holds it: where R rounds, it is
/// rounded here.
template <unsigned Digits>
const Interval<Digits>& Held(const Interval<Digits>& x) {
  return x;
}

/// Whether a is likely below b, proven of nothing: for choices that do not change the result.
template <unsigned Digits>
bool LooksLess(const Interval<Digits>& a, const Interval<Digits>& b) {
  using I = Interval<Digits>;
  return mpfr_less_p(I::Ptr(a.lo()), I::Ptr(b.lo())) != 0;
}

/// Whether x is known to be zero. An interval around zero is not.
template <unsigned Digits>
bool IsZero(const Interval<Digits>& x) {
  return x.IsZero();
}

/// Sum of terms; 0 of none.
template <unsigned Digits>
Interval<Digits> Sum(const std::vector<Interval<Digits>>& terms) {
  Interval<Digits> sum(0);
  for (const auto& term : terms) sum += term;
  return sum;
}

/// Sum of a[i] x[i].
template <unsigned Digits>
Interval<Digits> Dot(std::span<const double> a, const std::vector<Interval<Digits>>& x) {
  Interval<Digits> sum(0);
  for (size_t i = 0; i < x.size(); ++i) sum += a[i] * x[i];
  return sum;
}

/// Whether R encloses real numbers, for which any equal formula is as good.
template <class R>
inline constexpr bool kIsInterval = false;
template <unsigned Digits>
inline constexpr bool kIsInterval<Interval<Digits>> = true;

/// What a position is made of, where it is a real number that is formed from others. Numbers that
/// stand for what a kernel computes form it in the arithmetic that holds positions.
template <unsigned Digits>
Interval<Digits> PositionProduct(const Interval<Digits>& a, const Interval<Digits>& b) {
  return a * b;
}
template <unsigned Digits>
Interval<Digits> PositionSum(const std::vector<Interval<Digits>>& terms) {
  return Sum(terms);
}

/// Position times frequency, radians. Numbers that stand for what a kernel computes form phases in
/// an arithmetic of their own.
template <unsigned Digits>
Interval<Digits> Angle(const Interval<Digits>& position, const Interval<Digits>& frequency) {
  return position * frequency;
}

/// Two of them added.
template <unsigned Digits>
Interval<Digits> SumOfAngles(const Interval<Digits>& a, const Interval<Digits>& b) {
  return a + b;
}

/// cos x and sin x. One evaluation at the lower end: |cos a - cos b| <= |a - b|, likewise sin, so
/// the width of x and the neighbours of the rounded values bound the rest. Exact at 0.
template <unsigned Digits>
std::array<Interval<Digits>, 2> CosSin(const Interval<Digits>& x) {
  using I = Interval<Digits>;
  if (x.IsZero()) return {I(1), I(0)};
  typename I::Number cos, sin, width;
  mpfr_sub(I::Ptr(width), I::Ptr(x.hi()), I::Ptr(x.lo()), MPFR_RNDU);
  mpfr_sin_cos(I::Ptr(sin), I::Ptr(cos), I::Ptr(x.lo()), MPFR_RNDN);
  const auto widen = [&](const typename I::Number& value) {
    typename I::Number lo = value, hi = value;
    mpfr_nextbelow(I::Ptr(lo));
    mpfr_nextabove(I::Ptr(hi));
    mpfr_sub(I::Ptr(lo), I::Ptr(lo), I::Ptr(width), MPFR_RNDD);
    mpfr_add(I::Ptr(hi), I::Ptr(hi), I::Ptr(width), MPFR_RNDU);
    return I(std::move(lo), std::move(hi));
  };
  return {widen(cos), widen(sin)};
}

}  // namespace posgauge
