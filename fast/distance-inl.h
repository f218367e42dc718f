// Functions of distances and the small network of biases. Included by simd.cc once a target, hence
// no guard. u = 2^-53.
//
// Log1pRow     ln(1 + rate |x|): the product within u, Highway's Log1p within 4 ulp (2 by its
//              documentation, which gives 4 to the Log it is made of). Rounded to f32 afterwards:
//              far below half an ulp of that more than the rounding.
// PowerRow     |x|^y = e^(y ln |x|), 0 at 0: with |x| < 2^33 and y <= 2 the exponent is below 46,
//              so that 4 ulp of the logarithm and the product's u move it by 46 9 u; Exp adds an
//              ulp. Below 2^-44 of the result: 2^-20 ulp of f32.
// CosineSums   cos (a + b) w = cos a w cos b w - sin a w sin b w. Each factor is within 2^-52
//              (table-inl.h), 2 units of 2^-53: the products move by 2 (|cos a| + |sin a| + |cos b|
//              + |sin b|) <= 4 sqrt 2 = 5.66 units. Their roundings and the difference's, fused or
//              not, add at most |cos a cos b| + |sin a sin b| + 1 <= 2. Below 8 units:
//              trig=8ulp:f64. Then the sum, in order.
// NetworkRow   w2 . relu(w1 x + b1) + b2, unit by unit, products fused with sums or not: within
// what
//              separate operations may be off. In f32 the sum of 32 terms would cost up to 3 ulp of
//              the largest, so it is of doubles there too.

HWY_BEFORE_NAMESPACE();
namespace posgauge::fast::HWY_NAMESPACE {

void Log1pRow(const double* x, double rate, size_t count, double* out) {
  ForEachVector(hn::ScalableTag<double>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
    const auto product = hn::Mul(hn::Set(d, rate), hn::Abs(hn::LoadU(d, x + i)));
    hn::StoreU(hn::CallLog1p(d, product), d, out + i);
  });
}

void PowerRow(const double* x, double exponent, size_t count, double* out) {
  ForEachVector(hn::ScalableTag<double>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
    const auto base = hn::Abs(hn::LoadU(d, x + i));
    const auto is_zero = hn::Eq(base, hn::Zero(d));
    // The logarithm of 1 in place of that of 0.
    const auto log = hn::CallLog(d, hn::IfThenElse(is_zero, hn::Set(d, 1.0), base));
    const auto power = hn::CallExp(d, hn::Mul(hn::Set(d, exponent), log));
    hn::StoreU(hn::IfThenZeroElse(is_zero, power), d, out + i);
  });
}

void CosineSums(const double* cos, const double* sin, const double* step_cos,
                const double* step_sin, size_t waves, double* sums) {
  ForEachVector(hn::ScalableTag<double>(), 0, kCosineSteps, [&](auto d, size_t i) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (size_t k = 0; k < waves; ++k) {
      const auto c = hn::LoadU(d, step_cos + k * kCosineSteps + i);
      const auto s = hn::LoadU(d, step_sin + k * kCosineSteps + i);
      const auto product = hn::Mul(hn::Set(d, cos[k]), c);
      sum = hn::Add(sum, hn::NegMulAdd(hn::Set(d, sin[k]), s, product));
    }
    hn::StoreU(sum, d, sums + i);
  });
}

template <class T>
void NetworkRowOf(const double* x, size_t count, const Network& network, T* out) {
  ForEachVector(hn::ScalableTag<double>(), 0, count, [&](auto d, size_t i) HWY_ATTR {
    const auto at = hn::LoadU(d, x + i);
    auto sum = hn::Zero(d);
    for (size_t unit = 0; unit < network.units; ++unit) {
      const auto hidden =
          hn::MulAdd(hn::Set(d, network.w1[unit]), at, hn::Set(d, network.b1[unit]));
      sum = hn::MulAdd(hn::Set(d, network.w2[unit]), hn::Max(hidden, hn::Zero(d)), sum);
    }
    const hn::Rebind<T, decltype(d)> dt;
    hn::StoreU(FromDouble(dt, hn::Add(sum, hn::Set(d, network.b2))), dt, out + i);
  });
}

void NetworkRowF32(const double* x, size_t count, const Network& network, float* out) {
  NetworkRowOf(x, count, network, out);
}
void NetworkRowF64(const double* x, size_t count, const Network& network, double* out) {
  NetworkRowOf(x, count, network, out);
}

}  // namespace posgauge::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
