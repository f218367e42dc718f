#include <sleef.h>

#include <cstddef>

#include "peers.h"

namespace {

// The widest vectors that the machine has, as SLEEF names their functions.
#if defined(__AVX512F__)
using Floats = __m512;
using Doubles = __m512d;
Floats Spread(float x) { return _mm512_set1_ps(x); }
Doubles Spread(double x) { return _mm512_set1_pd(x); }
Floats Load(const float* p) { return _mm512_loadu_ps(p); }
Doubles Load(const double* p) { return _mm512_loadu_pd(p); }
void Store(float* p, Floats v) { _mm512_storeu_ps(p, v); }
void Store(double* p, Doubles v) { _mm512_storeu_pd(p, v); }
constexpr auto kSinCosF32U10 = Sleef_sincosf16_u10avx512f;
constexpr auto kSinCosF32U35 = Sleef_sincosf16_u35avx512f;
constexpr auto kSinCosF64U10 = Sleef_sincosd8_u10avx512f;
#elif defined(__AVX2__)
using Floats = __m256;
using Doubles = __m256d;
Floats Spread(float x) { return _mm256_set1_ps(x); }
Doubles Spread(double x) { return _mm256_set1_pd(x); }
Floats Load(const float* p) { return _mm256_loadu_ps(p); }
Doubles Load(const double* p) { return _mm256_loadu_pd(p); }
void Store(float* p, Floats v) { _mm256_storeu_ps(p, v); }
void Store(double* p, Doubles v) { _mm256_storeu_pd(p, v); }
constexpr auto kSinCosF32U10 = Sleef_sincosf8_u10avx2;
constexpr auto kSinCosF32U35 = Sleef_sincosf8_u35avx2;
constexpr auto kSinCosF64U10 = Sleef_sincosd4_u10avx2;
#else
using Floats = float;
using Doubles = double;
Floats Spread(float x) { return x; }
Doubles Spread(double x) { return x; }
Floats Load(const float* p) { return *p; }
Doubles Load(const double* p) { return *p; }
void Store(float* p, Floats v) { *p = v; }
void Store(double* p, Doubles v) { *p = v; }
constexpr auto kSinCosF32U10 = Sleef_sincosf_u10;
constexpr auto kSinCosF32U35 = Sleef_sincosf_u35;
constexpr auto kSinCosF64U10 = Sleef_sincos_u10;
#endif

template <class Vector, class Number, class SinCos>
void Row(SinCos sin_cos, Number position, const Number* frequency, Number* cos, Number* sin,
         size_t pairs) {
  for (size_t i = 0; i < pairs; i += sizeof(Vector) / sizeof(Number)) {
    const auto both = sin_cos(Spread(position) * Load(frequency + i));
    Store(sin + i, both.x);
    Store(cos + i, both.y);
  }
}

}  // namespace

void posgauge_sleef_row_f32_u10(float position, const float* frequency, float* cos, float* sin,
                                size_t pairs) {
  Row<Floats>(kSinCosF32U10, position, frequency, cos, sin, pairs);
}

void posgauge_sleef_row_f32_u35(float position, const float* frequency, float* cos, float* sin,
                                size_t pairs) {
  Row<Floats>(kSinCosF32U35, position, frequency, cos, sin, pairs);
}

void posgauge_sleef_row_f64_u10(double position, const double* frequency, double* cos, double* sin,
                                size_t pairs) {
  Row<Doubles>(kSinCosF64U10, position, frequency, cos, sin, pairs);
}
