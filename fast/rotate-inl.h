// Rotating heads by a row of a table. Included by simd.cc once a target, hence no guard.
//
// Contract  rotate=f32:fma store=<io>:rne for f32, bf16 and f16, rotate=f64:fma store=f64:rne for
// f64;
//           without fma on targets that have none. No flushing.
//
// Method    u' = fma(u, c, -(v s)), v' = fma(v, c, u s) in both pairings, so that they agree bit
// for
//           bit. Entries of a table in 16 bits are widened exactly.
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

template <class T, class C>
void RotateHalf(size_t pairs, const T* in, T* out, const C* cos, const C* sin) {
  ForEachVector(hn::ScalableTag<C>(), 0, pairs, [&](auto d, size_t i) HWY_ATTR {
    RotateApart(d, in + i, in + pairs + i, out + i, out + pairs + i, cos + i, sin + i);
  });
}

template <class T, class C>
void RotateStrided(Pairing pairing, size_t pairs, const T* in, int64_t in_stride, T* out,
                   int64_t out_stride, const C* cos, const C* sin) {
  const hn::CappedTag<C, 1> d;
  const auto count = static_cast<int64_t>(pairs);
  for (int64_t i = 0; i < count; ++i) {
    const bool half = pairing == Pairing::half;
    const int64_t u = half ? i : 2 * i, v = half ? i + count : 2 * i + 1;
    RotateApart(d, in + u * in_stride, in + v * in_stride, out + u * out_stride,
                out + v * out_stride, cos + u, sin + (half ? u : v));
  }
}

// Rotates pairs of a head, whole vectors and their halves down to one pair.
template <class T, class C>
void RotateInterleaved(size_t pairs, const T* in, T* out, const C* cos, const C* sin) {
#if HWY_TARGET == HWY_SCALAR
  RotateStrided(Pairing::interleaved, pairs, in, 1, out, 1, cos, sin);
#else
  ForEachVector(hn::ScalableTag<C>(), 0, 2 * pairs, [&](auto d, size_t i) HWY_ATTR {
    RotateAdjacent(d, in + i, out + i, cos + i, sin + i);
  });
#endif
}

template <class T, class C>
void RotateAll(Pairing pairing, size_t pairs, int64_t heads, const Heads<const void>& x,
               const Heads<void>& out, const C* cos, const C* sin) {
  const T* in = static_cast<const T*>(x.data);
  T* to = static_cast<T*>(out.data);
  const bool contiguous = x.channel_stride == 1 && out.channel_stride == 1;
  for (int64_t head = 0; head < heads; ++head, in += x.head_stride, to += out.head_stride) {
    if (!contiguous) {
      RotateStrided(pairing, pairs, in, x.channel_stride, to, out.channel_stride, cos, sin);
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

// One row, spread for RotateHeads.
template <class T, class C>
void Spread(const TableRow& row, size_t pairs, Pairing pairing, bool backward, C* cos, C* sin) {
  const T* from_cos = static_cast<const T*>(row.cos);
  const T* from_sin = static_cast<const T*>(row.sin);
  const C sign = backward ? C{-1} : C{1};
  const auto at = [&](auto d, size_t i, const T* c_in, const T* s_in) HWY_ATTR {
    const auto c = LoadAs(d, c_in), s = hn::Mul(LoadAs(d, s_in), hn::Set(d, sign));
    if (pairing == Pairing::half) {
      hn::StoreU(c, d, cos + i);
      hn::StoreU(s, d, sin + i);
    } else {
      hn::StoreInterleaved2(c, c, d, cos + 2 * i);
      hn::StoreInterleaved2(hn::Neg(s), s, d, sin + 2 * i);
    }
  };
  if (row.cos_stride == 1 && row.sin_stride == 1) {
    ForEachVector(hn::ScalableTag<C>(), 0, pairs,
                  [&](auto d, size_t i) HWY_ATTR { at(d, i, from_cos + i, from_sin + i); });
    return;
  }
  for (size_t i = 0; i < pairs; ++i) {
    const auto index = static_cast<int64_t>(i);
    at(hn::CappedTag<C, 1>(), i, from_cos + index * row.cos_stride,
       from_sin + index * row.sin_stride);
  }
}

void SpreadRow(const TableRow& row, int64_t pairs, Pairing pairing, bool backward, Dtype io,
               void* cos, void* sin) {
  const auto count = static_cast<size_t>(pairs);
  if (io == Dtype::f64) {
    Spread<double>(row, count, pairing, backward, static_cast<double*>(cos),
                   static_cast<double*>(sin));
    return;
  }
  WithElement(row.dtype, [&]<class T>(T*) HWY_ATTR {
    if constexpr (sizeof(T) <= sizeof(float)) {
      Spread<T>(row, count, pairing, backward, static_cast<float*>(cos), static_cast<float*>(sin));
    }
  });
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
