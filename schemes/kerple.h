#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::kerple {

/// Bias of distance D: `log` -r1 ln(1 + r2 D), `power` -r1 D^r2.
enum class Kernel { log, power };

}  // namespace posgauge::kerple

namespace posgauge {
template <>
inline constexpr auto kVariantNames<kerple::Kernel> =
    std::array<std::string_view, 2>{"log", "power"};
}  // namespace posgauge

namespace posgauge::kerple {

/// Kernelised relative positions: conditionally positive definite kernels of the distance |i - j|,
/// with learned parameters a head. Chi et al. 2022, arXiv:2205.09921, eqs. 4 and 5; `weighted` also
/// multiplies scaled <q, k> by exp(-w1 D^w2) (its 3-parameter form).
struct Params {
  static constexpr std::string_view kName = "kerple";
  static constexpr std::string_view kSummary = "kernels of the distance, learned a head";
  static constexpr std::string_view kEquation = "bias = -r1 ln(1 + r2 |i - j|), or -r1 |i - j|^r2";
  static constexpr std::string_view kSource = "Chi et al. 2022, arXiv:2205.09921, eqs. 4-5";

  Attention attention;
  Kernel kernel = Kernel::log;
  bool weighted = false;

  void Validate() const { attention.Validate(); }

  std::vector<Weight> Weights() const {
    constexpr double kAboveZero = 0x1p-1022;
    const std::vector<int64_t> shape = {attention.heads};
    std::vector<Weight> weights = {
        {"r1", shape, "factor of the bias, above 0", kAboveZero},
        {"r2", shape, "rate of log, exponent of power", kAboveZero,
         kernel == Kernel::power ? 2 : std::numeric_limits<double>::max()}};
    if (weighted) {
      weights.push_back({"w1", shape, "rate of the weight, above 0", kAboveZero});
      weights.push_back({"w2", shape, "exponent of the weight", kAboveZero, 2});
    }
    return weights;
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("kernel", self.kernel, "log or power of the distance");
    visit("weighted", self.weighted, "also multiply <q, k> by a decaying weight");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::kerple
