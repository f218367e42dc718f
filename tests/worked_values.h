#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "decimal_text.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge {

using Settings = std::vector<std::string>;

/// Two lists of settings as one.
inline Settings operator+(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

/// A real number as it was printed elsewhere, of which the enclosure shows every digit and binary64
/// the rounding (glibc's strtod rounds a decimal of any length correctly).
inline void ExpectPrinted(const std::string& printed, DoubleDouble enclosed, double rounded) {
  EXPECT_EQ(DigitsLike(printed, enclosed), DigitsOf(printed)) << printed;
  EXPECT_EQ(rounded, std::strtod(printed.c_str(), nullptr)) << printed;
}

struct PrintedFrequency {
  size_t pair;
  std::string printed;  // radians per token, truncated
};

inline void ExpectFrequencies(std::string_view name, const Settings& settings,
                              const std::vector<PrintedFrequency>& printed) {
  SCOPED_TRACE(fmt::format("{} {}", name, fmt::join(settings, " ")));
  const ExactRotation exact(ParseScheme(name, settings));
  const EnclosedValues enclosed = exact.EncloseFrequencies();
  const RoundedValues rounded = exact.Frequencies(Dtype::f64);
  EXPECT_EQ(rounded.counts.undecided, 0);
  for (const auto& [pair, digits] : printed) {
    ExpectPrinted(digits, enclosed.values.at(pair), rounded.values.at(pair));
  }
}

inline void ExpectMagnitude(std::string_view name, const Settings& settings,
                            const std::string& printed) {
  SCOPED_TRACE(fmt::format("{} {}", name, fmt::join(settings, " ")));
  const ExactRotation exact(ParseScheme(name, settings));
  ExpectPrinted(printed, exact.EncloseMagnitude().values.at(0),
                exact.Magnitude(Dtype::f64).values.at(0));
}

/// The frequencies of two schemes, bit for bit.
inline void ExpectSameFrequencies(const Scheme& scheme, const Scheme& other) {
  EXPECT_EQ(ExactRotation(scheme).Frequencies(Dtype::f64).values,
            ExactRotation(other).Frequencies(Dtype::f64).values)
      << Text(scheme) << "\n"
      << Text(other);
}

/// The message of a refusal, or what was accepted instead.
inline std::string RefusalOf(std::string_view name, const Settings& settings) {
  try {
    return "accepted as " + Text(ParseScheme(name, settings));
  } catch (const ParameterError& error) {
    return error.what();
  }
}

}  // namespace posgauge
