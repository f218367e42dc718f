#include "posgauge/properties/grouped_heads.h"

#include <set>

#include "posgauge/properties/attention_laws.h"

namespace posgauge {

namespace {

// [keys, heads, width] of which every group's heads hold its first head's, and that alone.
struct Grouped {
  ExactTensor repeated, alone;
};

Grouped Group(const ExactTensor& each, int64_t size) {
  const int64_t keys = each.shape[0], heads = each.shape[1], width = each.shape[2];
  Grouped grouped{each, {{keys, heads / size, width}, {}}};
  for (int64_t key = 0; key < keys; ++key) {
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t channel = 0; channel < width; ++channel) {
        const double value = each.At(key, head / size * size, channel);
        const int64_t place = (key * heads + head) * width + channel;
        grouped.repeated.values[static_cast<size_t>(place)] = value;
        if (head % size == 0) grouped.alone.values.push_back(value);
      }
    }
  }
  return grouped;
}

int64_t SmallestDivisor(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return divisor;
  }
  return number;
}

// Both results are within the contract of one number.
Verdict CheckGroupedHeads(const Subject& subject, const LawCase& c) {
  if (!subject.info().Declares("grouped")) throw Unsupported("it does not declare grouped");
  const int64_t heads = AttentionOf(subject.scheme()).heads;
  if (heads == 1) throw Unsupported("there is one head only");
  Comparisons comparisons;
  for (const int64_t size : std::set<int64_t>{SmallestDivisor(heads), heads}) {
    NamedInputs repeated = InputsOf(subject, c), alone = repeated;
    for (const char* name : {"k", "v"}) {
      const ExactTensor* each = repeated.Find(name);
      if (each == nullptr) continue;
      Grouped grouped = Group(*each, size);
      repeated.tensors[name] = std::move(grouped.repeated);
      alone.tensors[name] = std::move(grouped.alone);
    }
    const EquationAnswer want(subject, repeated);
    EquationAnswer got = want;
    got.out = subject.Evaluate(alone);
    CompareAll(comparisons, got, want);
  }
  return comparisons.Take();
}

}  // namespace

Law GroupedHeadsLaw() {
  return {"grouped_heads", "fewer heads of k and v give what each repeated for its group gives",
          "scores attention", false, CheckGroupedHeads};
}

}  // namespace posgauge
