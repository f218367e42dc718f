#pragma once

#include <functional>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law.h"
#include "posgauge/properties/unwrapped_frequency.h"

namespace posgauge {

// What the schemes' laws of frequencies share.

/// The quantities that show frequencies.
inline constexpr std::string_view kShowFrequencies = "frequencies rotate rotate_backward table";

/// base^(-2i/rotary_dim), radians per token, [pairs], from the proven reference.
std::vector<double> FrequenciesOfPlainRope(const Rotary& layout);

/// Frequencies as the kernel has them beside those of plain RoPE.
struct MeasuredSchedule {
  std::vector<FrequencyInterval> measured;  // [pairs]
  std::vector<double> plain;                // [pairs]
};
MeasuredSchedule MeasureSchedule(const Subject& subject, const LawCase& law_case);

/// How a frequency must stand to a limit.
enum class Relation { equal, at_most, at_least };

/// Holds one measured frequency to a limit: by how much it breaks the relation over how exactly it
/// is known. The limit may be off by 2^-47 relatively: a few roundings and a power whose rounded
/// exponent, at most 1, stands over a scale of at most 1e12.
void AddFrequency(Comparisons& comparisons, const Subject& subject, int64_t pair,
                  const FrequencyInterval& measured, Relation relation, double limit);

/// Every pair against limit(pair, plain frequency).
Verdict HoldFrequencies(const Subject& subject, const LawCase& law_case, Relation relation,
                        const std::function<double(int64_t, double)>& limit);

/// The ratio of the measured frequency to the plain one must not rise with the pair index by more
/// than `step(pair)` allows it to fall or rise: |rho_i - rho_(i+1)| <= step.
Verdict HoldRatioSteps(const Subject& subject, const LawCase& law_case,
                       const std::function<double(int64_t)>& step);

/// rho_i >= rho_(i+1): the ratio to plain does not rise from the fast pairs to the slow.
Verdict HoldRatioNonIncreasing(const Subject& subject, const LawCase& law_case);

/// Each pair is strictly slower than the one before it.
Verdict HoldStrictlyDecreasing(const Subject& subject, const LawCase& law_case);

/// Throws Unsupported unless the kernel exports its magnitude.
void RequireMagnitude(const Subject& subject);

/// Holds the magnitude that a kernel exports to what it must be.
void AddMagnitude(Comparisons& comparisons, const Subject& subject, DoubleDouble want);

/// The kernel bound to the same scheme with other parameters. Throws Unsupported if it does not
/// serve them.
Subject Rebind(const Subject& subject, const Scheme& scheme);

}  // namespace posgauge
