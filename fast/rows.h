#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "posgauge/schemes/base/dtype.h"

namespace posgauge::fast {

/// Contiguous channels of a row that is added; no data: zeros.
struct RowPiece {
  const void* data = nullptr;
  Dtype dtype = Dtype::f64;  // of the embeddings, or what they are computed in
  size_t channels = 0;
};

/// A row is made of one piece, or of two.
using Row = std::array<RowPiece, 2>;

/// The row of a token by its number in the call, valid until the next one is asked for.
using RowMaker = std::function<Row(int64_t token)>;

// A scheme of rows that are no waves gives, in fast/<scheme>.h and its namespace,
//
//   fast::RowMaker FastRows(const Params&, const fast::Call&, const std::vector<double>& positions,
//                           Dtype io, Dtype made);
//
// of positions that the scheme has rows for: `io` is the dtype of its learned tensors, and `made`
// the one of rows that it makes itself, io or ComputeDtype(io). And the contract of such a row,
//
//   std::string RowContract(const Params&, Dtype made);
//
// without rotate, store and flush. All else is made from those (fast/add.h).

}  // namespace posgauge::fast
