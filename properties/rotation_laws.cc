#include "posgauge/properties/rotation_laws.h"

#include <algorithm>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/pairs.h"
#include "posgauge/properties/unwrapped_frequency.h"
#include "posgauge/verify/judge.h"

namespace posgauge {

namespace {

std::vector<double> Sum(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

std::vector<double> Negated(std::vector<double> positions) {
  for (double& position : positions) position = -position;
  return positions;
}

// <R(p) q, R(t) k> of one pair. Each rotated vector is off by at most its bound B, so the product
// is off by a|q| B_k + a|k| B_q + B_q B_k, on both sides of the law. Frequencies cancel: whatever
// they are, the product depends on (p - t) f alone. It is formed here in double-double, on vectors
// scaled by powers of two, so that only the kernel's errors count.
Verdict CheckRelativeInvariance(const Subject& subject, const LawCase& c) {
  const std::vector<double> shifted = Sum(c.positions, c.shifts);
  const std::vector<double> others_shifted = Sum(c.others, c.shifts);
  const Tensor q = subject.Rotate(c.positions, c.x), k = subject.Rotate(c.others, c.y);
  const Tensor q_shifted = subject.Rotate(shifted, c.x);
  const Tensor k_shifted = subject.Rotate(others_shifted, c.y);
  const RotaryBound bound = FixedFrequencyBound(subject);
  const double a = subject.magnitude() * (1 + 0x1p-50);
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), y = At(c.y, place);
    if (!IsFinite(x) || !IsFinite(y)) return;
    const int scale_x = -ExponentOf(x), scale_y = -ExponentOf(y);
    const auto score = [&](const Tensor& left, const Tensor& right) {
      return Dot(Scaled(At(left, place), scale_x), Scaled(At(right, place), scale_y));
    };
    const double norm_x = Norm(Scaled(x, scale_x)), norm_y = Norm(Scaled(y, scale_y));
    const auto allowed = [&](double position, double other) {
      const double b_x = std::ldexp(PairBound(bound, position, place.pair, Norm(x)), scale_x);
      const double b_y = std::ldexp(PairBound(bound, other, place.pair, Norm(y)), scale_y);
      return a * norm_x * b_y + a * norm_y * b_x + b_x * b_y;
    };
    const DoubleDouble before = score(q, k), after = score(q_shifted, k_shifted);
    const double size = a * a * norm_x * norm_y;
    const double error = std::fabs((after - before).high) - 8 * kMeasuringError * size;
    comparisons.Add(
        PositionOf(subject, c.positions, place), error,
        allowed(PositionOf(subject, c.positions, place), PositionOf(subject, c.others, place)) +
            allowed(PositionOf(subject, shifted, place),
                    PositionOf(subject, others_shifted, place)),
        size, [&] {
          const double unit = std::ldexp(1.0, -scale_x - scale_y);
          Witness witness = WitnessAt(subject, place, {}, {});
          witness.where += fmt::format(
              ", query at {}, key at {}, both moved by {}", PositionOf(subject, c.positions, place),
              PositionOf(subject, c.others, place), PositionOf(subject, c.shifts, place));
          witness.got = fmt::format("{:.17g}", after.high * unit);
          witness.want = fmt::format("{:.17g}", before.high * unit);
          return witness;
        });
  });
  return comparisons.Take();
}

// | |y| - a|x| | <= |y - a x rotated by the kernel's own angle|: an error of the angle does not
// change the norm. The difference of squares over the sum of the norms, the squares in
// double-double.
Verdict CheckNorm(const Subject& subject, const LawCase& c) {
  const Tensor out = subject.Rotate(c.positions, c.x);
  const RotaryBound bound = FixedAngleBound(subject), own = subject.bound();
  const DoubleDouble a = MagnitudeOf(subject);
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), y = At(out, place);
    if (!IsFinite(x)) return;
    const double position = PositionOf(subject, c.positions, place);
    const int scale = -ExponentOf(x);
    const PairValue xs = Scaled(x, scale), ys = Scaled(y, scale);
    const DoubleDouble squares = Dot(ys, ys) - a * a * Dot(xs, xs);
    const double norm = a.high * Norm(xs);
    const double error = std::fabs(squares.high) - 8 * kMeasuringError * norm * norm;
    const double difference =
        norm == 0 && y.u == 0 && y.v == 0 ? 0 : error / (std::hypot(ys.u, ys.v) + norm);
    const double allowed = std::isinf(own.Angle(position, place.pair))
                               ? HUGE_VAL
                               : std::ldexp(bound.Pair(0, place.pair, Norm(x)), scale);
    comparisons.Add(position, difference, allowed, norm, [&] {
      Witness witness = WitnessAt(subject, place, y, {});
      witness.want = fmt::format("norm {:.17g}", a.high * std::hypot(x.u, x.v));
      return witness;
    });
  });
  return comparisons.Take();
}

