// Loading and storing the dtypes. Included by simd.cc once a target, hence no guard.

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements of the 16-bit dtypes.
struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

template <class T>
struct ComputeOf {
  using Type = float;
};
template <>
struct ComputeOf<double> {
  using Type = double;
};

// x86 converts f16 in hardware from AVX2 on. Highway 1.0.3's emulation elsewhere truncates and does
// not know infinities, so it is not used.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr bool kHardwareF16 = true;
#else
constexpr bool kHardwareF16 = false;
#endif

template <class D>
HWY_INLINE hn::VFromD<D> LoadAs(D d, const float* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::VFromD<D> LoadAs(D d, const double* from) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::VFromD<hn::Rebind<uint32_t, D>> LoadBits(D, const uint16_t* from) {
  return hn::PromoteTo(hn::Rebind<uint32_t, D>(), hn::LoadU(hn::Rebind<uint16_t, D>(), from));
}

template <class D>
HWY_INLINE hn::VFromD<D> LoadAs(D d, const Bf16* from) {
  return hn::BitCast(d, hn::ShiftLeft<16>(LoadBits(d, &from->bits)));
}

// Exact. Below infinity the bits, moved to where f32 has them, are the value times 2^-112: an exact
// product, subnormals included, since 2^112 times the smallest is normal.
template <class D>
HWY_INLINE hn::VFromD<D> LoadAs(D d, const F16* from) {
  if constexpr (kHardwareF16) {
    const hn::Rebind<hwy::float16_t, D> d16;
    const auto bits = hn::LoadU(hn::Rebind<uint16_t, D>(), &from->bits);
    return hn::PromoteTo(d, hn::BitCast(d16, bits));
  } else {
    const hn::Rebind<uint32_t, D> d32;
    const auto bits = LoadBits(d, &from->bits);
    const auto size = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7fff)));
    const auto scaled = hn::BitCast(d32, hn::Mul(hn::BitCast(d, size), hn::Set(d, 0x1p112f)));
    const auto special = hn::Or(size, hn::Set(d32, 0x7f800000));
    const auto is_special = hn::Gt(hn::BitCast(hn::Rebind<int32_t, D>(), size),
                                   hn::Set(hn::Rebind<int32_t, D>(), 0x0f7fffff));
    const auto value = hn::IfThenElse(hn::RebindMask(d32, is_special), special, scaled);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000)));
    return hn::BitCast(d, hn::Or(value, sign));
  }
}

template <class D>
HWY_INLINE void StoreAs(D d, hn::VFromD<D> value, float* to) {
  static_assert(sizeof(hn::TFromD<D>) == 4);
  hn::StoreU(value, d, to);
}

template <class D>
HWY_INLINE void StoreAs(D d, hn::VFromD<D> value, double* to) {
  hn::StoreU(value, d, to);
}

// To nearest, ties to even: adds just under half of the last place kept, and the last place's own
// bit. A carry out of the significand moves to the next binade, at the end to infinity. NaNs are
// made quiet, so that none of them loses the bits that make it one.
template <class D>
HWY_INLINE void StoreAs(D, hn::VFromD<D> value, Bf16* to) {
  const hn::Rebind<uint32_t, D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(d32, 0x7fff)), last);
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
  const auto kept = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
  const hn::Rebind<uint16_t, D> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(hn::Rebind<int32_t, D>(), kept)), d16, &to->bits);
}

// To nearest, ties to even, by the size of the value:
//   above 2^16      infinity, or the quiet NaN;
//   below 2^-14     adding 1/2 brings the last place of the subnormals, 2^-24, to the last place of
//                   the sum, so that the addition rounds there;
//   otherwise       as bf16, with the exponent's bias moved from 127 to 15; a carry may reach
//                   infinity.
template <class D>
HWY_INLINE void StoreAs([[maybe_unused]] D d, hn::VFromD<D> value, F16* to) {
  const hn::Rebind<uint16_t, D> d16;
  if constexpr (kHardwareF16) {
    const hn::Rebind<hwy::float16_t, D> df16;
    hn::StoreU(hn::BitCast(d16, hn::DemoteTo(df16, value)), d16, &to->bits);
  } else {
    const hn::Rebind<uint32_t, D> d32;
    const hn::Rebind<int32_t, D> di32;
    const auto bits = hn::BitCast(d32, value);
    const auto size = hn::And(bits, hn::Set(d32, 0x7fffffff));
    const auto signed_size = hn::BitCast(di32, size);

    const auto last = hn::And(hn::ShiftRight<13>(size), hn::Set(d32, 1));
    const auto bias = hn::Set(d32, 0xfffu - (112u << 23));
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(size, bias), last));

    const auto half = hn::Set(d, 0.5f);
    const auto sum = hn::BitCast(d32, hn::Add(hn::BitCast(d, size), half));
    const auto subnormal = hn::Sub(sum, hn::BitCast(d32, half));

    const auto is_nan = hn::Gt(signed_size, hn::Set(di32, 0x7f800000));
    const auto special =
        hn::IfThenElse(hn::RebindMask(d32, is_nan), hn::Set(d32, 0x7e00), hn::Set(d32, 0x7c00));

    const auto is_small = hn::Lt(signed_size, hn::Set(di32, 0x38800000));
    const auto is_large = hn::Gt(signed_size, hn::Set(di32, 0x477fffff));
    auto result = hn::IfThenElse(hn::RebindMask(d32, is_small), subnormal, normal);
    result = hn::IfThenElse(hn::RebindMask(d32, is_large), special, result);
    const auto sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(d32, 0x80000000)));
    result = hn::Or(result, sign);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di32, result)), d16, &to->bits);
  }
}

