#include "posgauge/cli/dialect_error.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge::cli {

namespace {

// Radians a token of text, [pairs]: a fourth axis of positions is 0 there.
std::vector<double> TextFrequencies(const Scheme& scheme) {
  std::vector<double> frequencies = ExactRotation(scheme).Frequencies(Dtype::f64).values;
  const auto* params = std::get_if<mrope::Params>(&scheme);
  if (params == nullptr || params->order != mrope::Order::interleaved_ggml) return frequencies;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    if (params->AxisOf(static_cast<int64_t>(i)) == 3) frequencies[i] = 0;
  }
  return frequencies;
}

std::optional<int64_t> FirstOtherBucket(const Scheme& scheme, const Scheme& reading) {
  const auto own = ExactEquations(scheme).ReadyMade("thresholds", Dtype::f64);
  const auto other = ExactEquations(reading).ReadyMade("thresholds", Dtype::f64);
  if (!own || !other) return std::nullopt;
  for (size_t i = 0; i < std::min(own->values.size(), other->values.size()); ++i) {
    if (own->values[i] == other->values[i]) continue;
    return static_cast<int64_t>(std::min(own->values[i], other->values[i]));
  }
  return std::nullopt;
}

}  // namespace

bool DialectErrors::AreNone() const {
  const bool same = std::ranges::all_of(
      at, [](const DialectError& error) { return error.angle == 0 && error.norm == 0; });
  return same && logits == 1 && !first_other_bucket;
}

DialectErrors ErrorsOf(const Scheme& scheme, const Scheme& reading,
                       const std::vector<int64_t>& positions) {
  Validate(reading);
  DialectErrors errors;
  if (!IsRotary(scheme)) {
    errors.first_other_bucket = FirstOtherBucket(scheme, reading);
    return errors;
  }
  const std::vector<double> own = TextFrequencies(scheme), other = TextFrequencies(reading);
  const ExactRotation own_rotation(scheme), other_rotation(reading);
  const auto ratio = [&](RoundedValues (ExactRotation::*value)(Dtype) const) {
    return (other_rotation.*value)(Dtype::f64).values[0] /
           (own_rotation.*value)(Dtype::f64).values[0];
  };
  errors.logits = ratio(&ExactRotation::SoftmaxMultiplier);
  const double norm = std::fabs(ratio(&ExactRotation::Magnitude) - 1);
  int64_t worst = 0;
  double difference = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    const double off = std::fabs(own[i] - other[i]);
    if (off > difference) {
      difference = off;
      worst = static_cast<int64_t>(i);
    }
  }
  for (const int64_t position : positions) {
    errors.at.push_back({position, static_cast<double>(position) * difference, worst, norm});
  }
  return errors;
}

std::vector<int64_t> TellingPositions(const Scheme& scheme, int64_t count) {
  const int64_t last = std::max(count - 1, int64_t{1});
  std::set<int64_t> positions = {1, 128, last};
  std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (requires { params.original_length; }) {
          positions.insert(params.original_length);
        }
        if constexpr (requires { params.trained_length; }) {
          positions.insert(params.trained_length.value_or(last));
        }
      },
      scheme);
  positions.erase(positions.upper_bound(last), positions.end());
  return {positions.begin(), positions.end()};
}

}  // namespace posgauge::cli
