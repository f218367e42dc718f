#pragma once

#include "posgauge/fast/bias.h"
#include "posgauge/schemes/base/dtype.h"

namespace posgauge::fast {

// Kernels of schemes that add a bias to scores, made from what bias.h asks of each scheme. They
// check all that they are given before they write; throw ParameterError on a call that they do not
// serve.

/// The quantity `slopes`, rounded once from double-double.
void ComputeSlopes(const Call& call, Dtype dtype);

/// The quantity `buckets`, exact.
void ComputeBuckets(const Call& call);

/// The quantity `bias`. Rows that go by distance or key are made once a head and copied, so that it
/// runs at the speed of memory. Error: that of the scheme's rows, then one rounding to io.
void ComputeBias(const Call& call, Dtype io);

/// The quantity `scores`: scale dot + bias, in f32 (f64 for f64), keys in blocks; one bias row at a
/// time. Error: see scores-inl.h.
void ComputeScores(const Call& call, Dtype io);

/// The quantity `attention`: scores, their exponentials and the weighted sum of the values, a query
/// at a time, nothing of [queries, keys] being kept. Error: see scores-inl.h.
void ComputeAttention(const Call& call, Dtype io);

}  // namespace posgauge::fast
