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

/// A number of at least Digits decimal digits. Static precision: no process-wide state.
template <unsigned Digits>
using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<Digits>,
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
    Interval r;
    mpfr_add(Ptr(r.lo_), Ptr(a.lo_), Ptr(b.lo_), MPFR_RNDD);
    mpfr_add(Ptr(r.hi_), Ptr(a.hi_), Ptr(b.hi_), MPFR_RNDU);
    return r;
  }

  friend Interval operator-(const Interval& a, const Interval& b) {
    Interval r;
    mpfr_sub(Ptr(r.lo_), Ptr(a.lo_), Ptr(b.hi_), MPFR_RNDD);
    mpfr_sub(Ptr(r.hi_), Ptr(a.hi_), Ptr(b.lo_), MPFR_RNDU);
    return r;
  }

  friend Interval operator*(const Interval& a, const Interval& b) {
    return Corners(a, b, [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
      mpfr_mul(r, x, y, rounding);
    });
  }

  /// Throws Undecided if b may be zero.
  friend Interval operator/(const Interval& a, const Interval& b) {
    if (mpfr_sgn(Ptr(b.lo_)) * mpfr_sgn(Ptr(b.hi_)) <= 0) throw Undecided();
    return Corners(a, b, [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
      mpfr_div(r, x, y, rounding);
    });
  }

 private:
  // An operation that is monotone in each operand takes its extremes at corners of the rectangle.
  template <class Operation>
  static Interval Corners(const Interval& a, const Interval& b, Operation operation) {
    Interval r;
    if (a.IsPoint() && b.IsPoint()) {
      operation(Ptr(r.lo_), Ptr(a.lo_), Ptr(b.lo_), MPFR_RNDD);
      operation(Ptr(r.hi_), Ptr(a.lo_), Ptr(b.lo_), MPFR_RNDU);
      return r;
    }
    Number corner;
    bool first = true;
    for (const Number* x : {&a.lo_, &a.hi_}) {
      for (const Number* y : {&b.lo_, &b.hi_}) {
        operation(Ptr(corner), Ptr(*x), Ptr(*y), MPFR_RNDD);
        if (first || mpfr_less_p(Ptr(corner), Ptr(r.lo_))) r.lo_ = corner;
        operation(Ptr(corner), Ptr(*x), Ptr(*y), MPFR_RNDU);
        if (first || mpfr_greater_p(Ptr(corner), Ptr(r.hi_))) r.hi_ = corner;
        first = false;
      }
    }
    return r;
  }

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
  for (const auto& term : terms) sum = sum + term;
  return sum;
}

/// Sum of a[i] x[i].
template <unsigned Digits>
Interval<Digits> Dot(std::span<const double> a, const std::vector<Interval<Digits>>& x) {
  Interval<Digits> sum(0);
  for (size_t i = 0; i < x.size(); ++i) sum = sum + Interval<Digits>(a[i]) * x[i];
  return sum;
}

/// Whether R encloses real numbers, for which any equal formula is as good.
template <class R>
inline constexpr bool kIsInterval = false;
template <unsigned Digits>
inline constexpr bool kIsInterval<Interval<Digits>> = true;

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
