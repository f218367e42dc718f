#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/fields.h"
#include "posgauge/verify/statistics.h"

namespace posgauge {

/// What a check concluded. The last three are never passes: `unsupported` was not executed, `blind`
/// could hardly have failed (bound above a tenth of the pair norm for most values), and for
/// `not_run` there was no time.
enum class Outcome { pass, fail, unsupported, blind, not_run };
template <>
inline constexpr auto kVariantNames<Outcome> =
    std::array<std::string_view, 5>{"PASS", "FAIL", "unsupported", "blind", "not run"};

/// How a kernel fails where no value is compared; of two the later one is graver.
enum class Failure {
  answered,       // it said so, or yields what the scheme has not
  unwritten,      // elements of an output were left as they were
  unstable,       // two identical runs gave two results
  overrun,        // it read or wrote beside a tensor
  input_written,  // it wrote to an input
  crash,          // a signal ended its process
  hang,           // it did not return in time
  exit,           // it ended its process
  exception,      // it threw a C++ exception through the C interface
  descriptors,    // it closed files that are not its own
  memory          // it took more memory than it may
};
template <>
inline constexpr auto kVariantNames<Failure> = std::array<std::string_view, 11>{
    "answered", "unwritten", "unstable",  "overrun",     "input_written", "crash",
    "hang",     "exit",      "exception", "descriptors", "memory"};

/// Whether a program that called the kernel would have been harmed, beyond wrong values.
constexpr bool BreaksProcess(Failure failure) { return failure >= Failure::overrun; }

/// One place where a check failed, in words: where, what came out, what should have.
struct Witness {
  double position = 0;  // tokens; the first in position order
  std::string where;    // "head 0, channel 3 (pair 3, wavelength 11.6 tokens)"
  std::string got, want;
  double use = 0;          // error / bound
  bool positioned = true;  // false where no position is meant: a frequency
};

/// What is wrong with a kernel, by name (verify/faults/diagnosis.h).
struct Cause {
  std::string id;                  // "frequency_bf16", or two: "sin_sign + base_ignored"
  std::string what, fix;           // one line each
  double share = 0;                // of the values that tell, those that it explains
  double shows_from = -1;          // tokens, among the positions asked; -1 where none shows it
  std::vector<std::string> twins;  // ids that the inputs cannot tell from it
  std::string runner_up;           // the next best id
  double runner_up_share = 0;
  std::vector<std::string> links;  // public reports of the same
};

/// The smallest case that was found to fail in the same way (posgauge/verify/minimal_case.h).
struct MinimalRecord {
  std::string text;                                   // the case in a line
  std::vector<std::string> matters, does_not_matter;  // found by trying
  uint64_t calls = 0;                                 // that the search took
  bool complete = true;                               // false where its limits ended it
  std::string repro;                                  // command; the nearest that an id can say
  bool repro_is_minimal = false;   // whether that is the case, but for its values
  std::vector<std::string> files;  // case, answer, program
  std::string note;                // why there is no case or file
};

struct Verdict {
  std::string check;    // "absolute", "relative_invariance"
  std::string claim;    // one sentence: what holds if it passes
  std::string subject;  // "fast.rotate.bf16"
  Outcome outcome = Outcome::pass;
  std::string note;                // why unsupported; what is not covered
  std::optional<Failure> failure;  // where the kernel failed and no value did
  Statistics use;                  // error / bound over all values
  std::optional<Witness> first_failure, worst;
  std::optional<Cause> cause;  // of a failure, where one of the known faults explains it
  std::string repro;           // identifier for `posgauge repro`
  std::optional<MinimalRecord> minimal;

  /// Of another verdict on the same check its failure, with the note, if it is the graver one.
  void TakeGraver(const Verdict& more) {
    if (!(more.failure > failure)) return;
    outcome = more.outcome;
    note = more.note;
    failure = more.failure;
  }
};

/// Whether the kernel did more than be wrong.
inline bool Died(const Verdict& verdict) {
  return verdict.outcome == Outcome::fail && verdict.failure && BreaksProcess(*verdict.failure);
}

}  // namespace posgauge
