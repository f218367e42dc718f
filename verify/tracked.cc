#include "posgauge/verify/tracked.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "posgauge/verify/computed_softmax.h"
#include "posgauge/verify/double_double.h"
#include "posgauge/verify/frequency_error.h"

namespace posgauge {

namespace {

// Of binary64, in which `value` is computed.
constexpr double kRoundoff = 0x1p-53, kUnderflow = 0x1p-1074;

// glibc's functions are within one ulp, 2^-52 of the result; twice that is taken.
constexpr double kLibraryError = 0x1p-51;

// The bounds themselves are evaluated in binary64, in fewer than thirty operations each.
double Upward(double bound) { return bound * (1 + 0x1p-47); }

// Of every arithmetic, formed once: they are asked for at every operation.
struct Limits {
  double roundoff, underflow, flushed, largest;
};

const Limits& LimitsOf(Arithmetic arithmetic) {
  constexpr size_t kCount = kVariantNames<Arithmetic>.size();
  static const std::array<Limits, kCount> limits = [] {
    std::array<Limits, kCount> all{};
    for (size_t i = 0; i < kCount; ++i) {
      const auto of = static_cast<Arithmetic>(i);
      all[i] = {UnitRoundoff(of), UnderflowError(of, false), UnderflowError(of, true),
                LargestFinite(of)};
    }
    return all;
  }();
  return limits[static_cast<size_t>(arithmetic)];
}

double LostBelow(Arithmetic arithmetic, bool flush) {
  return flush ? LimitsOf(arithmetic).flushed : LimitsOf(arithmetic).underflow;
}

// Loss of a constant; nothing at first sight where a binary32 or binary64 number is kept as one.
Loss LossOfConstant(Arithmetic arithmetic, bool flush, double value) {
  constexpr double kSmallestNormal = 0x1p-126;
  const bool normal = value == 0 || std::fabs(value) >= kSmallestNormal;
  if (normal && arithmetic == Arithmetic::f64) return {};
  if (normal && arithmetic == Arithmetic::f32 && std::fabs(value) <= LimitsOf(arithmetic).largest &&
      static_cast<double>(static_cast<float>(value)) == value) {
    return {};
  }
  return LossOf(arithmetic, flush, value);
}

const DeclaredArithmetic& Current() { return ArithmeticScope::Current(); }

double Magnitude(const Tracked& x) { return std::fabs(x.value) + x.own; }

double Finite(double error) { return error < HUGE_VAL ? error : HUGE_VAL; }

// A result before its rounding, to which `rounding` is then added.
Tracked Finish(double value, double own, double before, double rounding, double size,
               Arithmetic arithmetic) {
  Tracked result;
  result.value = value;
  result.own = Finite(Upward(own));
  result.before = Finite(Upward(before));
  result.error = Finite(Upward(before + rounding));
  result.size = std::max(size, std::fabs(value));
  result.arithmetic = arithmetic;
  const bool overflows =
      !(std::fabs(value) + result.own + result.error <= LimitsOf(arithmetic).largest);
  if (overflows) result.before = result.error = HUGE_VAL;
  return result;
}

// Rounds to the arithmetic: (1 + d), |d| <= u, and eta where the operation may underflow.
Tracked Rounded(double value, double own, double before, double size, Arithmetic arithmetic,
                bool may_underflow) {
  const bool flush = Current().flush_to_zero;
  const double lost = may_underflow || flush ? LostBelow(arithmetic, flush) : 0;
  const double rounding = LimitsOf(arithmetic).roundoff * (std::fabs(value) + own + before) + lost;
  return Finish(value, own, before, rounding, size, arithmetic);
}

// What an operation in the arithmetic reads: an operand that it does not hold is rounded first, and
// one below the normal range may be flushed.
Tracked Operand(const Tracked& x, Arithmetic arithmetic) {
  const bool flush = Current().flush_to_zero;
  if (x.IsConstant()) {
    const Loss loss = LossOfConstant(arithmetic, flush, x.value);
    Tracked read = x;
    read.error = read.before = Upward(loss.relative * std::fabs(x.value) + loss.absolute);
    if (std::fabs(x.value) > LimitsOf(arithmetic).largest) read.error = read.before = HUGE_VAL;
    return read;
  }
  Tracked read = x;
  if (!Holds(arithmetic, x.arithmetic)) {
    read = Rounded(x.value, x.own, x.error, x.size, arithmetic, true);
  } else if (flush) {
    read.error = Upward(x.error + LimitsOf(arithmetic).flushed);
  }
  read.before = read.error;
  return read;
}

// The value of an operation on constants that the arithmetic holds, known exactly: only what the
// arithmetic does not hold of it is lost.
Tracked Folded(double value, Arithmetic arithmetic) {
  const Loss loss = LossOfConstant(arithmetic, Current().flush_to_zero, value);
  return Finish(value, 0, 0, loss.relative * std::fabs(value) + loss.absolute, 0, arithmetic);
}

// What a function returns whose operands move it by `own` and `before`.
Tracked FunctionResult(double value, double own, double before) {
  const Arithmetic arithmetic = Current().functions;
  own += kLibraryError * std::fabs(value) + kUnderflow;
  if (arithmetic == Arithmetic::exact) return Finish(value, own, before, 0, 0, arithmetic);
  const double largest = std::fabs(value) + own + before;
  if (!(largest <= LimitsOf(arithmetic).largest)) {
    return Finish(value, own, HUGE_VAL, 0, 0, arithmetic);
  }
  const double ulp = arithmetic == Arithmetic::dd ? 2 * LimitsOf(arithmetic).roundoff * largest
                                                  : Ulp(FormatOf(arithmetic), largest);
  const bool flush = Current().flush_to_zero;
  const double lost = flush ? LimitsOf(arithmetic).flushed : 0;
  // Half an ulp is the rounding itself; what is beyond it is no rounding that a store could be.
  const double beyond = std::max(0.0, Current().function_ulps - 0.5) * ulp;
  return Finish(value, own, before + beyond, 0.5 * ulp + lost, 0, arithmetic);
}

// y = f(x) of a function whose slope over x +- reach is at most slope(reach).
template <class Slope>
Tracked Function(const Tracked& x, double value, const Slope& slope) {
  const Tracked read = Operand(x, Current().functions);
  const auto moved = [&](double by, double reach) { return by == 0 ? 0 : by * slope(reach); };
  return FunctionResult(value, moved(read.own, read.own), moved(read.error, read.own + read.error));
}

}  // namespace

Tracked operator-(const Tracked& a) {
  Tracked negated = a;
  negated.value = -a.value;
  return negated;
}

Tracked operator+(const Tracked& a, const Tracked& b) {
  const Arithmetic arithmetic = Current().elementwise;
  const Tracked x = Operand(a, arithmetic), y = Operand(b, arithmetic);
  const DoubleDouble sum = TwoSum(x.value, y.value);
  if (x.IsConstant() && y.IsConstant() && sum.low == 0) return Folded(sum.high, arithmetic);
  const double own = x.own + y.own + kRoundoff * std::fabs(sum.high);
  // A sum of floating-point numbers never underflows: what is below the normal range is exact.
  return Rounded(sum.high, own, x.error + y.error, std::max(x.size, y.size), arithmetic, false);
}

Tracked operator-(const Tracked& a, const Tracked& b) { return a + -b; }

// |x' y' - x y| <= |x| e_y + |y| e_x + e_x e_y.
Tracked operator*(const Tracked& a, const Tracked& b) {
  const Arithmetic arithmetic = Current().elementwise;
  const Tracked x = Operand(a, arithmetic), y = Operand(b, arithmetic);
  const double value = x.value * y.value;
  const bool finite = x.error < HUGE_VAL && y.error < HUGE_VAL;
  if (finite && (IsZero(x) || IsZero(y))) return Folded(value, arithmetic);
  if (x.IsConstant() && y.IsConstant() && std::fma(x.value, y.value, -value) == 0 &&
      std::fabs(value) > 0x1p-960) {
    return Folded(value, arithmetic);
  }
  const double own = std::fabs(x.value) * y.own + std::fabs(y.value) * x.own + x.own * y.own +
                     kRoundoff * std::fabs(value) + kUnderflow;
  const double before = Magnitude(x) * y.error + Magnitude(y) * x.error + x.error * y.error;
  const double size = std::max(x.size * std::fabs(y.value), y.size * std::fabs(x.value));
  return Rounded(value, own, before, size, arithmetic, true);
}

// |x'/y' - x/y| <= (e_x + |x/y| e_y) / |y'|.
Tracked operator/(const Tracked& a, const Tracked& b) {
  const Arithmetic arithmetic = Current().elementwise;
  const Tracked x = Operand(a, arithmetic), y = Operand(b, arithmetic);
  const double value = x.value / y.value;
  if (x.IsConstant() && y.IsConstant() && std::fma(value, y.value, -x.value) == 0 &&
      std::fabs(x.value) > 0x1p-960) {
    return Folded(value, arithmetic);
  }
  const double least = std::fabs(y.value) - y.own;
  if (!(least > 0)) return Finish(value, HUGE_VAL, HUGE_VAL, 0, 0, arithmetic);
  if (IsZero(x) && least > y.error) return Folded(value, arithmetic);
  const double quotient = Magnitude(x) / least;
  const double own =
      (x.own + quotient * y.own) / std::fabs(y.value) + kRoundoff * std::fabs(value) + kUnderflow;
  const double least_computed = least - y.error;
  const double before =
      least_computed > 0 ? (x.error + quotient * y.error) / least_computed : HUGE_VAL;
  const double size =
      std::max(x.size / std::fabs(y.value), std::fabs(value) * y.size / std::fabs(y.value));
  return Rounded(value, own, before, size, arithmetic, true);
}

Tracked PositionProduct(const Tracked& a, const Tracked& b) {
  const ArithmeticScope scope(Current().OfPositions());
  return a * b;
}

Tracked PositionSum(const std::vector<Tracked>& terms) {
  const ArithmeticScope scope(Current().OfPositions());
  return Sum(terms);
}

// In turns the frequency is cut at 2^-64 or 2^-96 of a turn and the product at 2^-64, twice
// (RotaryBound::Angle).
Tracked Angle(const Tracked& distance, const Tracked& frequency) {
  DeclaredArithmetic arithmetic = Current();
  const Arithmetic angles = arithmetic.angles;
  const bool turns = angles == Arithmetic::turn64 || angles == Arithmetic::turn96;
  arithmetic.elementwise = turns ? Arithmetic::exact : angles;
  const ArithmeticScope scope(arithmetic);
  Tracked angle = distance * frequency;
  if (!turns || IsZero(distance)) return angle;
  const double cut = angles == Arithmetic::turn64 ? 0x1p-64 : 0x1p-96;
  const double reach = Magnitude(distance) + distance.error;
  if (!(reach <= LimitsOf(angles).largest))
    return Finish(angle.value, angle.own, HUGE_VAL, 0, 0, angles);
  angle.error = angle.before =
      Upward(angle.error + 2 * std::numbers::pi * (cut * reach + 2 * 0x1p-64));
  angle.arithmetic = angles;
  return angle;
}

Tracked SumOfAngles(const Tracked& a, const Tracked& b) {
  DeclaredArithmetic arithmetic = Current();
  const Arithmetic angles = arithmetic.angles;
  const bool turns = angles == Arithmetic::turn64 || angles == Arithmetic::turn96;
  arithmetic.elementwise = turns ? Arithmetic::exact : angles;
  const ArithmeticScope scope(arithmetic);
  return a + b;
}

Tracked Exp(const Tracked& x) {
  return Function(x, std::exp(x.value), [&](double reach) { return std::exp(x.value + reach); });
}

Tracked Log(const Tracked& x) {
  return Function(x, std::log(x.value), [&](double reach) {
    const double least = x.value - reach;
    return least > 0 ? 1 / least : HUGE_VAL;
  });
}

Tracked Log1p(const Tracked& x) {
  return Function(x, std::log1p(x.value), [&](double reach) {
    const double least = 1 + (x.value - reach);
    return least > 0 ? 1 / least : HUGE_VAL;
  });
}

Tracked Sqrt(const Tracked& x) {
  return Function(x, std::sqrt(x.value), [&](double reach) {
    const double least = x.value - reach;
    return least > 0 ? 0.5 / std::sqrt(least) : HUGE_VAL;
  });
}

Tracked Power2(const Tracked& x) {
  const double value = std::exp2(x.value);
  // Every library has whole powers exactly.
  if (x.IsConstant() && std::trunc(x.value) == x.value &&
      Operand(x, Current().functions).error == 0) {
    return Folded(value, Current().functions);
  }
  return Function(x, value,
                  [&](double reach) { return std::numbers::ln2 * std::exp2(x.value + reach); });
}

// x^y = e^(y ln x): |y| e_x / x and |ln x| e_y move the exponent, by t together; e^t - 1 of the
// result.
Tracked Power(const Tracked& x, const Tracked& y) {
  const Arithmetic arithmetic = Current().functions;
  const Tracked exponent = Operand(y, arithmetic);
  const double value = std::pow(x.value, y.value);
  const auto moved = [&](double by, double by_exponent, double reach) {
    const double least = x.value - reach;
    if (!(least > 0)) return by == 0 && by_exponent == 0 ? 0 : HUGE_VAL;
    const double largest_log =
        std::max(std::fabs(std::log(least)), std::fabs(std::log(x.value + reach)));
    const double t = (std::fabs(y.value) + exponent.own + exponent.error) * by / least +
                     largest_log * by_exponent;
    return std::fabs(value) * std::expm1(t);
  };
  const Tracked base = Operand(x, arithmetic);
  const double own = moved(base.own, exponent.own, base.own);
  const double before = moved(base.error, exponent.error, base.own + base.error);
  return FunctionResult(value, own, before);
}

Tracked RationalPower(const Tracked& x, int64_t numerator, int64_t denominator) {
  return Power(x, Tracked(numerator) / Tracked(denominator));
}

// s' has a relative error of at most that of e^-x, times 1 - s < 1, and two roundings. Where the
// exponential overflows, s' is 0 and s below 1 / the largest number.
Tracked Sigmoid(const Tracked& x) {
  const DeclaredArithmetic& current = Current();
  const double value = 1 / (1 + std::exp(-x.value));
  const Tracked read = Operand(x, current.functions);
  const double u = LimitsOf(current.elementwise).roundoff;
  const double ulps = current.functions == Arithmetic::exact
                          ? 0
                          : 2 * current.function_ulps * LimitsOf(current.functions).roundoff;
  // s' = s (1 - s) <= min(1/4, e^-|x|), at the nearer end of where x may lie.
  const double reach = read.own + read.error;
  const double slope = std::min(0.25, Upward(std::exp(reach - std::fabs(x.value))));
  const auto passed_on = [&](double by) { return by == 0 ? 0 : by * slope; };
  const double own = std::min(1.0, passed_on(read.own) + 4 * kLibraryError * value) + kUnderflow;
  const double tiny = LostBelow(current.functions, current.flush_to_zero) +
                      LostBelow(current.elementwise, current.flush_to_zero);
  const double largest =
      std::min(LimitsOf(current.functions).largest, LimitsOf(current.elementwise).largest);
  const double moved = std::min(1.0, passed_on(read.error));
  const double before =
      moved + (value + own + moved) * (Compound(2, u) + ulps) + 2 * tiny + 1 / largest;
  return Finish(value, own, before, u * (value + own + before), 0, current.elementwise);
}

// The contract says how far a sine may be off absolutely, of the angle as the arithmetic of angles
// has it: ulps of values in [1/2, 1], whatever its own size, so that its rounding interval covers
// none of them. A tiny angle may be flushed, and its sine again.
std::array<Tracked, 2> CosSin(const Tracked& x) {
  const DeclaredArithmetic& current = Current();
  const bool computed = current.functions != Arithmetic::exact;
  const double flushed =
      computed && current.flush_to_zero ? LimitsOf(current.functions).flushed : 0;
  const double own = std::min(2.0, x.own) + kLibraryError;
  const double before = std::min(2.0, x.error + flushed);
  const double ulps =
      computed ? current.function_ulps * std::ldexp(1.0, -Digits(current.functions)) + flushed : 0;
  const auto result = [&](double value) {
    return Finish(value, own, before + ulps, 0, 1, current.functions);
  };
  return {result(std::cos(x.value)), result(std::sin(x.value))};
}

Tracked Abs(const Tracked& x) {
  Tracked result = x;
  result.value = std::fabs(x.value);
  return result;
}

// |max(a', b') - max(a, b)| <= the larger error.
Tracked Max(const Tracked& a, const Tracked& b) {
  Tracked result = a.value >= b.value ? a : b;
  result.own = std::max(a.own, b.own);
  result.error = result.before = std::max(a.error, b.error);
  result.size = std::max(a.size, b.size);
  if (Holds(b.arithmetic, a.arithmetic)) result.arithmetic = b.arithmetic;
  if (Holds(a.arithmetic, b.arithmetic)) result.arithmetic = a.arithmetic;
  return result;
}

Tracked Min(const Tracked& a, const Tracked& b) { return -Max(-a, -b); }

Tracked Hull(const Tracked& a, const Tracked& b) {
  const double apart = std::fabs(a.value - b.value);
  Tracked result = Max(a, b);
  result.value = a.value;
  result.own = Upward(std::max(a.own, apart + b.own));
  result.error = result.before = Upward(std::max(a.error, b.error) + apart + a.own + b.own);
  return result;
}

std::array<int64_t, 2> FloorRange(const Tracked& x) {
  const double reach = std::min(x.own + x.error, 0x1p53);
  const auto floor = [](double at) {
    return static_cast<int64_t>(std::clamp(std::floor(at), -0x1p53, 0x1p53));
  };
  return {floor(x.value - reach), floor(x.value + reach)};
}

// n terms in any order: n - 1 roundings on any term (Higham 2002, sec. 4.2), of which the last is
// that of the result.
Tracked Sum(const std::vector<Tracked>& terms) {
  const Arithmetic arithmetic = Current().sums;
  if (terms.empty()) return Tracked(0);
  double value = 0, own = 0, errors = 0, magnitudes = 0, size = 0;
  for (const Tracked& term : terms) {
    const Tracked read = Operand(term, arithmetic);
    value += read.value;
    own += read.own;
    errors += read.error;
    magnitudes += Magnitude(read) + read.error;
    size = std::max(size, read.size);
  }
  if (terms.size() == 1) return Operand(terms[0], arithmetic);
  const auto count = static_cast<double>(terms.size());
  const double u = LimitsOf(arithmetic).roundoff;
  const bool flush = Current().flush_to_zero;
  own += Compound(count - 1, kRoundoff) * magnitudes;
  const double flushed = flush ? count * LimitsOf(arithmetic).flushed : 0;
  const double before = errors + Compound(count - 2, u) * magnitudes + flushed;
  if (!(magnitudes <= LimitsOf(arithmetic).largest)) {
    return Finish(value, own, HUGE_VAL, 0, size, arithmetic);
  }
  return Rounded(value, own, before * (1 + Compound(count, kRoundoff)), size, arithmetic, false);
}

namespace {

// Whether the products and sums of a dot product round each product once and nothing else: what
// goes into them is held.
bool IsPlainDot(std::span<const double> a, const std::vector<Tracked>& x) {
  const DeclaredArithmetic& current = Current();
  if (x.size() < 2 || current.flush_to_zero || !Holds(current.sums, current.elementwise)) {
    return false;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (LossOfConstant(current.elementwise, false, a[i]).relative > 0) return false;
    const bool held = x[i].IsConstant()
                          ? LossOfConstant(current.elementwise, false, x[i].value).relative == 0
                          : Holds(current.elementwise, x[i].arithmetic);
    if (!held) return false;
  }
  return true;
}

}  // namespace

// As operator* and Sum, in one loop.
Tracked Dot(std::span<const double> a, const std::vector<Tracked>& x) {
  if (!IsPlainDot(a, x)) {
    std::vector<Tracked> terms;
    for (size_t i = 0; i < x.size(); ++i) terms.push_back(Tracked(a[i]) * x[i]);
    return Sum(terms);
  }
  const Arithmetic products = Current().elementwise, sums = Current().sums;
  const Limits &of_products = LimitsOf(products), &of_sums = LimitsOf(sums);
  double value = 0, own = 0, errors = 0, magnitudes = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (a[i] == 0 || IsZero(x[i])) {
      // Nothing, unless what it is multiplied by may overflow.
      if (!(x[i].error < HUGE_VAL)) errors = HUGE_VAL;
      continue;
    }
    const double factor = std::fabs(a[i]), product = a[i] * x[i].value;
    const bool exact = x[i].IsConstant() && std::fma(a[i], x[i].value, -product) == 0 &&
                       std::fabs(product) > 0x1p-960 &&
                       LossOfConstant(products, false, product).relative == 0;
    const double own_here =
        exact ? 0 : factor * x[i].own + kRoundoff * std::fabs(product) + kUnderflow;
    const double before = factor * x[i].error;
    const double rounding = exact
                                ? 0
                                : of_products.roundoff * (std::fabs(product) + own_here + before) +
                                      of_products.underflow;
    value += product;
    own += own_here;
    errors += before + rounding;
    magnitudes += std::fabs(product) + own_here + before + rounding;
    size = std::max({size, factor * x[i].size, std::fabs(product)});
  }
  const auto count = static_cast<double>(x.size());
  // This loop's own rounding: fewer than count + 30 operations on any term.
  const double widened = 1 + (count + 30) * 0x1p-52;
  own = (own + Compound(count - 1, kRoundoff) * magnitudes) * widened;
  if (!(magnitudes * widened <= std::min(of_sums.largest, of_products.largest))) {
    return Finish(value, own, HUGE_VAL, 0, size, sums);
  }
  const double before = (errors + Compound(count - 2, of_sums.roundoff) * magnitudes) * widened;
  return Rounded(value, own, before, size, sums, false);
}

