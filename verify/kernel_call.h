#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/placed_tensor.h"
#include "posgauge/verify/tensor.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// The kernel said that it does not offer this call.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The kernel failed at what it offers.
class KernelFailure : public std::runtime_error {
 public:
  explicit KernelFailure(const std::string& what, Failure failure = Failure::answered)
      : std::runtime_error(what), failure_(failure) {}
  Failure failure() const { return failure_; }

 private:
  Failure failure_;
};

/// A tensor of a call by its name in posgauge/kernel.h.
struct Named {
  std::string name;
  Tensor tensor;
};

/// Every byte 0xFF: a NaN in every floating dtype, so that what a kernel leaves unwritten shows.
Tensor Poisoned(Dtype dtype, std::vector<int64_t> shape);

/// Where x and out lie: each compact in memory of its own; the first output in the memory of x;
/// each with gaps between its rows and beginning off any boundary; or each as k is among q, k and v
/// that are packed, [tokens, 3, heads, head_dim], of as many heads.
enum class Placement { apart, in_place, spread, packed };

/// How a tensor of a call lies; of x and out alone the placement says so.
Spacing SpacingOf(std::string_view tensor, Placement placement);

/// One call through the C interface. Every tensor lies between guard zones. Throws Unsupported, and
/// KernelFailure, also for a kernel that writes outside its tensors or to an input.
void CallKernel(const KernelInfo& info, const Scheme& scheme, const std::vector<Named>& inputs,
                std::vector<Named>& outputs, Placement placement = Placement::apart);

/// Text from a library, fit for any report: whatever is not printable ASCII becomes a '?'.
std::string Printable(std::string text);

}  // namespace posgauge
