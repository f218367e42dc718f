#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "posgauge/verify/verdict.h"

namespace posgauge {

/// What a command concluded, for text, JSON and JUnit alike.
struct Report {
  std::string command, target;          // "gate", "golden/models/llama-3.1-8b.json"
  std::vector<std::string> facts;       // lines that say what was checked, for the head of the text
  std::vector<Verdict> verdicts;        // in the order of execution
  std::vector<std::string> summaries;   // one line a kernel: what a reader wants first
  std::vector<std::string> conclusion;  // the last lines; the first says whether it holds
  nlohmann::ordered_json kernels;       // for programs: facts about each kernel, in order
  nlohmann::ordered_json left_out;      // for programs: kernels that do not serve, and why
  nlohmann::ordered_json coverage;      // for programs: what is not covered, what is waived
  int exit_code = 0;
};

/// For people: facts, summaries, every failure in full, conclusion.
std::string ToText(const Report& report);

/// For programs: docs/verdicts.md, version 1.
nlohmann::ordered_json ToJson(const Report& report);

/// JUnit XML: one test case a verdict.
std::string ToJunit(const Report& report);

/// GitHub shows summaries of a step up to this many bytes, and none that is longer.
inline constexpr size_t kLargestSummary = 1024 * 1024;

/// Markdown for people who look at a CI run: the conclusion, the table of kernels, every failure
/// folded up. At most `limit` bytes: what does not fit is counted at the end.
std::string ToMarkdown(const Report& report, size_t limit);

/// One failing verdict in full: where first, where worst, how to repeat it.
std::string FailureText(const Verdict& verdict);

}  // namespace posgauge
