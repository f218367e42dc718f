#include <sleef.h>

#include "peers.h"

#if defined(__AVX512F__)
typedef __m512 Floats;
typedef __m512d Doubles;
enum { kFloats = 16, kDoubles = 8 };
static Floats SetF(float x) { return _mm512_set1_ps(x); }
static Doubles SetD(double x) { return _mm512_set1_pd(x); }
static Floats LoadF(const float* p) { return _mm512_loadu_ps(p); }
static Doubles LoadD(const double* p) { return _mm512_loadu_pd(p); }
static void StoreF(float* p, Floats v) { _mm512_storeu_ps(p, v); }
static void StoreD(double* p, Doubles v) { _mm512_storeu_pd(p, v); }
static Sleef___m512_2 SinCosF10(Floats x) { return Sleef_sincosf16_u10avx512f(x); }
static Sleef___m512_2 SinCosF35(Floats x) { return Sleef_sincosf16_u35avx512f(x); }
static Sleef___m512d_2 SinCosD10(Doubles x) { return Sleef_sincosd8_u10avx512f(x); }
#elif defined(__AVX2__)
typedef __m256 Floats;
typedef __m256d Doubles;
enum { kFloats = 8, kDoubles = 4 };
static Floats SetF(float x) { return _mm256_set1_ps(x); }
static Doubles SetD(double x) { return _mm256_set1_pd(x); }
static Floats LoadF(const float* p) { return _mm256_loadu_ps(p); }
static Doubles LoadD(const double* p) { return _mm256_loadu_pd(p); }
static void StoreF(float* p, Floats v) { _mm256_storeu_ps(p, v); }
static void StoreD(double* p, Doubles v) { _mm256_storeu_pd(p, v); }
static Sleef___m256_2 SinCosF10(Floats x) { return Sleef_sincosf8_u10avx2(x); }
static Sleef___m256_2 SinCosF35(Floats x) { return Sleef_sincosf8_u35avx2(x); }
static Sleef___m256d_2 SinCosD10(Doubles x) { return Sleef_sincosd4_u10avx2(x); }
#else
typedef float Floats;
typedef double Doubles;
enum { kFloats = 1, kDoubles = 1 };
static Floats SetF(float x) { return x; }
static Doubles SetD(double x) { return x; }
static Floats LoadF(const float* p) { return *p; }
static Doubles LoadD(const double* p) { return *p; }
static void StoreF(float* p, Floats v) { *p = v; }
static void StoreD(double* p, Doubles v) { *p = v; }
static Sleef_float_2 SinCosF10(Floats x) { return Sleef_sincosf_u10(x); }
static Sleef_float_2 SinCosF35(Floats x) { return Sleef_sincosf_u35(x); }
static Sleef_double_2 SinCosD10(Doubles x) { return Sleef_sincos_u10(x); }
#endif

void posgauge_sleef_row_f32_u10(float position, const float* frequency, float* cos, float* sin,
                                size_t pairs) {
  for (size_t i = 0; i < pairs; i += kFloats) {
    const __auto_type both = SinCosF10(SetF(position) * LoadF(frequency + i));
    StoreF(sin + i, both.x);
    StoreF(cos + i, both.y);
  }
}

void posgauge_sleef_row_f32_u35(float position, const float* frequency, float* cos, float* sin,
                                size_t pairs) {
  for (size_t i = 0; i < pairs; i += kFloats) {
    const __auto_type both = SinCosF35(SetF(position) * LoadF(frequency + i));
    StoreF(sin + i, both.x);
    StoreF(cos + i, both.y);
  }
}

void posgauge_sleef_row_f64_u10(double position, const double* frequency, double* cos, double* sin,
                                size_t pairs) {
  for (size_t i = 0; i < pairs; i += kDoubles) {
    const __auto_type both = SinCosD10(SetD(position) * LoadD(frequency + i));
    StoreD(sin + i, both.x);
    StoreD(cos + i, both.y);
  }
}
