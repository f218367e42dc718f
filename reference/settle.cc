#include "posgauge/reference/settle.h"

namespace posgauge {

Collector::Collector(Dtype dtype, int64_t count) : format_(FormatOf(dtype)) {
  Require(IsFloat(dtype), "values are rounded to a floating dtype, got {}", Name(dtype));
  const auto size = static_cast<size_t>(count);
  values_.dtype = dtype;
  values_.values.resize(size);
  values_.proofs.resize(size);
  if (with_distance(dtype)) values_.distances.resize(size);
}

void Collector::Set(int64_t index, const Decided& decided, int bits) {
  const auto at = static_cast<size_t>(index);
  values_.values[at] = decided.value;
  values_.proofs[at] = decided.proof;
  if (!values_.distances.empty()) values_.distances[at] = decided.distance;
  // The bits actually needed, kept as a running maximum over threads.
  int seen = max_bits_.load(std::memory_order_relaxed);
  while (bits > seen && !max_bits_.compare_exchange_weak(seen, bits)) {
  }
}

RoundedValues Collector::Take() {
  for (Proof proof : values_.proofs) values_.counts.Add(proof, 0);
  values_.counts.max_bits = max_bits_.load();
  return std::move(values_);
}

}  // namespace posgauge
