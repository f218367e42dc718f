#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/dtype.h"

namespace posgauge {

/// A rule by which tests of kernels usually decide. Where `nmse` is 0, of each value:
/// |got - want| <= absolute + relative |want|; otherwise of all values together:
/// sum (got - want)^2 / sum got^2 <= nmse.
struct Custom {
  std::string_view name;
  double relative = 0, absolute = 0, nmse = 0;
};

/// The rules that are in use for a dtype: the defaults of torch.testing.assert_close, where there
/// are any, those of well-known kernels' tests, and that of ggml's test-backend-ops.
std::vector<Custom> CustomsOf(Dtype dtype);

/// What one of them says.
struct CustomFinding {
  Custom custom;
  uint64_t count = 0, over = 0;      // values seen, and those that break the rule one by one
  std::optional<double> fails_from;  // smallest |position| such that a test up to there fails
  bool passes = true;                // with everything seen
};

/// What the usual rules say of results that are known exactly: a comparison, never a verdict. They
/// see `want`, the exact value rounded to nearest even in the dtype, as a test with a perfect
/// reference would, and are evaluated in binary64. A NaN breaks every rule; so does an infinity
/// that is not the same in both.
class CustomsCollector {
 public:
  explicit CustomsCollector(Dtype dtype);

  /// The values of one position, of the dtype, beside the exact ones. Positions come by growing
  /// size. Throws ParameterError where the two are not as many.
  void Add(double position, std::span<const double> got, std::span<const DoubleDouble> exact);

  /// In the order of CustomsOf.
  const std::vector<CustomFinding>& findings() const { return findings_; }

 private:
  Format format_;
  std::vector<CustomFinding> findings_;
  double errors_ = 0, sizes_ = 0;  // sums of squares
  bool broken_ = false;            // by a number that is not finite
};

/// `value` rounded to nearest even in the format. Exact values below 2^-1022 are taken as their
/// high part.
double RoundTo(Format format, DoubleDouble value);

}  // namespace posgauge
