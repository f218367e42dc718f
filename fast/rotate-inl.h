// Rotating heads by a row of a table. Included by simd.cc once a target, hence no guard.
//
// Contract  rotate=f32:fma store=<io>:rne for f32, bf16 and f16, rotate=f64:fma store=f64:rne for
// f64;
//           without fma on targets that have none. No flushing.
//
// Method    u' = fma(u, c, -(v s)), v' = fma(v, c, u s) in both pairings, so that they agree bit
// for
//           bit. Entries of a table in 16 bits are widened exactly. bf16 is taken two at a time
//           from 32-bit lanes, of which it is the upper half, without moving anything between
//           lanes.
//
// Bound     With the entries c, s given and r = |(u, v)|, u_c = 2^-24 (2^-53): the product loses
//           u_c |v s| and what falls below the smallest subnormal, half of it, eta; the sum u_c of
//           the result: |error| <= u_c (2 |v s| + |u c|)(1 + u_c) + 2 eta <= (2 u_c + u_c^2) r |(c,
//           s)|
//           + 2 eta; without fma u_c |u c| and one eta more, the same 2 u_c by Cauchy-Schwarz. Then
//           one rounding to io.
//
// Worst     known, f32, error over r |(c, s)|:
//           u=0x1.41cd8ep-5 v=-0x1.00d028p+0 c=0x1.a1a2b8p-11 s=0x1.fffff6p-1
//           got 0x1.00d22ep+0, want 0x1.00d23p+0: 1.963 u_c, fused
//           u=0x1.0001p+0 v=-0x1.84010ep-4 c=-0x1.fffefep-1 s=-0x1.00886ap-8
//           got -0x1.0018cap+0, want -0x1.0018ccp+0: 1.978 u_c, not fused
//
// Range     Any finite input whose products stay finite; a NaN or an infinity spoils its own pair
// only.

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

// Pairs whose members lie apart: D of u and D of v. All are loaded before any is stored, so that
// output may be input.
template <class D, class T, class C>
HWY_INLINE void RotateApart(D d, const T* u_in, const T* v_in, T* u_out, T* v_out, const C* cos,
                            const C* sin) {
  const auto u = LoadAs(d, u_in), v = LoadAs(d, v_in);
  const auto c = hn::LoadU(d, cos), s = hn::LoadU(d, sin);
  StoreAs(d, hn::MulSub(u, c, hn::Mul(v, s)), u_out);
  StoreAs(d, hn::MulAdd(v, c, hn::Mul(u, s)), v_out);
}

// Pairs side by side: u, v, u, v...; cos holds c, c, ... and sin -s, s, ...
template <class D, class T, class C>
HWY_INLINE void RotateAdjacent(D d, const T* in, T* out, const C* cos, const C* sin) {
  const auto x = LoadAs(d, in);
  const auto product = hn::Mul(hn::Reverse2(d, x), hn::LoadU(d, sin));
  StoreAs(d, hn::MulAdd(x, hn::LoadU(d, cos), product), out);
}

// f32 to the bits whose upper half is the bf16, as StoreAs rounds. A NaN has no bits in its lower
// half, as neither inputs nor rows have any there, so that nothing carries out of it.
template <class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> RoundedBits(D, hn::VFromD<D> value) {
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  return hn::Add(hn::Add(bits, hn::Set(d32, 0x7fff)), last);
}

#if HWY_TARGET != HWY_SCALAR
// Two bf16 in every 32-bit lane: the first is the lower one (little-endian, as all of Highway's
// x86 and Arm targets are).
template <class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> LoadCouples(D, const Bf16* from) {
  return hn::BitCast(hn::RebindToUnsigned<D>(),
                     hn::LoadU(hn::Repartition<uint16_t, D>(), &from->bits));
}
template <class D>
HWY_INLINE hn::VFromD<D> FirstOf(D d, hn::VFromD<hn::RebindToUnsigned<D>> couples) {
  return hn::BitCast(d, hn::ShiftLeft<16>(couples));
}
template <class D>
HWY_INLINE hn::VFromD<D> SecondOf(D d, hn::VFromD<hn::RebindToUnsigned<D>> couples) {
  return hn::BitCast(d, hn::And(couples, hn::Set(hn::RebindToUnsigned<D>(), 0xffff0000)));
}
template <class D>
HWY_INLINE void StoreCouples(D d, hn::VFromD<D> first, hn::VFromD<D> second, Bf16* to) {
  const hn::Repartition<uint16_t, D> d16;
  const auto lower = hn::BitCast(d16, hn::ShiftRight<16>(RoundedBits(d, first)));
  hn::StoreU(hn::OddEven(hn::BitCast(d16, RoundedBits(d, second)), lower), d16, &to->bits);
}

