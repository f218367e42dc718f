#include "posgauge/verify/identify/identity.h"

#include <algorithm>
#include <cmath>

#include "posgauge/verify/identify/schedule_fit.h"

namespace posgauge {

std::optional<Dtype> HeldDtype(const SeenFrequencies& seen) {
  for (Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::f32}) {
    const Format format = FormatOf(dtype);
    size_t telling = 0;
    bool fits = true;
    for (size_t i = 0; i < seen.values.size(); ++i) {
      const double value = seen.values[i], error = seen.errors[i] + std::fabs(value) * 0x1p-52;
      fits = fits && std::fabs(RoundTo(format, value) - value) <= error;
      if (value != 0 && error < Ulp(format, value) / 16) ++telling;
    }
    if (!fits) continue;
    if (telling < std::min<size_t>(6, std::max<size_t>(2, seen.values.size() / 2))) {
      return std::nullopt;
    }
    return dtype;
  }
  return Dtype::f64;
}

std::vector<double> RoundoffsOf(const SeenFrequencies& seen) {
  std::vector<double> roundoffs = {0};
  const std::optional<Dtype> held = HeldDtype(seen);
  if (held != Dtype::f64) roundoffs.push_back(0x1p-21);
  if (held && *held != Dtype::f64 && *held != Dtype::f32) {
    roundoffs.push_back(std::ldexp(8.0, -FormatOf(*held).digits));
  }
  return roundoffs;
}

Identity IdentifyRotation(const Answers& answers) {
  SeenRotation seen = SeeRotation(answers);
  Identity identity{.source = answers.source, .quantity = answers.quantity};
  if (!seen.why_not.empty()) {
    identity.why_not = seen.why_not;
    return identity;
  }
  const SeenFrequencies& frequencies = seen.frequencies;
  const Rotary& layout = seen.layout;
  const auto fact = [&](std::string name, std::string value) {
    identity.facts.emplace_back(std::move(name), std::move(value));
  };
  if (seen.pairing_known) fact("pairing", std::string(VariantName(layout.pairing)));
  fact("rotary_dim", std::to_string(layout.rotary_dim));
  if (answers.quantity.starts_with("rotate")) {
    fact("rotary_offset", std::to_string(layout.rotary_offset));
  }
  fact("direction", std::string(VariantName(layout.direction)));
  fact("magnitude",
       fmt::format("{:.9g} +- {:.1g}", frequencies.magnitude, frequencies.magnitude_error));
  std::vector<std::string>& open = identity.undetermined;
  if (!seen.pairing_known) open.push_back("pairing: this does not show which channels pair");
  if (!seen.width_known) {
    open.push_back(answers.quantity.starts_with("rotate")
                       ? "rotary_dim: channels beyond the last that turns may be pairs too slow to "
                         "see, or of none"
                       : "head_dim, rotary_offset: a table says nothing of them");
  }
  for (size_t i = 0; i < frequencies.values.size(); ++i) {
    if (std::fabs(frequencies.values[i]) > frequencies.errors[i]) continue;
    if (frequencies.errors[i] == 0) continue;
    open.push_back(
        fmt::format("pairs from {} on: frequencies below {:.2g}, not determined from "
                    "positions up to {:.17g}",
                    i, frequencies.errors[i], frequencies.largest));
    break;
  }
  if (frequencies.modulus > 0) {
    open.push_back(fmt::format("frequencies beyond {:.9g}: known modulo {:.9g} radians per token",
                               frequencies.modulus / 2, frequencies.modulus));
  }
  const auto handed = [&](std::string_view stage) {
    return std::ranges::find(answers.handed_over, stage) != answers.handed_over.end();
  };
  if (handed("frequency") || handed("table")) {
    open.push_back("schedule: the kernel is handed its " + answers.handed_over.back() +
                   "; what follows is what it was handed");
  }
  identity.schemes = FitSchedules(layout, frequencies, RoundoffsOf(frequencies));
  if (identity.schemes.empty()) {
    identity.why_not = "the frequencies and the magnitude are those of no scheme";
    return identity;
  }
  identity.contract = ContractOf(answers, seen, identity.schemes.front(), &open);
  return identity;
}

Identity Identify(const Answers& answers) {
  const std::string& quantity = answers.quantity;
  if (quantity == "rows") return IdentifyWaves(answers);
  if (quantity == "slopes") return IdentifySlopes(answers);
  if (quantity == "buckets") return IdentifyBuckets(answers);
  if (quantity == "bias") {
    Identity identity = IdentifySlopes(answers);
    return identity.schemes.empty() ? IdentifyBuckets(answers) : identity;
  }
  return IdentifyRotation(answers);
}

}  // namespace posgauge
