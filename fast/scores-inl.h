// Rows of biases and scores, and their softmax. Included by simd.cc once a target, hence no guard.
// T is float, or double for f64; u = 2^-24 or 2^-53.
//
// ScaleRow     one product an element, x rounded to T first: u |result| each.
// ScoreRow     scale <q, k> + bias, or scale <q, k> factor + bias. q and k enter exactly, products
//              and sums of the dot product are those of T, fused or not, in as many partial sums as
//              there are lanes: with n channels at most n u sum |q k| (Higham 2002, sec. 4.2); then
//              a product, perhaps another, and a sum.
// Exponentials Highway's Exp, within an ulp where it is normal by its documentation, of a
//              difference rounded once; a NaN stays one. trig=2ulp.
// DotRows, DotPairs  as the dot products of ScoreRow.
// FactoredPairDots  two products and their sum, a product and a sum: fused or not, in as many
//              partial sums as there are lanes, (n + 3) u sum |f| (|x r| + |x' r'|) of n pairs.
// Sigmoids     1 / (1 + e) or e / (1 + e): e within an ulp, which moves either by less than an ulp
//              of it; then a sum and a quotient. trig=2ulp.
// WeightedSum  sums of products in key order, fused or not: n u sum |w v|; a row that is added to v
//              is added first, u |v + a|.
//
// The sums depend on the number of lanes, so the last bits of a score differ between targets; not
// with alignment or with what else is in the call.

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

template <class T>
void ScaleRowOf(const double* x, T factor, bool absolute, size_t count, T* out) {
  ForEachVector(hn::ScalableTag<double>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
    const hn::Rebind<T, decltype(d)> dt;
    const auto wide = hn::LoadU(d, x + i);
    const auto value = FromDouble(dt, absolute ? hn::Abs(wide) : wide);
    hn::StoreU(hn::Mul(value, hn::Set(dt, factor)), dt, out + i);
  });
}

void ScaleRowF32(const double* x, float factor, bool absolute, size_t count, float* out) {
  ScaleRowOf(x, factor, absolute, count, out);
}
void ScaleRowF64(const double* x, double factor, bool absolute, size_t count, double* out) {
  ScaleRowOf(x, factor, absolute, count, out);
}

void Store(Dtype io, const void* from, size_t count, void* to) {
  WithElement(io, [&]<class E>(E*) HWY_ATTR {
    using T = typename ComputeOf<E>::Type;
    const auto* values = static_cast<const T*>(from);
    auto* out = static_cast<E*>(to);
    ForEachVector(hn::ScalableTag<T>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
      StoreAs(d, hn::LoadU(d, values + i), out + i);
    });
  });
}

void Load(Dtype io, const void* from, size_t count, void* to) {
  WithElement(io, [&]<class E>(E*) HWY_ATTR {
    using T = typename ComputeOf<E>::Type;
    const auto* values = static_cast<const E*>(from);
    auto* out = static_cast<T*>(to);
    ForEachVector(hn::ScalableTag<T>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
      hn::StoreU(LoadAs(d, values + i), d, out + i);
    });
  });
}

// Streaming stores from the first aligned vector on.
void CopyBytes(const void* from, size_t count, bool stream, void* to) {
  const hn::ScalableTag<uint8_t> d;
  const auto* in = static_cast<const uint8_t*>(from);
  auto* out = static_cast<uint8_t*>(to);
  const size_t lanes = hn::Lanes(d);
  if (!stream || count < 4 * lanes) {
    std::memcpy(out, in, count);
    return;
  }
  const size_t head = (lanes - reinterpret_cast<uintptr_t>(out) % lanes) % lanes;
  std::memcpy(out, in, head);
  size_t i = head;
  for (; i + lanes <= count; i += lanes) hn::Stream(hn::LoadU(d, in + i), d, out + i);
  std::memcpy(out + i, in + i, count - i);
}

void FlushStream() { hwy::FlushStream(); }