std::vector<double> Zeros(const std::vector<double>& like) {
  return std::vector<double>(like.size(), 0.0);
}

// cos 0 = 1 and sin 0 = 0 in every arithmetic, and x * 1 - y * 0 = x: where the magnitude is 1 and
// no step is narrower than x or flushes it, the values are equal. Otherwise the contract's element
// bound at position 0.
Verdict CheckPositionZero(const Subject& subject, const LawCase& c) {
  const std::vector<double> zeros = Zeros(c.positions);
  const Tensor out = subject.Rotate(zeros, c.x);
  const Contract& contract = subject.bound().contract();
  const RotaryBound bound = FixedAngleBound(subject);
  const DoubleDouble a = MagnitudeOf(subject);
  const bool equal = subject.exact().IsPure() && !contract.flush_to_zero &&
                     Digits(contract.rotate) >= FormatOf(subject.io()).digits;
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), y = At(out, place);
    if (!IsFinite(x)) return;
    const auto describe = [&] {
      return WitnessAt(subject, place, y, {a.high * x.u, a.high * x.v});
    };
    if (equal) {
      comparisons.AddExact(0, y.u == x.u && y.v == x.v, describe);
      return;
    }
    const auto excess = [&](double stored, double value) {
      return RoundingIntervalExcess(subject.io(), contract.store_rounding, stored, a * value);
    };
    const double r = Norm(x);
    const double error =
        std::max(excess(y.u, x.u), excess(y.v, x.v)) - 8 * kMeasuringError * a.high * r;
    comparisons.Add(0, std::max(error, 0.0), bound.ElementExcess(0, place.pair, r), a.high * r,
                    describe);
  });
  return comparisons.Take();
}

// z = R(p) x is off by B(p, x); R(t) carries that on, a times, and adds B(t, z) for its own input;
// R(p + t) x is off by B(p + t, x).  R(t) R(p) x = a R(p + t) x for any frequencies, so
//   |w - a v| <= a B(p, x) + B(t, z) + a B(p + t, x).
Verdict CheckComposition(const Subject& subject, const LawCase& c) {
  const std::vector<double> sums = Sum(c.positions, c.others);
  const Tensor z = subject.Rotate(c.positions, c.x), w = subject.Rotate(c.others, z);
  const Tensor v = subject.Rotate(sums, c.x);
  const RotaryBound bound = FixedFrequencyBound(subject);
  const DoubleDouble a = MagnitudeOf(subject);
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), got = At(w, place), want = At(v, place);
    if (!IsFinite(x)) return;
    const double r = Norm(x), position = PositionOf(subject, c.positions, place);
    const auto allowed = [&](double at, double norm) {
      return PairBound(bound, at, place.pair, norm);
    };
    comparisons.Add(
        position, Distance(got, a, want),
        a.high * allowed(position, r) +
            allowed(PositionOf(subject, c.others, place), Norm(At(z, place))) +
            a.high * allowed(PositionOf(subject, sums, place), r),
        a.high * a.high * r, [&] {
          Witness witness = WitnessAt(subject, place, got, {a.high * want.u, a.high * want.v});
          witness.where += fmt::format(", then {} further", PositionOf(subject, c.others, place));
          return witness;
        });
  });
  return comparisons.Take();
}

// As composition with t = -p, where R(0) is a times the identity:
//   |R(-p) z - a^2 x| <= a B(p, x) + B(-p, z).
Verdict CheckInverse(const Subject& subject, const LawCase& c) {
  const std::vector<double> back = Negated(c.positions);
  const Tensor z = subject.Rotate(c.positions, c.x), w = subject.Rotate(back, z);
  const RotaryBound bound = FixedFrequencyBound(subject);
  const DoubleDouble a = MagnitudeOf(subject), a_squared = a * a;
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), got = At(w, place);
    if (!IsFinite(x)) return;
    const double position = PositionOf(subject, c.positions, place);
    comparisons.Add(
        position, Distance(got, a_squared, x),
        a.high * PairBound(bound, position, place.pair, Norm(x)) +
            PairBound(bound, -position, place.pair, Norm(At(z, place))),
        a_squared.high * Norm(x), [&] {
          return WitnessAt(subject, place, got, {a_squared.high * x.u, a_squared.high * x.v});
        });
  });
  return comparisons.Take();
}

