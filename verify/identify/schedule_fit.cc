#include "posgauge/verify/identify/schedule_fit.h"

#include <algorithm>
#include <cmath>

#include "posgauge/reference/all.h"

namespace posgauge {

namespace {

// The equations in doubles: some forty roundings and powers of exponents up to ln 2^100.
constexpr double kPlainError = 0x1p-43;
// A magnitude in doubles is a root or a quotient of logarithms.
constexpr double kPlainMagnitudeError = 0x1p-52;

// Frequencies above half a turn a step look slower, or backward. A series tells how much: each is
// at least what the two after it predict.
std::vector<double> Unaliased(std::vector<double> values, double modulus) {
  if (modulus == 0 || values.size() < 3) return values;
  for (size_t i = values.size() - 2; i-- > 0;) {
    if (!(values[i + 1] > 0 && values[i + 2] > 0)) continue;
    const double predicted = values[i + 1] * values[i + 1] / values[i + 2];
    if (predicted < modulus / 2 || predicted > 0x1p10 * modulus) continue;
    values[i] += std::max(0.0, std::round((predicted - values[i]) / modulus)) * modulus;
  }
  return values;
}

// Frequencies that do not show their dtype are off by more than 1/16 ulp of f32, 2^-28; the 2^-21
// of f32 arithmetic beside it takes log10 2^7 = 2.1 digits.
constexpr int kDigitsOfRoundoff = 3;

struct Plain {
  std::vector<double> frequency;
  double magnitude = 1;
};

Plain PlainOf(const Scheme& scheme) {
  return std::visit(
      [](const auto& params) -> Plain {
        using Params = std::decay_t<decltype(params)>;
        if constexpr (Rotates<Params> && !CountsAxes<Params>) {
          auto rotation = Exact<double>(params);
          return {std::move(rotation.frequency), rotation.magnitude};
        } else {
          return {};
        }
      },
      scheme);
}

}  // namespace

ScheduleFit::ScheduleFit(const Rotary& layout, const SeenFrequencies& seen, double roundoff)
    : layout_(layout), seen_(seen), roundoff_(roundoff) {
  if (layout.direction == Direction::clockwise) {
    for (double& value : seen_.values) value = -value;
  }
  const std::vector<double> values = Unaliased(seen_.values, seen_.modulus);
  for (size_t i = 0; i < values.size(); ++i) {
    const double relative = seen_.errors[i] / values[i] + roundoff + kPlainError;
    const bool known = values[i] > 0 && relative < 0.1;
    if (std::fabs(values[i]) > seen_.errors[i]) turning_ = i + 1;
    logs_.push_back(known ? std::log(values[i]) : 0);
    weights_.push_back(known ? 1 / relative : 0);
  }
}

bool ScheduleFit::IsPure() const { return std::fabs(seen_.magnitude - 1) <= seen_.magnitude_error; }

Rotary ScheduleFit::WithBase(double base) const {
  Rotary rotary = layout_;
  rotary.base = base;
  return rotary;
}

bool ScheduleFit::Fits(const Scheme& scheme) const {
  const Plain plain = PlainOf(scheme);
  if (plain.frequency.size() != seen_.values.size()) return false;
  for (size_t i = 0; i < plain.frequency.size(); ++i) {
    const double frequency = plain.frequency[i];
    const double off = std::fabs(Wrapped(frequency - seen_.values[i], seen_.modulus));
    if (!(off <= seen_.errors[i] + frequency * (roundoff_ + kPlainError))) return false;
  }
  return std::fabs(plain.magnitude - seen_.magnitude) <=
         seen_.magnitude_error + plain.magnitude * kPlainMagnitudeError;
}

void ScheduleFit::Add(const std::vector<double>& solution, const Make& make) {
  if (!std::ranges::all_of(solution, [](double value) { return std::isfinite(value); })) return;
  std::vector<double> rounded(solution.size());
  for (int digits = 1; digits <= 17; ++digits) {
    for (size_t i = 0; i < solution.size(); ++i) rounded[i] = RoundToDigits(solution[i], digits);
    try {
      const Scheme scheme = make(rounded);
      Validate(scheme);
      if (!Fits(scheme)) continue;
      const bool known = std::ranges::any_of(
          found_, [&](const Candidate& candidate) { return candidate.scheme == scheme; });
      if (!known) found_.push_back({scheme, digits});
      return;
    } catch (const ParameterError&) {
      // Rounded this far it is outside its domain.
    }
  }
}

std::vector<Scheme> ScheduleFit::Found() const {
  std::vector<Candidate> sorted = found_;
  std::ranges::stable_sort(sorted, {}, &Candidate::digits);
  std::vector<Scheme> schemes;
  for (const Candidate& candidate : sorted) schemes.push_back(candidate.scheme);
  return schemes;
}

int ScheduleFit::Digits() const {
  int least = 0;
  for (const Candidate& candidate : found_) {
    if (least == 0 || candidate.digits < least) least = candidate.digits;
  }
  return least;
}

std::vector<Scheme> FitSchedules(const Rotary& layout, const SeenFrequencies& seen,
                                 const std::vector<double>& roundoffs) {
  std::vector<Scheme> found, listed;
  int digits = 0;
  for (double roundoff : roundoffs) {
    ScheduleFit fit(layout, seen, roundoff);
    AddSeries(fit);
    AddRamps(fit);
    if (found = fit.Found(); !found.empty()) {
      // What has a name in this arithmetic is judged in no wider one.
      return found;
    }
  }
  // A list of factors can be anything: it counts where nothing else does.
  for (double roundoff : roundoffs) {
    ScheduleFit fit(layout, seen, roundoff);
    AddLists(fit);
    // A wider error takes digits of any list; more than those only of one that was written so.
    if (fit.Digits() == 0 || (digits > 0 && fit.Digits() + kDigitsOfRoundoff >= digits)) continue;
    digits = fit.Digits();
    listed = fit.Found();
  }
  if (listed.size() > 1) listed.resize(1);
  return listed;
}

}  // namespace posgauge
