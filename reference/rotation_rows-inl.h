// Vector loops over rows in double-double. Included by rotation_rows.cc once a target, hence no
// guard. tests/rotation_bounds.py derives the bounds, operation by operation; keep the two alike.

HWY_BEFORE_NAMESPACE();
namespace posgauge::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows are padded to 8 lanes, which no vector here exceeds.
using D = hn::CappedTag<double, 8>;
using V = hn::VFromD<D>;

// a + b = sum + error, exactly (Knuth).
HWY_INLINE V TwoSum(V a, V b, V* error) {
  const V sum = hn::Add(a, b);
  const V b_seen = hn::Sub(sum, a);
  *error = hn::Add(hn::Sub(a, hn::Sub(sum, b_seen)), hn::Sub(b, b_seen));
  return sum;
}

// a b = product + error, exactly; |a|, |b| below 2^900 and nothing underflows.
HWY_INLINE V TwoProduct(V a, V b, V* error) {
  const V product = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  *error = hn::MulSub(a, b, product);
#else
  const D d;
  const V splitter = hn::Set(d, 0x1p27 + 1);  // Veltkamp, then Dekker
  const V a_scaled = hn::Mul(splitter, a), b_scaled = hn::Mul(splitter, b);
  const V a_high = hn::Sub(a_scaled, hn::Sub(a_scaled, a));
  const V b_high = hn::Sub(b_scaled, hn::Sub(b_scaled, b));
  const V a_low = hn::Sub(a, a_high), b_low = hn::Sub(b, b_high);
  *error =
      hn::Sub(hn::Mul(a_low, b_low),
              hn::Sub(hn::Sub(hn::Sub(product, hn::Mul(a_high, b_high)), hn::Mul(a_low, b_high)),
                      hn::Mul(a_high, b_low)));
#endif
  return product;
}

struct Entries {
  V high, low;
};

HWY_INLINE Entries LoadEntries(const double* high, const double* low) {
  const D d;
  return {hn::LoadU(d, high), hn::LoadU(d, low)};
}

// sum + low as high + low with |low| <= ulp(high) / 2.
HWY_INLINE Entries Normalise(V sum, V low) {
  V error;
  const V high = TwoSum(sum, low, &error);
  return {high, error};
}

// a.high b.low + a.low b.high
HWY_INLINE V CrossProducts(const Entries& a, const Entries& b) {
  return hn::MulAdd(a.high, b.low, hn::Mul(a.low, b.high));
}

// a b + sign c d.
template <bool kSubtract>
HWY_INLINE Entries TwoProducts(const Entries& a, const Entries& b, const Entries& c,
                               const Entries& e) {
  V ab_error, ce_error, sum_error;
  const V ab = TwoProduct(a.high, b.high, &ab_error);
  V ce = TwoProduct(c.high, e.high, &ce_error);
  V ce_cross = CrossProducts(c, e);
  if constexpr (kSubtract) {
    ce = hn::Neg(ce);
    ce_error = hn::Neg(ce_error);
    ce_cross = hn::Neg(ce_cross);
  }
  const V sum = TwoSum(ab, ce, &sum_error);
  const V low = hn::Add(
      sum_error, hn::Add(hn::Add(ab_error, ce_error), hn::Add(CrossProducts(a, b), ce_cross)));
  return Normalise(sum, low);
}

// The arrays hold `stride` cosines, then `stride` sines.
void MultiplyRows(const double* a_high, const double* a_low, const double* b_high,
                  const double* b_low, size_t stride, double* high, double* low) {
  const D d;
  for (size_t i = 0; i < stride; i += hn::Lanes(d)) {
    const size_t j = stride + i;
    const Entries a_cos = LoadEntries(a_high + i, a_low + i);
    const Entries a_sin = LoadEntries(a_high + j, a_low + j);
    const Entries b_cos = LoadEntries(b_high + i, b_low + i);
    const Entries b_sin = LoadEntries(b_high + j, b_low + j);
    const Entries cos = TwoProducts<true>(a_cos, b_cos, a_sin, b_sin);
    const Entries sin = TwoProducts<false>(a_sin, b_cos, a_cos, b_sin);
    hn::StoreU(cos.high, d, high + i);
    hn::StoreU(cos.low, d, low + i);
    hn::StoreU(sin.high, d, high + j);
    hn::StoreU(sin.low, d, low + j);
  }
}

