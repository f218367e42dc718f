#include "posgauge/verify/ragged_batch.h"

#include <cmath>
#include <cstring>
#include <map>

#include "posgauge/verify/kernel_call.h"

namespace posgauge {

namespace {

// Of a sequence that has no token; a kernel that counts it in is off by it.
constexpr double kOffsetOfEmpty = 7;

void AddEmpty(RaggedBatch& batch) {
  batch.boundaries.push_back(batch.boundaries.empty() ? 0 : batch.boundaries.back());
  batch.offsets.push_back(kOffsetOfEmpty);
}

RaggedBatch BeginWithEmpty() {
  RaggedBatch batch;
  batch.boundaries = {0};
  AddEmpty(batch);
  return batch;
}

size_t RowBytes(const Tensor& tensor) {
  size_t bytes = SizeOf(tensor.dtype());
  for (size_t axis = 1; axis < tensor.shape().size(); ++axis) {
    bytes *= static_cast<size_t>(tensor.shape()[axis]);
  }
  return bytes;
}

Tensor WithRows(const Tensor& like, size_t rows) {
  std::vector<int64_t> shape = like.shape();
  shape[0] = static_cast<int64_t>(rows);
  return Tensor(like.dtype(), shape);
}

}  // namespace

Tensor RaggedBatch::Scatter(const Tensor& x) const {
  Tensor all = WithRows(x, positions.size());
  const size_t bytes = RowBytes(x);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(all.bytes().data() + rows[i] * bytes, x.bytes().data() + i * bytes, bytes);
  }
  return all;
}

Tensor RaggedBatch::Gather(const Tensor& out) const {
  Tensor asked = WithRows(out, rows.size());
  const size_t bytes = RowBytes(out);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(asked.bytes().data() + i * bytes, out.bytes().data() + rows[i] * bytes, bytes);
  }
  return asked;
}

RaggedBatch RunsAsSequences(Positions positions) {
  RaggedBatch batch = BeginWithEmpty();
  batch.positions = {positions.begin(), positions.end()};
  for (size_t token = 0; token < positions.size(); ++token) {
    batch.rows.push_back(token);
    if (token + 1 < positions.size() && positions[token + 1] == positions[token] + 1) continue;
    const auto begin = static_cast<size_t>(batch.boundaries.back());
    batch.boundaries.push_back(static_cast<double>(token + 1));
    batch.offsets.push_back(positions[begin]);
    constexpr size_t kEmptyEvery = 4;
    if (batch.offsets.size() % kEmptyEvery == 0) AddEmpty(batch);
  }
  AddEmpty(batch);
  return batch;
}

RaggedBatch SequencesFromZero(Positions positions) {
  constexpr double kShort = 256;
  using Asked = std::map<double, size_t>;  // by position, its place among those asked for
  std::vector<Asked> sequences(3);         // short, a single token, long, more
  constexpr size_t kSingle = 1, kLong = 2;
  for (size_t i = 0; i < positions.size(); ++i) {
    const double position = positions[i];
    if (position != std::trunc(position) || position < 0 || position >= kLongestSequence) {
      throw Unsupported(
          fmt::format("sequences begin at position 0 and have at most {:g} tokens, "
                      "which leaves out position {}",
                      kLongestSequence, position));
    }
    if (i % 2 == 1 && position < kShort && sequences[0].emplace(position, i).second) continue;
    for (size_t at = kLong; !sequences[at].emplace(position, i).second; ++at) {
      if (at + 1 == sequences.size()) sequences.emplace_back();
    }
  }
  RaggedBatch batch = BeginWithEmpty();
  batch.rows.resize(positions.size());
  for (size_t at = 0; at < sequences.size(); ++at) {
    const Asked& asked = sequences[at];
    const double length = asked.empty() ? (at == kSingle ? 1 : 0) : asked.rbegin()->first + 1;
    const double begin = batch.boundaries.back();
    for (const auto& [position, index] : asked) {
      batch.rows[index] = static_cast<size_t>(begin + position);
    }
    for (double position = 0; position < length; ++position) batch.positions.push_back(position);
    batch.boundaries.push_back(begin + length);
    batch.offsets.push_back(0);
  }
  AddEmpty(batch);
  return batch;
}

}  // namespace posgauge