// Couples of pairs that lie apart; rows hold the entries of first and second ones separately.
template <class D>
HWY_INLINE void RotateCouplesApart(D d, const Bf16* u_in, const Bf16* v_in, Bf16* u_out,
                                   Bf16* v_out, const float* cos_first, const float* sin_first,
                                   const float* cos_second, const float* sin_second) {
  const auto u = LoadCouples(d, u_in), v = LoadCouples(d, v_in);
  const auto u1 = FirstOf(d, u), v1 = FirstOf(d, v), u2 = SecondOf(d, u), v2 = SecondOf(d, v);
  const auto c1 = hn::LoadU(d, cos_first), s1 = hn::LoadU(d, sin_first);
  const auto c2 = hn::LoadU(d, cos_second), s2 = hn::LoadU(d, sin_second);
  StoreCouples(d, hn::MulSub(u1, c1, hn::Mul(v1, s1)), hn::MulSub(u2, c2, hn::Mul(v2, s2)), u_out);
  StoreCouples(d, hn::MulAdd(v1, c1, hn::Mul(u1, s1)), hn::MulAdd(v2, c2, hn::Mul(u2, s2)), v_out);
}

// Side by side: a pair is a couple.
template <class D>
HWY_INLINE void RotateCouples(D d, const Bf16* in, Bf16* out, const float* cos, const float* sin) {
  const auto couples = LoadCouples(d, in);
  const auto u = FirstOf(d, couples), v = SecondOf(d, couples);
  const auto c = hn::LoadU(d, cos), s = hn::LoadU(d, sin);
  StoreCouples(d, hn::MulSub(u, c, hn::Mul(v, s)), hn::MulAdd(v, c, hn::Mul(u, s)), out);
}
#endif

// Where a spread row holds cos and sin of a pair.
template <class T>
HWY_INLINE std::array<size_t, 2> EntriesOf(Pairing pairing, size_t pair, size_t pairs) {
  if (std::is_same_v<T, Bf16>) {
    if (pairing == Pairing::interleaved) return {pair, pair};
    const size_t entry = pair / 2 + (pair % 2 == 0 ? 0 : (pairs + 1) / 2);
    return {entry, entry};
  }
  if (pairing == Pairing::interleaved) return {2 * pair, 2 * pair + 1};
  return {pair, pair};
}

// Pairs [begin, pairs) one at a time, at any strides.
template <class T, class C>
void RotateOneByOne(Pairing pairing, size_t begin, size_t pairs, const T* in, int64_t in_stride,
                    T* out, int64_t out_stride, const C* cos, const C* sin) {
  const hn::CappedTag<C, 1> d;
  for (size_t i = begin; i < pairs; ++i) {
    const bool half = pairing == Pairing::half;
    const auto u = static_cast<int64_t>(half ? i : 2 * i);
    const auto v = static_cast<int64_t>(half ? i + pairs : 2 * i + 1);
    const auto [at_cos, at_sin] = EntriesOf<T>(pairing, i, pairs);
    RotateApart(d, in + u * in_stride, in + v * in_stride, out + u * out_stride,
                out + v * out_stride, cos + at_cos, sin + at_sin);
  }
}

template <class T, class C>
void RotateHalf(size_t pairs, const T* in, T* out, const C* cos, const C* sin) {
  ForEachVector(hn::ScalableTag<C>(), 0, pairs, [&](auto d, size_t i) HWY_ATTR {
    RotateApart(d, in + i, in + pairs + i, out + i, out + pairs + i, cos + i, sin + i);
  });
}

template <class T, class C>
void RotateInterleaved(size_t pairs, const T* in, T* out, const C* cos, const C* sin) {
  ForEachVector(hn::ScalableTag<C>(), 0, 2 * pairs, [&](auto d, size_t i) HWY_ATTR {
    RotateAdjacent(d, in + i, out + i, cos + i, sin + i);
  });
}

#if HWY_TARGET != HWY_SCALAR
inline void RotateHalf(size_t pairs, const Bf16* in, Bf16* out, const float* cos,
                       const float* sin) {
  const size_t couples = pairs / 2, second = (pairs + 1) / 2;
  ForEachVector(hn::ScalableTag<float>(), 0, couples, [&](auto d, size_t i) HWY_ATTR {
    RotateCouplesApart(d, in + 2 * i, in + pairs + 2 * i, out + 2 * i, out + pairs + 2 * i, cos + i,
                       sin + i, cos + second + i, sin + second + i);
  });
  RotateOneByOne(Pairing::half, 2 * couples, pairs, in, 1, out, 1, cos, sin);
}

inline void RotateInterleaved(size_t pairs, const Bf16* in, Bf16* out, const float* cos,
                              const float* sin) {
  ForEachVector(hn::ScalableTag<float>(), 0, pairs, [&](auto d, size_t i) HWY_ATTR {
    RotateCouples(d, in + 2 * i, out + 2 * i, cos + i, sin + i);
  });
}
#endif