void ScaleRows(DoubleDouble factor, size_t count, double* high, double* low) {
  const D d;
  const Entries f = {hn::Set(d, factor.high), hn::Set(d, factor.low)};
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Entries entry = LoadEntries(high + i, low + i);
    V error;
    const V product = TwoProduct(entry.high, f.high, &error);
    const Entries scaled = Normalise(product, hn::Add(error, CrossProducts(entry, f)));
    hn::StoreU(scaled.high, d, high + i);
    hn::StoreU(scaled.low, d, low + i);
  }
}

// Indices of the lanes of a mask.
template <class Mask>
HWY_INLINE void Append(Mask mask, size_t first, std::vector<int64_t>* indices) {
  const D d;
  if (HWY_LIKELY(hn::AllFalse(d, mask))) return;
  uint8_t bits[8] = {};
  hn::StoreMaskBits(d, mask, bits);
  for (size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    if ((bits[0] >> lane & 1) != 0) indices->push_back(static_cast<int64_t>(first + lane));
  }
}

// To binary64: high + (low -+ width), each one correct rounding, agree.
void RoundRowWide(const double* high, const double* low, size_t count, double width, double* out,
                  size_t first_index, std::vector<int64_t>* undecided) {
  const D d;
  const V half_width = hn::Set(d, width);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const Entries entry = LoadEntries(high + i, low + i);
    const V below = hn::Add(entry.high, hn::Sub(entry.low, half_width));
    const V above = hn::Add(entry.high, hn::Add(entry.low, half_width));
    hn::StoreU(above, d, out + i);
    Append(hn::Ne(below, above), first_index + i, undecided);
  }
}

// To a format of fewer digits. With q the format's spacing at |value| and M = 1.5 * 2^52 q, the
// double r = |value| + M is an integer times q: |value| rounded to nearest even, subnormals
// included, as M / q is even. The bits of r beyond M's count that integer, and added to the
// exponent field they carry into it as the encoding wants. What is rounded away is r - M - |value|,
// exact; the real number, within `radius` of value, rounds alike if that is less than q/2 - 2
// radius: the second radius because below a power of two the spacing is q/2, and radius < q/4
// follows. `values(i)` yields the values of the lanes from i.
template <class Bits, class Values>
HWY_INLINE void RoundToBits(size_t count, const Values& values, double radius, Format format,
                            Bits* out, size_t first_index, std::vector<int64_t>* undecided) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<int32_t, D> di32;
  const hn::Rebind<Bits, D> dout;
  const V two_52 = hn::Set(d, 0x1p52);
  const V magic = hn::Set(d, 1.5 * std::ldexp(1.0, 53 - format.digits));
  const V least_magic = hn::Set(d, 1.5 * std::ldexp(1.0, 52 + format.min_quantum()));
  const V half_spacing = hn::Set(d, 0x1p-53 / 1.5);
  const V r1 = hn::Set(d, radius), r2 = hn::Set(d, 2 * radius);
  const auto exponent_mask = hn::Set(du, uint64_t{0x7ff} << 52);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V value = values(i);
    const V x = hn::Abs(value);
    const V power = hn::BitCast(d, hn::And(hn::BitCast(du, x), exponent_mask));
    const V m = hn::Max(hn::Mul(power, magic), least_magic);
    const V r = hn::Add(x, m);
    // M 2^-53 / 1.5 is q/2 within a rounding, which radius's slack absorbs.
    const V room = hn::Sub(hn::Mul(m, half_spacing), r2);
    const auto known = hn::And(hn::Lt(hn::Abs(hn::Sub(x, hn::Sub(r, m))), room), hn::Gt(x, r1));
    const auto m_bits = hn::BitCast(du, m);
    const auto field = hn::ShiftLeftSame(
        hn::ShiftRight<52>(hn::Sub(m_bits, hn::BitCast(du, least_magic))), format.digits - 1);
    const auto sign = hn::ShiftLeftSame(hn::ShiftRight<63>(hn::BitCast(du, value)),
                                        static_cast<int>(8 * sizeof(Bits)) - 1);
    const auto bits = hn::Or(hn::Add(field, hn::Sub(hn::BitCast(du, r), m_bits)), sign);
    // Below 2^16: exact as a double, and so as an int32.
    const V number = hn::Sub(hn::BitCast(d, hn::Or(bits, hn::BitCast(du, two_52))), two_52);
    hn::StoreU(hn::DemoteTo(dout, hn::DemoteTo(di32, number)), dout, out + i);
    Append(hn::Not(known), first_index + i, undecided);
  }
}

