// Rows of cos/sin tables. Included by simd.cc once a target, hence no guard.
//
// Contract  position=exact frequency=exact angle=turn96 trig=2ulp:f64, magnitude multiplied in f64,
//           one rounding to the table's dtype, nearest even, subnormals kept.
//
// Method    The position, an integer of 32 bits (and 64 bits of a fraction), times the frequency as
// a
//           96-bit fraction of a turn, in integers: whole turns overflow away, so the reduction is
//           exact at any distance. The remaining eighth of a turn goes through the Taylor
//           polynomials of sin and cos in double.
//
// Bound     Units of 2^-54 (half an ulp of f64 in [1/2, 1)).
//   phase   The frequency's rounding makes |p| 2^-97 turns, the cut to 64 bits 2^-65, a fraction of
//   a
//           position 2^-65 (1 + |w|/2 pi) where it has bits below 2^-64. Below 2^-60 radians for
//           whole positions: 0.02.
//   r       |r| <= 2^61 of 2^64 to a turn, rounded to 53 bits: 2^-57 turns = 0.785, which sin sees
//           times cos(pi/8) < 0.93 (0.73), cos times sin(pi/4) (0.56).
//   sin     r (2 pi + lo + r^2 S): S carries its first coefficient's and its own rounding and
//   little
//           else, 2.1 u (u = 2^-53); r^2 one, their sum with lo (at most 0.63) one, times r one:
//           5.1 u 0.63/8 = 0.40 u = 0.80. The last addition 1. Truncation (pi/4)^19/19! = 2^-63.
//           Sum 2.6; without fused multiply-adds also the product 2 pi r (1) and the inner ones
//           (0.35): 3.9.
//   cos     1 + r^2 C, |C| in 18.7..19.8, r^2 <= 2^-6: r^2 is within 2^-60 (0.30), C's first
//           coefficient within 2^-49.5 (0.36), C rounded within 2^-49 (0.50), its inner terms 0.09;
//           the last addition 1. Truncation (pi/4)^18/18! = 2^-58.8 (0.04). With r 2.9; without
//           fused multiply-adds also r^2 C (0.5) and inner products (0.03): 3.4.
//           Both below 4 = 2 ulp of f64 = 2^-52.
//   f32     Half an ulp, at most 2^-25 for |value| < 1, and 2^-52: 2.99e-8 at every position. Times
//   a
//           magnitude a, half an ulp of a cos and a 2^-52 (below 5.97e-8 for a < 2).
//
// Worst     known, base 500000, 64 pairs, position < 2^32:
//   f64     position 244786 pair 6  cos  got 0x1.6a33cf133f4efp-1   1.36 ulp from the truth, fused
//                                       want 0x1.6a33cf133f4eep-1
//           position 566735 pair 45 sin  got -0x1.6ca78b7fdfa3ep-1  1.57 ulp, not fused
//                                       want -0x1.6ca78b7fdfa3cp-1
//   f32     position 548383 pair 19 cos  got -0x1.8c0494p-3         the one of 3.8e7 entries that
//   is not
//                                       want -0x1.8c0496p-3         the truth's rounding
//
// Range     |position| <= 2^32 - 1, |frequency| <= 2^34 radians per token, |magnitude| <= 2^60.
// With
//           |magnitude| >= 2^-60 nothing is lost below the normal range of f32 on the way to 16
//           bits, as every entry that is not 0 is above 2^-64.

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

// a b, each below 2^32.
template <class D>
HWY_INLINE hn::VFromD<D> MultiplyWords(D d, hn::VFromD<D> a, hn::VFromD<D> b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, hn::GetLane(a) * hn::GetLane(b));
#else
  (void)d;
  const hn::Repartition<uint32_t, D> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
#endif
}

// The position that all pairs of a row count.
struct SamePosition {
  explicit SamePosition(const TurnPosition& position)
      : whole(position.whole),
        fraction(position.fraction),
        flip(IsZero() ? 0 : uint64_t{position.negative} << 63),
        keep(IsZero() ? 0 : ~uint64_t{0}) {}
  bool IsZero() const { return whole == 0 && fraction == 0; }

