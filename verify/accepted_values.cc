#include "posgauge/verify/accepted_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

namespace posgauge {

namespace {

uint64_t SignOf(Dtype dtype) { return uint64_t{1} << (8 * SizeOf(dtype) - 1); }

// The last of the numbers from `inside`, which is accepted, towards `end`; what is accepted is an
// interval.
template <class Accepts>
int64_t LastAccepted(int64_t inside, int64_t end, Accepts accepts) {
  if (inside == end || accepts(end)) return end;
  int64_t outside = end;
  for (;;) {
    const int64_t middle = std::midpoint(inside, outside);
    if (middle == inside || middle == outside) return inside;
    (accepts(middle) ? inside : outside) = middle;
  }
}

Tensor* Find(std::vector<Named>& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &Named::name);
  return found == tensors.end() ? nullptr : &found->tensor;
}

}  // namespace

int64_t OrderOf(Dtype dtype, uint64_t bits) {
  if (!IsFloat(dtype)) {
    const size_t unused = 64 - 8 * SizeOf(dtype);
    return dtype == Dtype::u8 ? static_cast<int64_t>(bits)
                              : static_cast<int64_t>(bits << unused) >> unused;
  }
  const uint64_t sign = SignOf(dtype);
  return (bits & sign) != 0 ? -1 - static_cast<int64_t>(bits ^ sign) : static_cast<int64_t>(bits);
}

uint64_t BitsAt(Dtype dtype, int64_t order) {
  if (!IsFloat(dtype)) {
    const size_t unused = 64 - 8 * SizeOf(dtype);
    return static_cast<uint64_t>(order) << unused >> unused;
  }
  return order < 0 ? static_cast<uint64_t>(-1 - order) | SignOf(dtype)
                   : static_cast<uint64_t>(order);
}

std::optional<std::vector<AcceptedValue>> AcceptedValues(const JudgedCase& judged, bool by_budget,
                                                         double budget, size_t most) {
  std::vector<Named> answer = judged.Exact();
  const auto holds = [&] {
    const CallFindings findings = judged.Judge(answer, budget);
    return (by_budget ? findings.budget : findings.contract).use.over() == 0;
  };
  const bool in_two = Find(answer, "frequency_low") != nullptr;
  if (judged.subject().info().Declares("rowshift") || !holds()) return std::nullopt;
  std::vector<AcceptedValue> accepted;
  for (size_t output = 0; output < answer.size(); ++output) {
    if (in_two && answer[output].name.starts_with("frequency")) continue;
    Tensor& tensor = answer[output].tensor;
    const Dtype dtype = tensor.dtype();
    for (size_t i = 0; i < std::min(most, tensor.size()); ++i) {
      const uint64_t exact = tensor.Bits(i);
      const int64_t order = OrderOf(dtype, exact);
      AcceptedValue value{output, i, exact, order, order};
      const auto accepts = [&](int64_t other) {
        tensor.SetBits(i, BitsAt(dtype, other));
        return holds();
      };
      if (IsFloat(dtype)) {
        const Format format = FormatOf(dtype);
        const double last =
            format.infinities ? std::numeric_limits<double>::infinity() : Largest(format);
        value.lowest = LastAccepted(order, OrderOf(dtype, Encode(dtype, -last)), accepts);
        value.highest = LastAccepted(order, OrderOf(dtype, Encode(dtype, last)), accepts);
      }
      tensor.SetBits(i, exact);
      accepted.push_back(value);
    }
  }
  return accepted;
}

std::vector<AcceptedSum> AcceptedSums(const JudgedCase& judged) {
  std::vector<Named> answer = judged.Exact();
  Tensor* low = Find(answer, "frequency_low");
  if (low == nullptr) return {};
  const Tensor& high = *Find(answer, "frequency");
  std::vector<AcceptedSum> sums;
  for (size_t i = 0; i < low->size(); ++i) {
    AcceptedSum sum{high.Value(i), low->Value(i), 0};
    const auto accepts = [&](int64_t order) {
      const double off = Decode(Dtype::f64, static_cast<uint64_t>(order));
      bool holds = true;
      for (const double side : {off, -off}) {
        low->Set(i, sum.low + side);
        holds = holds && judged.Judge(answer, 0).contract.use.over() == 0;
      }
      return holds;
    };
    // Non-negative numbers are in the order of their bits.
    const auto end = static_cast<int64_t>(Encode(Dtype::f64, std::fabs(sum.high)));
    sum.allowed = Decode(Dtype::f64, static_cast<uint64_t>(LastAccepted(0, end, accepts)));
    low->Set(i, sum.low);
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace posgauge
