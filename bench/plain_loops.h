#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rotation of one token's heads, half pairing, as one writes it without thinking of speed: the
 * compiler may vectorise and fuse as it likes. cos, sin [pairs]; x, out [heads, 2 pairs]. */
void posgauge_plain_rotate_f32(const float* x, float* out, const float* cos, const float* sin,
                               size_t heads, size_t pairs);
void posgauge_plain_rotate_bf16(const uint16_t* x, uint16_t* out, const float* cos,
                                const float* sin, size_t heads, size_t pairs);
/* Returns 0 where the compiler has no _Float16. */
int posgauge_plain_rotate_f16(const uint16_t* x, uint16_t* out, const float* cos, const float* sin,
                              size_t heads, size_t pairs);

/* Reads and writes every value in place: what memory allows a kernel that works in place. */
void posgauge_plain_scale_f32(float* x, size_t count);

/* A row of a table with the C library: f32 angle, as most frameworks form it, or double. */
void posgauge_plain_table_f32(float position, const float* frequency, float* cos, float* sin,
                              size_t pairs);
void posgauge_plain_table_f64(double position, const double* frequency, float* cos, float* sin,
                              size_t pairs);

#ifdef __cplusplus
}
#endif