  template <class D>
  HWY_INLINE hn::VFromD<D> Whole(D d, size_t) const {
    return hn::Set(d, whole);
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> Fraction(D d, size_t) const {
    return hn::Set(d, fraction);
  }
  // The sign bit of a negative position; nothing at 0, where sin is +0 in either direction.
  template <class D>
  HWY_INLINE hn::VFromD<D> Sign(D d, size_t, hn::VFromD<D> turn_sign) const {
    return hn::Xor(hn::And(turn_sign, hn::Set(d, keep)), hn::Set(d, flip));
  }

  uint64_t whole, fraction, flip, keep;
};

// A position of its own for every pair.
struct OwnPositions {
  template <class D>
  HWY_INLINE hn::VFromD<D> Whole(D d, size_t i) const {
    return hn::And(hn::LoadU(d, positions.whole.data() + i), hn::Set(d, uint64_t{0xffffffff}));
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> Fraction(D d, size_t i) const {
    return hn::LoadU(d, positions.fraction.data() + i);
  }
  template <class D>
  HWY_INLINE hn::VFromD<D> Sign(D d, size_t i, hn::VFromD<D> turn_sign) const {
    const auto whole = hn::LoadU(d, positions.whole.data() + i);
    const auto moves = hn::ShiftLeft<1>(whole);  // its sign bit
    const auto sign = hn::And(hn::Xor(whole, turn_sign), moves);
    return hn::And(sign, hn::Set(d, uint64_t{1} << 63));
  }

  const PairPositions& positions;
};

// position * frequency modulo 1 turn, in units of 2^-64.
template <bool kFraction, class D, class Position>
HWY_INLINE hn::VFromD<D> Phase(D d, const Turns& turns, const Position& position, size_t i) {
  const auto u2 = hn::LoadU(d, turns.fraction[0].data() + i);
  const auto u1 = hn::LoadU(d, turns.fraction[1].data() + i);
  const auto u0 = hn::LoadU(d, turns.fraction[2].data() + i);
  const auto whole = position.Whole(d, i);
  const auto half = hn::Set(d, uint64_t{1} << 31);
  const auto low = MultiplyWords(d, whole, u0);  // units of 2^-96
  const auto high =
      hn::Add(hn::ShiftLeft<32>(MultiplyWords(d, whole, u2)), MultiplyWords(d, whole, u1));
  // At most (2^32 - 1)^2 + 2^31: no overflow.
  if constexpr (!kFraction) return hn::Add(high, hn::ShiftRight<32>(hn::Add(low, half)));

  const auto word = hn::Set(d, uint64_t{0xffffffff});
  const auto fraction = position.Fraction(d, i);
  const auto f1 = hn::ShiftRight<32>(fraction), f0 = hn::And(fraction, word);
  const auto f1u1 = MultiplyWords(d, f1, u1), f0u2 = MultiplyWords(d, f0, u2);  // of 2^-96
  // Everything in units of 2^-96, exactly, but for what lies below them.
  auto sum = hn::Add(hn::Add(hn::And(low, word), half), hn::And(f1u1, word));
  sum = hn::Add(sum, hn::And(f0u2, word));
  sum = hn::Add(sum, hn::ShiftRight<32>(MultiplyWords(d, f1, u0)));
  sum = hn::Add(sum, hn::ShiftRight<32>(MultiplyWords(d, f0, u1)));
  auto phase = hn::Add(high, hn::ShiftRight<32>(sum));
  phase = hn::Add(phase, hn::ShiftRight<32>(low));
  phase = hn::Add(phase, hn::ShiftRight<32>(f1u1));
  phase = hn::Add(phase, hn::ShiftRight<32>(f0u2));
  phase = hn::Add(phase, MultiplyWords(d, f1, u2));
  if (turns.any_whole) {
    const auto turn = hn::LoadU(d, turns.whole.data() + i);
    phase = hn::Add(phase, hn::ShiftLeft<32>(MultiplyWords(d, f1, turn)));
    phase = hn::Add(phase, MultiplyWords(d, f0, turn));
  }
  return phase;
}

// (2 pi)^k/k!, alternating; r is in turns.
//   python3 -c 'from mpmath import *; mp.prec = 200
//   for k in range(1, 18): print(k, float((-1)**(k//2)*(2*pi)**k/factorial(k)).hex())'
constexpr double kTwoPi = 0x1.921fb54442d18p+2, kTwoPiLow = 0x1.1a62633145c07p-52;
constexpr double kSin[] = {-0x1.4abbce625be53p+5, 0x1.466bc6775aae2p+6,  -0x1.32d2cce62bd86p+6,
                           0x1.50783487ee782p+5,  -0x1.e3074fde8871fp+3, 0x1.e8f434d018d63p+1,
                           -0x1.6fadb9f155744p-1, 0x1.aaec32af93359p-4};
constexpr double kCos[] = {-0x1.3bd3cc9be45dep+4, 0x1.03c1f081b5ac4p+6,  -0x1.55d3c7e3cbffap+6,
                           0x1.e1f506891babbp+5,  -0x1.a6d1f2a204a8cp+4, 0x1.f9d38a3763cc3p+2,
                           -0x1.b6e24f44b128fp+0, 0x1.20c62c2f2d7f5p-2};

template <class D>
HWY_INLINE hn::VFromD<D> Polynomial(D d, hn::VFromD<D> x, const double (&coefficients)[8]) {
  auto sum = hn::Set(d, coefficients[7]);
  for (int k = 6; k >= 0; --k) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[k]));
  return sum;
}

