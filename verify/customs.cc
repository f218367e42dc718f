#include "posgauge/verify/customs.h"

#include <bit>
#include <cmath>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

std::vector<Custom> CustomsOf(Dtype dtype) {
  std::vector<Custom> customs;
  // torch/testing/_comparison.py: default_tolerances.
  constexpr std::string_view kAssertClose = "torch.testing.assert_close";
  if (dtype == Dtype::f64) customs.push_back({kAssertClose, 1e-7, 1e-7});
  if (dtype == Dtype::f32) customs.push_back({kAssertClose, 1.3e-6, 1e-5});
  if (dtype == Dtype::bf16) customs.push_back({kAssertClose, 1.6e-2, 1e-5});
  if (dtype == Dtype::f16) customs.push_back({kAssertClose, 1e-3, 1e-5});
  customs.push_back({"absolute 1e-2", 0, 1e-2});
  // FlashInfer's and SGLang's tests of cached tables.
  customs.push_back({"rtol=1e-2 atol=1e-2", 1e-2, 1e-2});
  // Liger's test of bf16.
  if (dtype == Dtype::bf16) customs.push_back({"rtol=1e-5 atol=1e-1", 1e-5, 1e-1});
  // ggml's tests/test-backend-ops.cpp: max_nmse_err; it divides by the tested result's squares.
  customs.push_back({.name = "ggml NMSE 1e-7", .nmse = 1e-7});
  return customs;
}

// To odd first: of the two binary64 numbers about a sum that is none itself the one with an odd
// last bit, which is never half way between two numbers of a format with two digits fewer.
double RoundTo(Format format, DoubleDouble value) {
  double odd = value.high;
  const bool even = std::bit_cast<uint64_t>(odd) % 2 == 0;
  if (format.digits < 52 && value.low != 0 && even && std::isfinite(odd)) {
    odd = std::nextafter(odd, value.low > 0 ? HUGE_VAL : -HUGE_VAL);
  }
  return RoundTo(format, odd);
}

CustomsCollector::CustomsCollector(Dtype dtype) : format_(FormatOf(dtype)) {
  for (const Custom& custom : CustomsOf(dtype)) findings_.push_back({.custom = custom});
}

void CustomsCollector::Add(double position, std::span<const double> got,
                           std::span<const DoubleDouble> exact) {
  Require(got.size() == exact.size(), "{} values came out, {} are known exactly", got.size(),
          exact.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double want = RoundTo(format_, exact[i]);
    const bool equal = got[i] == want;  // infinities too
    const double error = equal ? 0 : std::fabs(got[i] - want);
    const bool finite = std::isfinite(error);
    broken_ = broken_ || !finite;
    if (finite && std::isfinite(want)) {
      errors_ += error * error;
      sizes_ += got[i] * got[i];
    }
    for (CustomFinding& finding : findings_) {
      const Custom& custom = finding.custom;
      ++finding.count;
      if (custom.nmse > 0) continue;
      const double allowed = custom.absolute + custom.relative * std::fabs(want);
      if (!finite || (!equal && !(error <= allowed))) ++finding.over;
    }
  }
  for (CustomFinding& finding : findings_) {
    const double nmse = finding.custom.nmse;
    finding.passes = nmse > 0 ? !broken_ && errors_ <= nmse * sizes_ : finding.over == 0;
    if (!finding.passes && !finding.fails_from) finding.fails_from = std::fabs(position);
  }
}

}  // namespace posgauge