// <q, k> of four keys at once, each in one vector of partial sums and, of channels that do not fill
// a vector, a sum of their own.
template <class D, class E, size_t kKeys>
HWY_INLINE void Dots(D d, const hn::TFromD<D>* q, const std::array<const E*, kKeys>& k,
                     size_t channels, std::array<hn::TFromD<D>, kKeys>& dots) {
  const size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d), sum2 = hn::Zero(d), sum3 = hn::Zero(d);
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    const auto of_query = LoadAs(d, q + c);
    sum0 = hn::MulAdd(of_query, LoadAs(d, k[0] + c), sum0);
    if constexpr (kKeys == 4) {
      sum1 = hn::MulAdd(of_query, LoadAs(d, k[1] + c), sum1);
      sum2 = hn::MulAdd(of_query, LoadAs(d, k[2] + c), sum2);
      sum3 = hn::MulAdd(of_query, LoadAs(d, k[3] + c), sum3);
    }
  }
  dots[0] = hn::GetLane(hn::SumOfLanes(d, sum0));
  if constexpr (kKeys == 4) {
    dots[1] = hn::GetLane(hn::SumOfLanes(d, sum1));
    dots[2] = hn::GetLane(hn::SumOfLanes(d, sum2));
    dots[3] = hn::GetLane(hn::SumOfLanes(d, sum3));
  }
  const hn::CappedTag<hn::TFromD<D>, 1> one;
  for (; c < channels; ++c) {
    const auto of_query = LoadAs(one, q + c);
    for (size_t key = 0; key < kKeys; ++key) {
      const auto product = hn::Mul(of_query, LoadAs(one, k[key] + c));
      dots[key] += hn::GetLane(product);
    }
  }
}

// <x, row(i)> for i < count, given to use(i, product).
template <class T, class E, class Row, class Use>
HWY_INLINE void ForEachDot(const T* x, const Row& row, size_t channels, size_t count,
                           const Use& use) {
  const hn::ScalableTag<T> d;
  size_t i = 0;
  std::array<T, 4> four;
  for (; i + 4 <= count; i += 4) {
    Dots<decltype(d), E, 4>(d, x, {row(i), row(i + 1), row(i + 2), row(i + 3)}, channels, four);
    for (size_t n = 0; n < 4; ++n) use(i + n, four[n]);
  }
  std::array<T, 1> single;
  for (; i < count; ++i) {
    Dots<decltype(d), E, 1>(d, x, {row(i)}, channels, single);
    use(i, single[0]);
  }
}

void ScoreRow(Dtype io, const void* q, const void* k, int64_t key_stride, size_t channels,
              size_t keys, double scale, const void* factors, const void* bias, void* out) {
  WithElement(io, [&]<class E>(E*) HWY_ATTR {
    using T = typename ComputeOf<E>::Type;
    const auto* first = static_cast<const E*>(k);
    const auto* times = static_cast<const T*>(factors);
    const auto* added = static_cast<const T*>(bias);
    auto* to = static_cast<T*>(out);
    const auto factor = static_cast<T>(scale);
    const auto score = [&](T dot, size_t j) HWY_ATTR {
      const T scaled = factor * dot;
      return (times == nullptr ? scaled : scaled * times[j]) + added[j];
    };
    ForEachDot<T, E>(
        static_cast<const T*>(q),
        [&](size_t key) { return first + static_cast<int64_t>(key) * key_stride; }, channels, keys,
        [&](size_t key, T dot) { to[key] = score(dot, key); });
  });
}

void DotRowsF32(const float* x, const float* const* rows, size_t channels, size_t count,
                float* out) {
  ForEachDot<float, float>(
      x, [&](size_t i) { return rows[i]; }, channels, count,
      [&](size_t i, float dot) { out[i] = dot; });
}
void DotRowsF64(const double* x, const double* const* rows, size_t channels, size_t count,
                double* out) {
  ForEachDot<double, double>(
      x, [&](size_t i) { return rows[i]; }, channels, count,
      [&](size_t i, double dot) { out[i] = dot; });
}

template <class T>
void DotPairsOf(const T* const* x, const T* const* y, size_t channels, size_t count, T* out) {
  const hn::ScalableTag<T> d;
  std::array<T, 1> single;
  for (size_t i = 0; i < count; ++i) {
    Dots<decltype(d), T, 1>(d, x[i], {y[i]}, channels, single);
    out[i] = single[0];
  }
}

void DotPairsF32(const float* const* x, const float* const* y, size_t channels, size_t count,
                 float* out) {
  DotPairsOf(x, y, channels, count, out);
}
void DotPairsF64(const double* const* x, const double* const* y, size_t channels, size_t count,
                 double* out) {
  DotPairsOf(x, y, channels, count, out);
}