template <bool kFraction, class Position, class T>
void Row(const Turns& turns, const Position& position, double magnitude, T* cos, T* sin) {
  ForEachVector(hn::ScalableTag<double>(), 0, turns.Pairs(), [&](auto d, size_t i) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const hn::RebindToSigned<decltype(d)> di;
    // Half an eighth more, so that the top two bits count quarters and the rest is r + 1/8.
    const auto eighth = hn::Set(du, uint64_t{1} << 61);
    const auto phase = hn::Add(Phase<kFraction>(du, turns, position, i), eighth);
    const auto rest = hn::And(phase, hn::Set(du, (uint64_t{1} << 62) - 1));
    const auto r =
        hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::Sub(rest, eighth))), hn::Set(d, 0x1p-64));
    const auto square = hn::Mul(r, r);
    const auto one = hn::Set(d, 1.0), two_pi = hn::Set(d, kTwoPi), low = hn::Set(d, kTwoPiLow);
    const auto tail = hn::MulAdd(square, Polynomial(d, square, kSin), low);
    const auto sine = hn::MulAdd(r, two_pi, hn::Mul(r, tail));
    const auto cosine = hn::MulAdd(square, Polynomial(d, square, kCos), one);

    // Quarters: 1 and 3 exchange the two; sin is negative in 2 and 3, cos in 1 and 2.
    const auto quarter = hn::ShiftRight<62>(phase);
    const auto odd = hn::RebindMask(d, hn::TestBit(quarter, hn::Set(du, 1)));
    const auto bit = hn::Set(du, 2);
    const auto sign = position.Sign(du, i, hn::LoadU(du, turns.sign.data() + i));
    const auto sin_sign = hn::Xor(hn::ShiftLeft<62>(hn::And(quarter, bit)), sign);
    const auto cos_sign = hn::ShiftLeft<62>(hn::And(hn::Add(quarter, hn::Set(du, 1)), bit));
    const auto sin_value = hn::Xor(hn::IfThenElse(odd, cosine, sine), hn::BitCast(d, sin_sign));
    const auto cos_value = hn::Xor(hn::IfThenElse(odd, sine, cosine), hn::BitCast(d, cos_sign));
    const auto scale = hn::Set(d, magnitude);
    Narrow64(d, hn::Mul(cos_value, scale), cos + i);
    Narrow64(d, hn::Mul(sin_value, scale), sin + i);
  });
}

void CosSinRow(const Turns& turns, const TurnPosition& position, double magnitude, Dtype dtype,
               void* cos, void* sin) {
  WithElement(dtype, [&]<class T>(T*) HWY_ATTR {
    T* const c = static_cast<T*>(cos);
    T* const s = static_cast<T*>(sin);
    if (position.fraction == 0) {
      Row<false>(turns, SamePosition(position), magnitude, c, s);
    } else {
      Row<true>(turns, SamePosition(position), magnitude, c, s);
    }
  });
}

void CosSinRowOfAxes(const Turns& turns, const PairPositions& positions, double magnitude,
                     Dtype dtype, void* cos, void* sin) {
  WithElement(dtype, [&]<class T>(T*) HWY_ATTR {
    T* const c = static_cast<T*>(cos);
    T* const s = static_cast<T*>(sin);
    if (positions.any_fraction) {
      Row<true>(turns, OwnPositions{positions}, magnitude, c, s);
    } else {
      Row<false>(turns, OwnPositions{positions}, magnitude, c, s);
    }
  });
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