// x, y and their sum, all exact in the dtype, so that linearity needs no rounded input. For |X| >=
// |Y| the rounded sum s minus X is again a number of the format (Dekker 1971).
struct ExactSum {
  Tensor x, y, sum;
};

ExactSum SplitExactly(const LawCase& c) {
  const Format format = FormatOf(c.x.dtype());
  ExactSum split{c.x, c.y, c.x};
  for (size_t i = 0; i < c.x.size(); ++i) {
    double x = c.x.Value(i), y = c.y.Value(i);
    const bool swap = std::fabs(y) > std::fabs(x);
    if (swap) std::swap(x, y);
    double sum = RoundTo(format, x + y);
    double rest = sum - x;
    const DoubleDouble again = TwoSum(x, rest);
    // A sum that a second rounding moved, or that overflows, is given up: x + 0.
    if (RoundTo(format, rest) != rest || again.high != sum || again.low != 0) {
      sum = x;
      rest = 0;
    }
    split.x.Set(i, swap ? rest : x);
    split.y.Set(i, swap ? x : rest);
    split.sum.Set(i, sum);
  }
  return split;
}

// The factors are powers of two. What a factor makes subnormal or infinite would not come back: the
// factor is then 1 for all.
double Unscale(Tensor& tensor, double factor) {
  const Format format = FormatOf(tensor.dtype());
  for (size_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.Value(i), scaled = RoundTo(format, value / factor);
    if (std::isfinite(value) && scaled * factor != value) return 1;
  }
  for (size_t i = 0; i < tensor.size(); ++i) tensor.Set(i, tensor.Value(i) / factor);
  return factor;
}

// The same table serves all three, whatever it is, so only the rotation's arithmetic and the store
// count: |R(s) - alpha R(x) - beta R(y)| <= B(s) + alpha B(x) + beta B(y).
Verdict CheckLinearity(const Subject& subject, const LawCase& c) {
  ExactSum split = SplitExactly(c);
  const double alpha = Unscale(split.x, c.alpha), beta = Unscale(split.y, c.beta);
  const Tensor sum = subject.Rotate(c.positions, split.sum);
  const Tensor x = subject.Rotate(c.positions, split.x), y = subject.Rotate(c.positions, split.y);
  const RotaryBound bound = FixedTableBound(subject), own = subject.bound();
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue in_sum = At(split.sum, place), in_x = At(split.x, place),
                    in_y = At(split.y, place);
    if (!IsFinite(in_sum) || !IsFinite(in_x) || !IsFinite(in_y)) return;
    const double position = PositionOf(subject, c.positions, place);
    if (std::isinf(own.Angle(position, place.pair))) return;
    const PairValue got = At(sum, place), out_x = At(x, place), out_y = At(y, place);
    const auto difference = [&](double s, double of_x, double of_y) {
      return (DoubleDouble{s, 0} - (TwoSum(alpha * of_x, beta * of_y))).high;
    };
    const double size = Norm(in_sum) + std::fabs(alpha) * Norm(in_x) + std::fabs(beta) * Norm(in_y);
    const double error =
        std::hypot(difference(got.u, out_x.u, out_y.u), difference(got.v, out_x.v, out_y.v)) -
        8 * kMeasuringError * bound.magnitude() * size;
    const auto allowed = [&](PairValue in) { return bound.Pair(0, place.pair, Norm(in)); };
    comparisons.Add(
        position, error,
        allowed(in_sum) + std::fabs(alpha) * allowed(in_x) + std::fabs(beta) * allowed(in_y),
        bound.magnitude() * size, [&] {
          return WitnessAt(subject, place, got,
                           {alpha * out_x.u + beta * out_y.u, alpha * out_x.v + beta * out_y.v});
        });
  });
  return comparisons.Take();
}

const Subject& TransposeOf(const LawCase& c) {
  if (c.transpose == nullptr) {
    throw Unsupported("needs a forward kernel and its transpose of the same dtype");
  }
  return *c.transpose;
}

