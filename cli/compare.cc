// posgauge compare: judge a result file for a case file under a contract.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "posgauge/cli/case_judgement.h"
#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/tensor_file.h"

namespace posgauge::cli {

namespace {

struct Options {
  std::string case_path, result_path, contract;
  bool rowshift = false;
  BudgetOption budget;
  RequireOption require;
  ReportOptions report;
};

// Values of which both are NaN do not differ.
void PrintDifference(const std::string& name, const Tensor& left, const Tensor& right) {
  double largest = 0, sum_of_squares = 0;
  size_t differing = 0, at = 0, not_comparable = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    const double a = left.Value(i), b = right.Value(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ++differing;
    const double difference = std::fabs(a - b);
    if (!std::isfinite(difference)) {
      ++not_comparable;
      continue;
    }
    sum_of_squares += difference * difference;
    if (difference > largest) {
      largest = difference;
      at = i;
    }
  }
  fmt::print(
      "{}: {} of {} values differ, largest difference {:.6g} at {}, rms {:.6g}, {} not finite\n",
      name.empty() ? "the array" : name, differing, left.size(), largest, at,
      std::sqrt(sum_of_squares / std::max<double>(1, static_cast<double>(left.size()))),
      not_comparable);
}

// Two files without a case: numbers for the reader, and no verdict.
int CompareBare(const Options& options) {
  const Safetensors a = ReadTensorFile(options.case_path);
  const Safetensors b = ReadTensorFile(options.result_path);
  // The tensor of an npy file has no name; the other file's only one is its like.
  const bool by_place = a.tensors.size() == 1 && b.tensors.size() == 1 &&
                        (a.tensors.contains("") || b.tensors.contains(""));
  size_t compared = 0;
  std::vector<std::string> left_out;
  for (const auto& [name, left] : a.tensors) {
    const auto right = by_place ? b.tensors.begin() : b.tensors.find(name);
    if (right == b.tensors.end() || right->second.shape() != left.shape()) {
      left_out.push_back(Shown(name));
      continue;
    }
    ++compared;
    PrintDifference(name.empty() ? right->first : name, left, right->second);
  }
  if (compared == 0) {
    throw FormatError(fmt::format("{} and {} share no tensor of one name and shape",
                                  options.case_path, options.result_path));
  }
  for (const auto& [name, tensor] : b.tensors) {
    if (!by_place && !a.tensors.contains(name)) left_out.push_back(Shown(name));
  }
  if (!left_out.empty()) {
    fmt::print("not compared, having no like of one name and shape: {}\n",
               fmt::join(left_out, ", "));
  }
  fmt::print(
      "no verdict: neither file says what was asked (a case file comes from posgauge gate "
      "--dump)\n");
  return kNothingDone;
}

int Execute(const Options& options) {
  options.require.Validate();
  options.budget.Validate();
  if (!IsCaseFile(options.case_path)) return CompareBare(options);
  const CaseFile asked = ReadCaseFile(options.case_path);
  const Safetensors result = ReadTensorFile(options.result_path);
  const CaseJudgement findings =
      JudgeCase(asked, result, options.result_path,
                {options.contract, options.budget.spacings, options.rowshift});
  Report report{.command = "compare", .target = options.result_path};
  report.verdicts.push_back(
      ToVerdict("contract", "every value is within the bound derived from the declared arithmetic",
                options.result_path, findings.contract));
  Verdict adequate = ToVerdict("adequate", BudgetClaim(asked.scheme, options.budget.spacings),
                               options.result_path, findings.budget);
  const bool is_adequate = adequate.outcome == Outcome::pass;
  // The second verdict is always said; it decides only where that was asked for.
  if (options.require.Adequate()) report.verdicts.push_back(adequate);
  report.facts = {fmt::format("case      {}", options.case_path),
                  fmt::format("scheme    {}", Text(asked.scheme)),
                  fmt::format("contract  {}{}",
                              ActsInAttention(asked.scheme) ? findings.held_to.AttentionText()
                                                            : findings.held_to.Text(),
                              options.contract.empty() ? "  (none declared: the default)" : "")};
  const Verdict& keeps = report.verdicts.front();
  const bool executed = keeps.outcome == Outcome::pass || keeps.outcome == Outcome::fail;
  const bool violated =
      keeps.outcome == Outcome::fail || (options.require.Adequate() && !is_adequate);
  report.exit_code = violated ? kViolated : executed ? kHolds : kNothingDone;
  report.conclusion = {
      fmt::format(
          "keeps its contract  {}  use {:.3g} of the bound over {} values, {:.3g} % of them "
          "blind (bound above a tenth of {})",
          VariantName(keeps.outcome), keeps.use.max(), keeps.use.count(),
          100.0 * static_cast<double>(findings.contract.blind) /
              static_cast<double>(std::max<uint64_t>(keeps.use.count(), 1)),
          IsRotary(asked.scheme) ? "the pair norm" : "the larger of 1 and |x|"),
      fmt::format("adequate            {}  within {:g} spacings up to position {}",
                  VariantName(adequate.outcome), options.budget.spacings,
                  findings.budget.holds_to)};
  return options.report.Print(report);
}

}  // namespace

void AddCompare(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "compare", "judge a result file for a case file under a contract (safetensors, npz, npy)");
  command.add_option("case", options->case_path, "case file, from posgauge gate --dump")
      ->required();
  command
      .add_option("result", options->result_path,
                  "result file with the tensor out, or cos and sin, or rows, for a table; of "
                  "attention the quantity's name; .npy: the one that is asked for")
      ->required();
  command
      .add_option("--contract", options->contract,
                  "the arithmetic of what made the result a line, a preset or a .toml file "
                  "(docs/contracts.md)")
      ->check(NotEmpty());
  command.add_flag("--rowshift", options->rowshift,
                   "rows of biases or scores may differ by a constant, which softmax cancels");
  options->require.AddTo(command);
  options->budget.AddTo(command);
  options->report.AddTo(command);
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