// To binary32, which the processor rounds to by itself: value -+ radius agree, signs included.
template <class Values>
HWY_INLINE void RoundToF32(size_t count, const Values& values, double radius, float* out,
                           size_t first_index, std::vector<int64_t>* undecided) {
  const D d;
  const hn::Rebind<float, D> df;
  const hn::RebindToSigned<decltype(df)> di32;
  const V half_width = hn::Set(d, radius);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const V value = values(i);
    const auto below = hn::DemoteTo(df, hn::Sub(value, half_width));
    const auto above = hn::DemoteTo(df, hn::Add(value, half_width));
    hn::StoreU(above, df, out + i);
    const auto differ = hn::Xor(hn::BitCast(di32, below), hn::BitCast(di32, above));
    if (HWY_LIKELY(hn::AllTrue(di32, hn::Eq(differ, hn::Zero(di32))))) continue;
    Append(hn::Ne(hn::PromoteTo(d, differ), hn::Zero(d)), first_index + i, undecided);
  }
}

template <class Values>
HWY_INLINE void RoundNarrow(size_t count, const Values& values, double radius, Dtype dtype,
                            void* out, size_t first_index, std::vector<int64_t>* undecided) {
  const Format format = FormatOf(dtype);
  switch (SizeOf(dtype)) {
    case 4:
      return RoundToF32(count, values, radius, static_cast<float*>(out), first_index, undecided);
    case 2:
      return RoundToBits(count, values, radius, format, static_cast<uint16_t*>(out), first_index,
                         undecided);
    default:
      return RoundToBits(count, values, radius, format, static_cast<uint8_t*>(out), first_index,
                         undecided);
  }
}

// The high parts of a row.
void RoundRowNarrow(const double* high, size_t count, double radius, Dtype dtype, void* out,
                    size_t first_index, std::vector<int64_t>* undecided) {
  const D d;
  RoundNarrow(
      count, [&](size_t i) { return hn::LoadU(d, high + i); }, radius, dtype, out, first_index,
      undecided);
}

// The product of two rows, in high parts alone: cosines, then sines.
void RoundProductNarrow(const double* a, const double* b, size_t stride, double radius, Dtype dtype,
                        void* cos, void* sin, std::vector<int64_t>* undecided) {
  const D d;
  const auto at = [&](const double* row, size_t i) { return hn::LoadU(d, row + i); };
  RoundNarrow(
      stride,
      [&](size_t i) {
        return hn::NegMulAdd(at(a, stride + i), at(b, stride + i), hn::Mul(at(a, i), at(b, i)));
      },
      radius, dtype, cos, 0, undecided);
  RoundNarrow(
      stride,
      [&](size_t i) {
        return hn::MulAdd(at(a, i), at(b, stride + i), hn::Mul(at(a, stride + i), at(b, i)));
      },
      radius, dtype, sin, stride, undecided);
}

}  // namespace posgauge::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
