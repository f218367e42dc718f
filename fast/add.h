#pragma once

#include "posgauge/fast/call.h"
#include "posgauge/schemes/base/dtype.h"

namespace posgauge::fast {

// Kernels of added rows: those of sinusoidal, which take positions [tokens] and the frequencies,
// and those that fast/rows.h asks a scheme for. They check all that they are given before anything
// is written; throw ParameterError on a call that they do not serve.

/// The quantity `table`: rows [tokens, width] of a dtype. Error: that of table-inl.h, an entry of a
/// row being one of a table.
void ComputeRows(const Call& call, Dtype dtype);

/// The quantity `embed`: out = x + row, [tokens, width] of dtype io, out being x or apart from it.
/// Error: see rows-inl.h.
void Embed(const Call& call, Dtype io);

}  // namespace posgauge::fast
