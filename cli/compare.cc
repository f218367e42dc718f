// posgauge compare: judge a result file for a case file under a contract.
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/verify/case_file.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/judge_addition.h"
#include "posgauge/verify/judge_equations.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge::cli {

namespace {

struct Options {
  std::string case_path, result_path, contract;
  bool rowshift = false;
  BudgetOption budget;
  RequireOption require;
  ReportOptions report;
};

const Tensor& Find(const Safetensors& content, const std::string& path, const std::string& name,
                   const std::vector<int64_t>& shape) {
  const auto at = content.tensors.find(name);
  if (at == content.tensors.end()) {
    throw FormatError(fmt::format("{}: needs a tensor {}", path, name));
  }
  if (at->second.shape() != shape || !IsFloat(at->second.dtype())) {
    throw FormatError(fmt::format("{}: {} must be a floating tensor [{}], got {} [{}]", path, name,
                                  fmt::join(shape, ", "), Name(at->second.dtype()),
                                  fmt::join(at->second.shape(), ", ")));
  }
  return at->second;
}

struct Findings {
  Finding contract, budget;
};

// What the caller declares, for a result in a dtype.
Contract ContractFor(const Options& options, Dtype io) {
  const Contract contract = options.contract.empty()
                                ? Contract::Default(io)
                                : Contract::Parse(ReadContractLine(options.contract), io);
  Require(contract.store == io, "--contract stores {}, but the result is {}", Name(contract.store),
          Name(io));
  return contract;
}

const Tensor& FindOut(const CaseFile& asked, const Safetensors& result, const std::string& path) {
  const Tensor& out = Find(result, path, "out", asked.x.shape());
  if (out.dtype() != asked.x.dtype()) {
    throw FormatError(fmt::format("{}: out must be {} like the case's x, got {}", path,
                                  Name(asked.x.dtype()), Name(out.dtype())));
  }
  return out;
}

Findings JudgeRotation(const CaseFile& asked, const Safetensors& result, const Options& options,
                       Contract* contract) {
  const ExactRotation exact(asked.scheme);
  const Rotary& layout = RotaryOf(asked.scheme);
  const Axes& axes = exact.axes();
  const TruthTable truth = TruthOf(exact, asked.positions);
  const double magnitude = exact.Magnitude(Dtype::f64).values[0];
  const auto bound_for = [&](Dtype io) {
    *contract = ContractFor(options, io);
    return RotaryBound(*contract, asked.scheme, exact.Frequencies(Dtype::f64).values, magnitude);
  };
  if (asked.quantity == "table") {
    const std::vector<int64_t> shape = {static_cast<int64_t>(axes.Tokens(asked.positions)),
                                        layout.Pairs()};
    const TablePair table{Find(result, options.result_path, "cos", shape),
                          Find(result, options.result_path, "sin", shape)};
    return {HoldToBound(table, layout, asked.positions, truth, bound_for(table.cos.dtype()),
                        magnitude, axes),
            HoldToBudget(table, layout, asked.positions, truth, magnitude, options.budget.spacings,
                         axes)};
  }
  const Tensor& out = FindOut(asked, result, options.result_path);
  const Rotated rotated{
      layout, asked.positions, asked.x, out, asked.quantity == "rotate_backward", {}, axes};
  return {HoldToBound(rotated, truth, bound_for(out.dtype())),
          HoldToBudget(rotated, truth, magnitude, options.budget.spacings)};
}

Findings JudgeAddition(const CaseFile& asked, const Safetensors& result, const Options& options,
                       Contract* contract) {
  const ExactAddition exact(asked.scheme);
  const RowTruth truth = TruthOf(exact, asked.positions);
  const bool embeds = asked.quantity == "embed";
  const std::vector<int64_t> shape = {static_cast<int64_t>(asked.positions.size()), exact.width()};
  const Tensor& out = embeds ? FindOut(asked, result, options.result_path)
                             : Find(result, options.result_path, "rows", shape);
  *contract = ContractFor(options, out.dtype());
  const AdditionBound bound(*contract, asked.scheme, exact.Frequencies(Dtype::f64).values,
                            exact.RowIndex(0));
  const Added added{exact, asked.positions, embeds ? &asked.x : nullptr, out};
  return {HoldToBound(added, truth, bound), HoldToBudget(added, truth, options.budget.spacings)};
}

Findings JudgeEquations(const CaseFile& asked, const Safetensors& result, const Options& options,
                        Contract* contract) {
  const ExactEquations exact(asked.scheme);
  const auto quantity = ParseVariant<EquationQuantity>("quantity", asked.quantity);
  const std::vector<int64_t> shape = exact.CheckInputs(quantity, asked.inputs);
  const double farthest = FarthestQuery(asked.inputs);
  if (quantity == EquationQuantity::buckets) {
    const auto at = result.tensors.find(asked.quantity);
    if (at == result.tensors.end() || at->second.shape() != shape || IsFloat(at->second.dtype())) {
      throw FormatError(fmt::format("{}: needs a tensor {} of integers [{}]", options.result_path,
                                    asked.quantity, fmt::join(shape, ", ")));
    }
    const Finding finding = HoldToIntegers({quantity, asked.inputs, at->second, farthest, false},
                                           exact.Buckets(asked.inputs));
    *contract = Contract::Default(Dtype::f64);
    return {finding, finding};
  }
  const Tensor& out = Find(result, options.result_path, std::string(OutputName(quantity)), shape);
  *contract = ContractFor(options, out.dtype());
  const EnclosedEach truth = exact.Enclose(quantity, asked.inputs);
  const std::vector<EquationLimit> limits =
      EquationBound(*contract, asked.scheme).Limits(quantity, asked.inputs, shape);
  const EquationResult judged{quantity, asked.inputs, out, farthest, options.rowshift};
  return {HoldToBound(judged, truth, limits, *contract),
          HoldToBudget(judged, truth, limits, options.budget.spacings)};
}

Findings Judge(const CaseFile& asked, const Safetensors& result, const Options& options,
               Contract* contract) {
  if (HasEquations(asked.scheme)) return JudgeEquations(asked, result, options, contract);
  return IsRotary(asked.scheme) ? JudgeRotation(asked, result, options, contract)
                                : JudgeAddition(asked, result, options, contract);
}

// Two files without a case: numbers for the reader, and no verdict.
int CompareBare(const Options& options) {
  const Safetensors a = ReadSafetensors(options.case_path);
  const Safetensors b = ReadSafetensors(options.result_path);
  size_t compared = 0;
  for (const auto& [name, left] : a.tensors) {
    const auto right = b.tensors.find(name);
    if (right == b.tensors.end() || right->second.shape() != left.shape()) continue;
    ++compared;
    double largest = 0, sum_of_squares = 0;
    size_t differing = 0, at = 0, not_comparable = 0;
    for (size_t i = 0; i < left.size(); ++i) {
      const double difference = std::fabs(left.Value(i) - right->second.Value(i));
      if (left.Value(i) == right->second.Value(i)) continue;
      ++differing;
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
        name, differing, left.size(), largest, at,
        std::sqrt(sum_of_squares / std::max<double>(1, static_cast<double>(left.size()))),
        not_comparable);
  }
  if (compared == 0) {
    throw FormatError(fmt::format("{} and {} share no tensor of one name and shape",
                                  options.case_path, options.result_path));
  }
  fmt::print(
      "no verdict: neither file says what was asked (a case file comes from posgauge gate "
      "--dump)\n");
  return kNothingDone;
}

bool IsCase(const std::string& path) {
  return ReadSafetensors(path).metadata.contains("posgauge_case");
}

int Execute(const Options& options) {
  options.require.Validate();
  options.budget.Validate();
  if (!IsCase(options.case_path)) return CompareBare(options);
  const CaseFile asked = ReadCaseFile(options.case_path);
  const Safetensors result = ReadSafetensors(options.result_path);
  Contract contract;
  const Findings findings = Judge(asked, result, options, &contract);
  Report report{.command = "compare", .target = options.result_path};
  report.verdicts.push_back(
      ToVerdict("contract", "every value is within the bound derived from the declared arithmetic",
                options.result_path, findings.contract));
  Verdict adequate = ToVerdict("adequate", BudgetClaim(asked.scheme, options.budget.spacings),
                               options.result_path, findings.budget);
  const bool is_adequate = adequate.outcome == Outcome::pass;
  // The second verdict is always said; it decides only where that was asked for.
  if (options.require.Adequate()) report.verdicts.push_back(adequate);
  report.facts = {
      fmt::format("case      {}", options.case_path),
      fmt::format("scheme    {}", Text(asked.scheme)),
      fmt::format("contract  {}{}",
                  ActsInAttention(asked.scheme) ? contract.AttentionText() : contract.Text(),
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
      "compare", "judge a result file for a case file under a contract (safetensors)");
  command.add_option("case", options->case_path, "case file, from posgauge gate --dump")
      ->required();
  command
      .add_option("result", options->result_path,
                  "result file with the tensor out, or cos and sin, or rows, for a table; of "
                  "attention the quantity's name")
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