// What a kernel subtracts, m', is some number within e of the highest score m, e the largest error
// of a score. exp(m - m') is a factor of all weights alike and leaves the average as it is, so m
// may stand for m' but in the rounding of the difference, which is relative to |s - m'| <= |s - m|
// + e.
std::vector<Tracked> SoftmaxMean(const std::vector<Tracked>& scores,
                                 const std::vector<std::vector<Tracked>>& values) {
  double largest_error = 0;
  for (const Tracked& score : scores)
    largest_error = std::max(largest_error, score.own + score.error);
  return ComputedSoftmaxMean(scores, values, [&](const Tracked& score, const Tracked& highest) {
    const Arithmetic arithmetic = Current().elementwise;
    Tracked of_kernel(highest.value);
    of_kernel.arithmetic = highest.arithmetic;
    Tracked difference = score + -of_kernel;
    const double more = 2 * LimitsOf(arithmetic).roundoff * largest_error;
    difference.before = Upward(difference.before + more);
    difference.error = Upward(difference.error + more);
    Tracked weight = Exp(difference);
    // A score rounded to nearest moves its weight by that much of it.
    weight.size = weight.value * std::max(1.0, difference.size);
    return weight;
  });
}

Tracked Held(const Tracked& x) {
  const Arithmetic arithmetic = Current().held;
  if (x.IsConstant()) return Folded(x.value, arithmetic);
  if (Holds(arithmetic, x.arithmetic)) return x;
  return Rounded(x.value, x.own, x.error, x.size, arithmetic, true);
}

}  // namespace posgauge