// Doubles rounded to the type of the tag.
template <class DT, class V64>
HWY_INLINE hn::VFromD<DT> FromDouble([[maybe_unused]] DT d, V64 value) {
  if constexpr (sizeof(hn::TFromD<DT>) == sizeof(double)) {
    return value;
  } else {
    return hn::DemoteTo(d, value);
  }
}

// Straight from double. f32: one instruction. 16-bit: the double is cut after 24 bits, and the last
// one kept is set where anything was cut (rounding to odd): with two bits more than the target has,
// the second rounding then gives what rounding once would (Boldo and Melquiond, "When double
// rounding is odd", 2005). Valid where |value| is 0 or at least 2^-126.
template <class D64>
HWY_INLINE void Narrow64(D64, hn::VFromD<D64> value, float* to) {
  const hn::Rebind<float, D64> d32;
  hn::StoreU(hn::DemoteTo(d32, value), d32, to);
}

template <class D64>
HWY_INLINE void Narrow64(D64 d, hn::VFromD<D64> value, double* to) {
  hn::StoreU(value, d, to);
}

template <class D64, class T>
HWY_INLINE void Narrow64(D64 d, hn::VFromD<D64> value, T* to) {
  const hn::Rebind<uint64_t, D64> du;
  const auto kept_last = hn::Set(du, uint64_t{1} << 29);
  const auto below = hn::Sub(kept_last, hn::Set(du, 1));
  const auto bits = hn::BitCast(du, value);
  const auto cut = hn::And(bits, below);
  const auto odd = hn::IfThenZeroElse(hn::Eq(cut, hn::Zero(du)), kept_last);
  const auto to_odd = hn::BitCast(d, hn::Or(hn::AndNot(below, bits), odd));
  const hn::Rebind<float, D64> d32;
  StoreAs(d32, hn::DemoteTo(d32, to_odd), to);
}

// Runs at(d, i) over [0, count): whole vectors first, then halves of them down to one lane, so that
// nothing outside is touched. Every width does the same to every value.
template <class D, class At>
HWY_INLINE void ForEachVector(D d, size_t begin, size_t count, const At& at) {
  const size_t lanes = hn::Lanes(d);
  size_t i = begin;
  for (; i + lanes <= count; i += lanes) at(d, i);
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (i < count) ForEachVector(hn::Half<D>(), i, count, at);
  }
}

template <class T>
void NarrowAll(const float* from, T* to, size_t count) {
  ForEachVector(hn::ScalableTag<float>(), 0, count,
                [&](auto d, size_t i) HWY_ATTR { StoreAs(d, hn::LoadU(d, from + i), to + i); });
}

template <class T>
void WidenAll(const T* from, float* to, size_t count) {
  ForEachVector(hn::ScalableTag<float>(), 0, count,
                [&](auto d, size_t i) HWY_ATTR { hn::StoreU(LoadAs(d, from + i), d, to + i); });
}

void Narrow(Dtype dtype, const float* from, uint16_t* to, size_t count) {
  if (dtype == Dtype::bf16) {
    NarrowAll(from, reinterpret_cast<Bf16*>(to), count);
  } else {
    NarrowAll(from, reinterpret_cast<F16*>(to), count);
  }
}

void Widen(Dtype dtype, const uint16_t* from, float* to, size_t count) {
  if (dtype == Dtype::bf16) {
    WidenAll(reinterpret_cast<const Bf16*>(from), to, count);
  } else {
    WidenAll(reinterpret_cast<const F16*>(from), to, count);
  }
}

// Calls visit with a null pointer of the dtype's element type.
template <class Visit>
HWY_INLINE void WithElement(Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::f64:
      return visit(static_cast<double*>(nullptr));
    case Dtype::f32:
      return visit(static_cast<float*>(nullptr));
    case Dtype::bf16:
      return visit(static_cast<Bf16*>(nullptr));
    default:
      return visit(static_cast<F16*>(nullptr));
  }
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
