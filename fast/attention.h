#pragma once

#include "posgauge/fast/bias.h"
#include "posgauge/schemes/base/dtype.h"

namespace posgauge::fast {

// Kernels of schemes that act in attention, made from what bias.h asks of those that add a bias and
// scoring.h of the others. They check all that they are given before they write; throw
// ParameterError on a call that they do not serve.

/// The quantity `slopes`, rounded once from double-double.
void ComputeSlopes(const Call& call, Dtype dtype);

/// The quantity `buckets`, exact.
void ComputeBuckets(const Call& call);

/// The quantity `bias`. Rows that go by distance or key are made once a head and copied, so that it
/// runs at the speed of memory. Error: that of the scheme's rows, then one rounding to io.
void ComputeBias(const Call& call, Dtype io);

/// The quantity `scores`: scale dot + bias, or what the scheme makes of dot, in f32 (f64 for f64),
/// keys in blocks; one row at a time. Error: see scores-inl.h.
void ComputeScores(const Call& call, Dtype io);

/// The quantity `attention`: scores, their exponentials and the weighted sum of the values, a query
/// at a time, nothing of [queries, keys] being kept. Error: see scores-inl.h.
void ComputeAttention(const Call& call, Dtype io);

}  // namespace posgauge::fast