template <class T>
void FactoredPairDotsOf(const T* x, const T* const* rows, const T* const* factors, size_t pairs,
                        size_t count, T* out) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t j = 0; j < count; ++j) {
    const T* const row = rows[j];
    const T* const factor = factors[j];
    const auto of_pairs = [&](auto tag, size_t i) HWY_ATTR {
      const auto first = hn::Mul(hn::LoadU(tag, x + i), hn::LoadU(tag, row + i));
      return hn::MulAdd(hn::LoadU(tag, x + pairs + i), hn::LoadU(tag, row + pairs + i), first);
    };
    auto sums = hn::Zero(d);
    size_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      sums = hn::MulAdd(hn::LoadU(d, factor + i), of_pairs(d, i), sums);
    }
    T sum = hn::GetLane(hn::SumOfLanes(d, sums));
    const hn::CappedTag<T, 1> one;
    for (; i < pairs; ++i) sum += factor[i] * hn::GetLane(of_pairs(one, i));
    out[j] = sum;
  }
}

void FactoredPairDotsF32(const float* x, const float* const* rows, const float* const* factors,
                         size_t pairs, size_t count, float* out) {
  FactoredPairDotsOf(x, rows, factors, pairs, count, out);
}
void FactoredPairDotsF64(const double* x, const double* const* rows, const double* const* factors,
                         size_t pairs, size_t count, double* out) {
  FactoredPairDotsOf(x, rows, factors, pairs, count, out);
}

// Highway's is 0 of a NaN.
template <class D, class V>
HWY_INLINE V ExpOrNan(D d, V x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

// With e = exp(-|x|), which does not overflow.
template <class T>
void SigmoidsOf(T* x, size_t count) {
  ForEachVector(hn::ScalableTag<T>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
    const auto value = hn::LoadU(d, x + i);
    const auto one = hn::Set(d, T{1});
    const auto power = ExpOrNan(d, hn::Neg(hn::Abs(value)));
    const auto upper = hn::IfThenElse(hn::Lt(value, hn::Zero(d)), power, one);
    hn::StoreU(hn::Div(upper, hn::Add(one, power)), d, x + i);
  });
}

void SigmoidsF32(float* x, size_t count) { SigmoidsOf(x, count); }
void SigmoidsF64(double* x, size_t count) { SigmoidsOf(x, count); }

template <class T>
T ExponentialsOf(T* scores, size_t count, T highest) {
  const hn::ScalableTag<T> d;
  auto total = hn::Zero(d);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto power = ExpOrNan(d, hn::Sub(hn::LoadU(d, scores + i), hn::Set(d, highest)));
    hn::StoreU(power, d, scores + i);
    total = hn::Add(total, power);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, total));
  for (; i < count; ++i) {
    const hn::CappedTag<T, 1> one;
    const auto power = ExpOrNan(one, hn::Sub(hn::LoadU(one, scores + i), hn::Set(one, highest)));
    scores[i] = hn::GetLane(power);
    sum += scores[i];
  }
  return sum;
}

float ExponentialsF32(float* scores, size_t count, float highest) {
  return ExponentialsOf(scores, count, highest);
}
double ExponentialsF64(double* scores, size_t count, double highest) {
  return ExponentialsOf(scores, count, highest);
}

void WeightedSum(Dtype io, const void* const* rows, const void* const* added, const void* weights,
                 size_t count, size_t channels, void* out) {
  WithElement(io, [&]<class E>(E*) HWY_ATTR {
    using T = typename ComputeOf<E>::Type;
    const auto* factors = static_cast<const T*>(weights);
    auto* to = static_cast<T*>(out);
    ForEachVector(hn::ScalableTag<T>(), 0, channels, [&](auto d, size_t c) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (size_t i = 0; i < count; ++i) {
        auto value = LoadAs(d, static_cast<const E*>(rows[i]) + c);
        if (added != nullptr) {
          value = hn::Add(value, hn::LoadU(d, static_cast<const T*>(added[i]) + c));
        }
        sum = hn::MulAdd(hn::Set(d, factors[i]), value, sum);
      }
      hn::StoreU(sum, d, to + c);
    });
  });
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
