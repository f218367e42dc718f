// Compiled for this machine alone, hence static dispatch.
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "peers.h"

namespace hn = hwy::HWY_NAMESPACE;

void posgauge_highway_row_f64(double position, const double* frequency, double* cos, double* sin,
                              size_t pairs) {
  const hn::ScalableTag<double> d;
  for (size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    const auto angle = hn::Mul(hn::Set(d, position), hn::LoadU(d, frequency + i));
    hn::StoreU(hn::Cos(d, angle), d, cos + i);
    hn::StoreU(hn::Sin(d, angle), d, sin + i);
  }
}
