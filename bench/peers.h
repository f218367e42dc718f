#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a table by other libraries' sines: out = cos, sin (position * frequency[i]), the product
 * rounded as written. The widest vectors that the machine has. */
void posgauge_sleef_row_f32_u10(float position, const float* frequency, float* cos, float* sin,
                                size_t pairs);
void posgauge_sleef_row_f32_u35(float position, const float* frequency, float* cos, float* sin,
                                size_t pairs);
void posgauge_sleef_row_f64_u10(double position, const double* frequency, double* cos, double* sin,
                                size_t pairs);
/* Highway's contrib Sin and Cos of doubles. */
void posgauge_highway_row_f64(double position, const double* frequency, double* cos, double* sin,
                              size_t pairs);

#ifdef __cplusplus
}
#endif
