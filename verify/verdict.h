#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/fields.h"
#include "posgauge/verify/statistics.h"

namespace posgauge {

/// What a check concluded. `unsupported` and `blind` are never passes: the first was not executed,
/// the second could hardly have failed (bound above a tenth of the pair norm for most values).
enum class Outcome { pass, fail, unsupported, blind };
template <>
inline constexpr auto kVariantNames<Outcome> =
    std::array<std::string_view, 4>{"PASS", "FAIL", "unsupported", "blind"};

/// One place where a check failed, in words: where, what came out, what should have.
struct Witness {
  double position = 0;  // tokens; the first in position order
  std::string where;    // "head 0, channel 3 (pair 3, wavelength 11.6 tokens)"
  std::string got, want;
  double use = 0;          // error / bound
  bool positioned = true;  // false where no position is meant: a frequency
};

struct Verdict {
  std::string check;    // "absolute", "relative_invariance"
  std::string claim;    // one sentence: what holds if it passes
  std::string subject;  // "fast.rotate.bf16"
  Outcome outcome = Outcome::pass;
  std::string note;  // why unsupported; what is not covered
  Statistics use;    // error / bound over all values
  std::optional<Witness> first_failure, worst;
  std::string repro;  // identifier for `posgauge repro`
};

}  // namespace posgauge
