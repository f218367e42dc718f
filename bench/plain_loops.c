#define _GNU_SOURCE
#include "plain_loops.h"

#include <math.h>
#include <string.h>

void posgauge_plain_rotate_f32(const float* x, float* out, const float* cos, const float* sin,
                               size_t heads, size_t pairs) {
  for (size_t head = 0; head < heads; ++head, x += 2 * pairs, out += 2 * pairs) {
    for (size_t i = 0; i < pairs; ++i) {
      const float u = x[i], v = x[pairs + i];
      out[i] = u * cos[i] - v * sin[i];
      out[pairs + i] = v * cos[i] + u * sin[i];
    }
  }
}

static float WidenBf16(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static uint16_t NarrowBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return (uint16_t)(value != value ? (bits >> 16) | 0x40 : rounded);
}

void posgauge_plain_rotate_bf16(const uint16_t* x, uint16_t* out, const float* cos,
                                const float* sin, size_t heads, size_t pairs) {
  for (size_t head = 0; head < heads; ++head, x += 2 * pairs, out += 2 * pairs) {
    for (size_t i = 0; i < pairs; ++i) {
      const float u = WidenBf16(x[i]), v = WidenBf16(x[pairs + i]);
      out[i] = NarrowBf16(u * cos[i] - v * sin[i]);
      out[pairs + i] = NarrowBf16(v * cos[i] + u * sin[i]);
    }
  }
}

int posgauge_plain_rotate_f16(const uint16_t* x, uint16_t* out, const float* cos, const float* sin,
                              size_t heads, size_t pairs) {
#ifdef __FLT16_MAX__
  const _Float16* in = (const _Float16*)(const void*)x;
  _Float16* to = (_Float16*)(void*)out;
  for (size_t head = 0; head < heads; ++head, in += 2 * pairs, to += 2 * pairs) {
    for (size_t i = 0; i < pairs; ++i) {
      const float u = (float)in[i], v = (float)in[pairs + i];
      to[i] = (_Float16)(u * cos[i] - v * sin[i]);
      to[pairs + i] = (_Float16)(v * cos[i] + u * sin[i]);
    }
  }
  return 1;
#else
  (void)x, (void)out, (void)cos, (void)sin, (void)heads, (void)pairs;
  return 0;
#endif
}

void posgauge_plain_scale_f32(float* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] *= -1.0f;
}

void posgauge_plain_table_f32(float position, const float* frequency, float* cos, float* sin,
                              size_t pairs) {
  for (size_t i = 0; i < pairs; ++i) sincosf(position * frequency[i], sin + i, cos + i);
}

void posgauge_plain_table_f64(double position, const double* frequency, float* cos, float* sin,
                              size_t pairs) {
  for (size_t i = 0; i < pairs; ++i) {
    double c, s;
    sincos(position * frequency[i], &s, &c);
    cos[i] = (float)c;
    sin[i] = (float)s;
  }
}