template <class T, class C>
void RotateAll(Pairing pairing, size_t pairs, int64_t heads, const Heads<const void>& x,
               const Heads<void>& out, const C* cos, const C* sin) {
  const T* in = static_cast<const T*>(x.data);
  T* to = static_cast<T*>(out.data);
  const bool contiguous = x.channel_stride == 1 && out.channel_stride == 1;
  for (int64_t head = 0; head < heads; ++head, in += x.head_stride, to += out.head_stride) {
    if (!contiguous || HWY_TARGET == HWY_SCALAR) {
      RotateOneByOne(pairing, 0, pairs, in, x.channel_stride, to, out.channel_stride, cos, sin);
    } else if (pairing == Pairing::half) {
      RotateHalf(pairs, in, to, cos, sin);
    } else {
      RotateInterleaved(pairs, in, to, cos, sin);
    }
  }
}

void RotateHeads(Dtype io, Pairing pairing, int64_t pairs, int64_t heads,
                 const Heads<const void>& x, const Heads<void>& out, const void* cos,
                 const void* sin) {
  WithElement(io, [&]<class T>(T*) HWY_ATTR {
    using C = typename ComputeOf<T>::Type;
    RotateAll<T>(pairing, static_cast<size_t>(pairs), heads, x, out, static_cast<const C*>(cos),
                 static_cast<const C*>(sin));
  });
}

// Cosines and sines of pairs i.. to their places in a row. Io is what the row is for.
template <class Io, class D>
HWY_INLINE void PlaceEntries(D d, size_t i, size_t pairs, Pairing pairing, hn::VFromD<D> c,
                             hn::VFromD<D> s, hn::TFromD<D>* cos, hn::TFromD<D>* sin) {
  if constexpr (std::is_same_v<Io, Bf16>) {
    const auto nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
    c = hn::IfThenElse(hn::IsNaN(c), nan, c);
    s = hn::IfThenElse(hn::IsNaN(s), nan, s);
    if (pairing == Pairing::half) {
      // More than one lane begin at an even pair; the last pair may stand alone.
      const size_t second = (pairs + 1) / 2;
#if HWY_TARGET != HWY_SCALAR
      if constexpr (hn::MaxLanes(D()) > 1) {
        const hn::Half<D> half;
        hn::StoreU(hn::LowerHalf(half, hn::ConcatEven(d, c, c)), half, cos + i / 2);
        hn::StoreU(hn::LowerHalf(half, hn::ConcatEven(d, s, s)), half, sin + i / 2);
        hn::StoreU(hn::LowerHalf(half, hn::ConcatOdd(d, c, c)), half, cos + second + i / 2);
        hn::StoreU(hn::LowerHalf(half, hn::ConcatOdd(d, s, s)), half, sin + second + i / 2);
        return;
      }
#endif
      const size_t entry = i / 2 + (i % 2 == 0 ? 0 : second);
      hn::StoreU(c, d, cos + entry);
      hn::StoreU(s, d, sin + entry);
      return;
    }
  } else if (pairing == Pairing::interleaved) {
    hn::StoreInterleaved2(c, c, d, cos + 2 * i);
    hn::StoreInterleaved2(hn::Neg(s), s, d, sin + 2 * i);
    return;
  }
  hn::StoreU(c, d, cos + i);
  hn::StoreU(s, d, sin + i);
}

template <class Io, class T, class C>
void Spread(const TableRow& row, size_t pairs, Pairing pairing, bool backward, C* cos, C* sin) {
  const T* from_cos = static_cast<const T*>(row.cos);
  const T* from_sin = static_cast<const T*>(row.sin);
  const C sign = backward ? C{-1} : C{1};
  const auto place = [&](auto d, size_t i, const T* c_in, const T* s_in) HWY_ATTR {
    const auto s = hn::Mul(LoadAs(d, s_in), hn::Set(d, sign));
    PlaceEntries<Io>(d, i, pairs, pairing, LoadAs(d, c_in), s, cos, sin);
  };
  if (row.cos_stride == 1 && row.sin_stride == 1) {
    ForEachVector(hn::ScalableTag<C>(), 0, pairs,
                  [&](auto d, size_t i) HWY_ATTR { place(d, i, from_cos + i, from_sin + i); });
    return;
  }
  for (size_t i = 0; i < pairs; ++i) {
    const auto index = static_cast<int64_t>(i);
    place(hn::CappedTag<C, 1>(), i, from_cos + index * row.cos_stride,
          from_sin + index * row.sin_stride);
  }
}

void SpreadRow(const TableRow& row, int64_t pairs, Pairing pairing, bool backward, Dtype io,
               void* cos, void* sin) {
  const auto count = static_cast<size_t>(pairs);
  WithElement(io, [&]<class Io>(Io*) HWY_ATTR {
    using C = typename ComputeOf<Io>::Type;
    WithElement(row.dtype, [&]<class T>(T*) HWY_ATTR {
      // Never wider, and no 16-bit tables for f64.
      if constexpr (sizeof(T) <= sizeof(C) && (sizeof(C) == sizeof(float) || sizeof(T) == 8)) {
        Spread<Io, T>(row, count, pairing, backward, static_cast<C*>(cos), static_cast<C*>(sin));
      }
    });
  });
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
