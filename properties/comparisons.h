#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "posgauge/verify/kernel_call.h"
#include "posgauge/verify/subject.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// Errors held to bounds, collected into a verdict.
class Comparisons {
 public:
  /// `norm` is the size of what is compared: where the bound exceeds a tenth of it the comparison
  /// is blind; if all are, so is the verdict. An error below 0 is none; a NaN fails unless the
  /// bound is infinite. `describe` returns a Witness; it is called only for a failure or a new
  /// maximum.
  template <class Describe>
  void Add(double position, double error, double bound, double norm, Describe describe) {
    sighted_ = sighted_ || (norm > 0 && bound <= kBlindShare * norm);
    // A bound that is not finite (0 * infinity among them) allows anything.
    const double use = !(bound < HUGE_VAL) || error <= 0 ? 0 : error / bound;
    Record(position, use, describe);
  }

  /// Where the law demands the same bits or the same class of value.
  template <class Describe>
  void AddExact(double position, bool holds, Describe describe) {
    sighted_ = true;
    Record(position, holds ? 0 : HUGE_VAL, describe);
  }

  Verdict Take() { return Take({}); }
  /// The same; a verdict that does not fail carries the note.
  Verdict Take(std::string note);

 private:
  static constexpr double kBlindShare = 0.1;

  template <class Describe>
  void Record(double position, double use, Describe describe) {
    if (std::isnan(use)) use = HUGE_VAL;
    verdict_.use.Add(use, verdict_.use.count());
    const bool first =
        use > 1 && (!verdict_.first_failure ||
                    std::fabs(position) < std::fabs(verdict_.first_failure->position));
    const bool worst = !verdict_.worst || use > verdict_.worst->use;
    if (!first && !worst) return;
    Witness witness = describe();
    witness.position = position;
    witness.use = use;
    if (first) verdict_.first_failure = witness;
    if (worst) verdict_.worst = std::move(witness);
  }

  Verdict verdict_;
  bool sighted_ = false;  // some comparison was not blind
};

/// check(placement) for x and out as parts of packed rows, then with gaps between rows: the first
/// that does not pass. A way that the kernel does not offer is Unsupported when the other passes.
template <class Check>
Verdict CheckPlacements(Check check) {
  std::string refused;
  Verdict all;
  for (const auto& [placement, name] : {std::pair{Placement::packed, "packed rows"},
                                        std::pair{Placement::spread, "rows with gaps"}}) {
    try {
      Verdict verdict = check(placement);
      verdict.use.Merge(all.use);
      if (all.worst && (!verdict.worst || all.worst->use > verdict.worst->use))
        verdict.worst = all.worst;
      all = std::move(verdict);
    } catch (const Unsupported& unsupported) {
      refused =
          fmt::format("{}{}: {}", refused.empty() ? "" : refused + "; ", name, unsupported.what());
      continue;
    }
    if (all.outcome != Outcome::pass) return all;
  }
  if (!refused.empty()) throw Unsupported(refused);
  return all;
}

}  // namespace posgauge