// Pair by pair: <Rx, y> is off by B(x) |y|, <x, R'y> by B'(y) |x|, each kernel against the same
// exact rotation.
Verdict CheckAdjoint(const Subject& subject, const LawCase& c) {
  const Subject& transpose = TransposeOf(c);
  const Tensor rx = subject.Rotate(c.positions, c.x);
  const Tensor ry = transpose.Rotate(c.positions, c.y);
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place), y = At(c.y, place);
    if (!IsFinite(x) || !IsFinite(y)) return;
    const int scale_x = -ExponentOf(x), scale_y = -ExponentOf(y);
    const PairValue xs = Scaled(x, scale_x), ys = Scaled(y, scale_y);
    const DoubleDouble left = Dot(Scaled(At(rx, place), scale_x), ys);
    const DoubleDouble right = Dot(xs, Scaled(At(ry, place), scale_y));
    const double position = PositionOf(subject, c.positions, place);
    const double size = subject.magnitude() * Norm(xs) * Norm(ys);
    const double error = std::fabs((left - right).high) - 8 * kMeasuringError * size;
    const double allowed =
        std::ldexp(PairBound(subject.bound(), position, place.pair, Norm(x)), scale_x) * Norm(ys) +
        std::ldexp(PairBound(transpose.bound(), position, place.pair, Norm(y)), scale_y) * Norm(xs);
    comparisons.Add(position, error, allowed, size, [&] {
      Witness witness = WitnessAt(subject, place, {}, {});
      const double unit = std::ldexp(1.0, -scale_x - scale_y);
      witness.got = fmt::format("<Rx, y> = {:.17g}", left.high * unit);
      witness.want = fmt::format("<x, R'y> = {:.17g}", right.high * unit);
      return witness;
    });
  });
  return comparisons.Take();
}

// The transpose of a Q(p) is a Q(-p), Q orthogonal: both kernels are near the same vector.
Verdict CheckBackward(const Subject& subject, const LawCase& c) {
  const Subject& transpose = TransposeOf(c);
  const std::vector<double> back = Negated(c.positions);
  const Tensor want = subject.Rotate(back, c.x), out = transpose.Rotate(c.positions, c.x);
  Comparisons comparisons;
  ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
    const PairValue x = At(c.x, place);
    if (!IsFinite(x)) return;
    const double position = PositionOf(subject, c.positions, place), r = Norm(x);
    comparisons.Add(position, Distance(At(out, place), {1, 0}, At(want, place)),
                    PairBound(subject.bound(), -position, place.pair, r) +
                        PairBound(transpose.bound(), position, place.pair, r),
                    subject.magnitude() * r,
                    [&] { return WitnessAt(subject, place, At(out, place), At(want, place)); });
  });
  return comparisons.Take();
}

Verdict CheckOneFrequency(const Subject& subject, const LawCase& c) {
  Comparisons comparisons;
  for (const Phase& phase : UnwrapFrequencies(subject, LargestPosition(c)).phases) {
    comparisons.Add(phase.position, phase.error, phase.bound, 1, [&] {
      return Witness{.where = NameOfPair(subject, phase.pair),
                     .got = fmt::format("an angle off by {:.6g} radians", phase.error),
                     .want = "the position times the frequency seen at smaller positions"};
    });
  }
  return comparisons.Take();
}

constexpr std::string_view kRotations = "rotate rotate_backward";

}  // namespace

std::vector<Law> RotationLaws() {
  return {
      {"relative_invariance",
       "<R(p) q, R(t) k> = <R(p + D) q, R(t + D) k>, pair by pair: a^2 times a function of p - t",
       kRotations, false, CheckRelativeInvariance},
      {"norm", "|R(p) x| = a |x| for every pair", kRotations, false, CheckNorm},
      {"position_zero", "R(0) x = a x; for a = 1 equal in value", kRotations, false,
       CheckPositionZero},
      {"inverse", "R(-p) R(p) x = a^2 x", kRotations, false, CheckInverse},
      {"composition", "R(t) R(p) x = a R(p + t) x", kRotations, false, CheckComposition},
      {"linearity", "R(p)(alpha x + beta y) = alpha R(p) x + beta R(p) y", kRotations, false,
       CheckLinearity},
      {"adjoint", "<R(p) x, y> = <x, R'(p) y> with the backward kernel R'", kRotations, false,
       CheckAdjoint},
      {"backward", "the backward kernel at p is the forward one at -p, a kept", kRotations, false,
       CheckBackward},
      {"one_frequency", "every pair turns by the position times one frequency",
       "rotate rotate_backward table", true, CheckOneFrequency},
  };
}

}  // namespace posgauge
