#include "posgauge/cli/command_gate.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "posgauge/cli/case_folder.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/command_run.h"
#include "posgauge/cli/conclusion.h"
#include "posgauge/cli/coverage.h"
#include "posgauge/cli/kernel_options.h"
#include "posgauge/cli/kernel_result.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/tensor_file.h"

namespace posgauge::cli {

namespace {

namespace fs = std::filesystem;

// Where cases and results are: the folder that is to be kept, or one that goes.
class Folders {
 public:
  explicit Folders(const std::string& kept) : kept_(!kept.empty()), cases_(kept) {
    if (!kept_) {
      std::string name = (fs::temp_directory_path() / "posgauge.XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) {
        throw FileError(fmt::format("{}: no folder can be made there", name));
      }
      cases_ = name;
    }
    MakeFolder(results());
    // Old results would count for what this command does.
    Require(fs::is_empty(results()), "{}: must be empty; it holds what an earlier run left",
            results().string());
  }
  ~Folders() { Remove(); }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  void Remove() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(cases_, ignored);
  }
  const fs::path& cases() const { return cases_; }
  fs::path results() const { return cases_ / "results"; }

 private:
  bool kept_;
  fs::path cases_;
};

// One case that the command is to answer. Its kernel is described as posgauge's own of the same
// quantity and dtype.
struct Asked {
  const PlannedGroup* planned;
  KernelInfo info;
  std::string name;  // of its files
};

// The quantities and dtypes that posgauge's own kernels of these schemes yield.
std::vector<Asked> Cases(const CommandGate& gate, const std::vector<PlannedGroup>& groups,
                         const Folders& folders) {
  std::vector<Asked> all;
  std::set<std::string> names, offered;
  const std::string line = ReadContractLine(gate.terms.contract);
  for (const PlannedGroup& planned : groups) {
    for (KernelInfo& info : KernelOptions{}.Resolve()) {
      const std::string name = CaseName(*planned.group, info);
      if (info.quantity == "frequencies" || !info.Serves(planned.group->scheme)) continue;
      if (!names.insert(name).second) continue;
      const Subject subject(info, planned.group->scheme);
      info.name = fmt::format("{}.{}", info.quantity, Name(info.io()));
      offered.insert(info.name);
      const bool wanted = gate.kernels.empty() ||
                          std::ranges::any_of(gate.kernels, [&](const std::string& pattern) {
                            return Matches(pattern, info.name);
                          });
      if (!wanted) continue;
      // Of integers, which have no arithmetic, that of f64 stands in reports.
      info.contract = Contract::Default(IsFloat(info.io()) ? info.io() : Dtype::f64);
      if (!line.empty()) HoldTo(line, info);
      WriteCaseFile(CasePath(folders.cases(), name, gate.format), CaseFor(subject, planned.plan));
      all.push_back({&planned, std::move(info), name});
    }
  }
  for (const std::string& pattern : gate.kernels) {
    Require(std::ranges::any_of(offered, [&](const auto& name) { return Matches(pattern, name); }),
            "--kernel {} matches none of what a command is asked: {}", pattern,
            fmt::join(offered, ", "));
  }
  return all;
}

// The one file that answers a case. Throws FormatError where there is none, or more.
fs::path ResultPath(const fs::path& results, const std::string& name) {
  std::vector<fs::path> found;
  std::vector<std::string> expected;
  for (std::string_view ending : kTensorFileEndings) {
    expected.push_back(name + std::string(ending));
    if (fs::exists(results / expected.back())) found.push_back(results / expected.back());
  }
  if (found.empty()) {
    throw FormatError(
        fmt::format("no result: the command wrote none of {}", fmt::join(expected, ", ")));
  }
  if (found.size() > 1) {
    throw FormatError(fmt::format("{} and {}: one result is wanted of a case", found[0].string(),
                                  found[1].string()));
  }
  return found[0];
}

KernelResult Judge(const Asked& asked, const CommandGate& gate, const Folders& folders) {
  const KernelInfo& info = asked.info;
  const Scheme& scheme = asked.planned->group->scheme;
  const fs::path case_path = CasePath(folders.cases(), asked.name, gate.format);
  KernelResult result{&info, {}, {}, {}, {}};
  KernelCheck& check = result.check;
  check.heads = asked.planned->plan.heads;
  const std::string claim = BudgetClaim(scheme, gate.terms.budget);
  std::string repro;
  std::optional<CaseJudgement> judged;
  std::string failure;
  try {
    const fs::path path = ResultPath(folders.results(), asked.name);
    if (!gate.dump.empty()) {
      repro = fmt::format("posgauge compare {} {}", ShellWord(case_path.string()),
                          ShellWord(path.string()));
      if (!gate.terms.contract.empty()) {
        repro += fmt::format(" --contract {}", ShellWord(gate.terms.contract));
      }
    }
    const CaseFile file = ReadCaseFile(case_path);
    const Safetensors tensors = ReadTensorFile(path);
    judged = JudgeCase(file, tensors, path.string(), gate.terms);
  } catch (const FormatError& error) {
    failure = error.what();
  } catch (const FileError& error) {
    failure = error.what();
  }
  check.keeps_contract =
      ToVerdict("contract", "every value is within the bound derived from the declared arithmetic",
                info.name, judged ? judged->contract : Finding{});
  check.adequate = ToVerdict("adequate", claim, info.name, judged ? judged->budget : Finding{});
  check.planned = info.IsOfAttention() ? 1 : asked.planned->plan.positions.size();
  if (judged) {
    check.served = check.planned;
    check.blind = judged->contract.blind;
    check.telling = judged->contract.use.count() - judged->contract.idle;
    check.contract_horizon = judged->contract.holds_to;
    check.adequate_horizon = judged->budget.holds_to;
  }
  for (Verdict* verdict : {&check.keeps_contract, &*check.adequate}) {
    if (!judged) {
      verdict->outcome = Outcome::fail;
      verdict->note = failure;
    }
    if (verdict->outcome == Outcome::fail) verdict->repro = repro;
  }
  return result;
}

void Conclude(const Coverage& coverage, uint64_t values, double seconds, Report& report) {
  report.exit_code = ExitCodeOf(report, coverage.Complete());
  report.conclusion.push_back(Headline(report, values, seconds));
  for (const std::string& missing : coverage.missing()) {
    report.conclusion.push_back("not covered: " + missing);
  }
  if (report.exit_code == kHolds) {
    report.conclusion.emplace_back(
        "covered: the cases; a command is called once, so that laws and golden vectors are not "
        "tried on it");
  }
  report.coverage = {{"not_covered", coverage.missing()}, {"waived", coverage.waived()}};
}

}  // namespace

void CommandOptions::AddTo(CLI::App& command) {
  CLI::Option* option = command.add_option(
      "--command", line,
      "command that serves as the kernels, in any language: run once by the shell with two "
      "arguments, a folder of cases and one for results (docs/other-ways-in.md)");
  for (const char* other :
       {"--library", "--waive", "--golden", "--in-process", "--memory-limit", "--baseline"}) {
    option->excludes(command.get_option(other));
  }
}

void GateCommand(const CommandGate& asked, const std::vector<PlannedGroup>& groups,
                 Report& report) {
  const auto begin = std::chrono::steady_clock::now();
  Folders folders(asked.dump);
  const std::vector<Asked> cases = Cases(asked, groups, folders);
  const CommandEnd end = RunCommand(asked.command.line, fs::absolute(folders.cases()),
                                    fs::absolute(folders.results()), asked.time_limit);
  if (end.how == CommandEnd::How::interrupted) {
    folders.Remove();
    std::raise(end.number);
  }
  Verdict ran{.check = "command",
              .claim = fmt::format("the command ends by itself with 0 in {:g} s", asked.time_limit),
              .subject = asked.command.line};
  if (!end.Succeeded()) {
    ran.outcome = Outcome::fail;
    ran.note = "it " + end.Text();
    ran.failure = end.how == CommandEnd::How::exited      ? Failure::exit
                  : end.how == CommandEnd::How::signalled ? Failure::crash
                                                          : Failure::hang;
    report.verdicts.push_back(ran);
  }
  report.facts.push_back("command " + asked.command.line);
  Coverage coverage("");
  uint64_t values = 0;
  for (const PlannedGroup& planned : groups) {
    report.facts.push_back(Text(planned.group->scheme));
    report.facts.push_back(fmt::format("layers {}; {} positions in 0..{}, seed {}",
                                       planned.group->kind, planned.plan.positions.size(),
                                       planned.plan.positions.back(), planned.plan.seed));
    const std::string title = fmt::format("{} cases", Name(planned.group->scheme));
    size_t width = title.size();
    std::vector<KernelResult> results;
    for (const Asked& one : cases) {
      if (one.planned == &planned) results.push_back(Judge(one, asked, folders));
    }
    for (const KernelResult& result : results) width = std::max(width, result.info->name.size());
    report.summaries.push_back(SummaryHead(title, width));
    for (const KernelResult& result : results) {
      report.summaries.push_back(Summary(result, width));
      if (const std::string line = ContractLine(result); !line.empty()) {
        report.summaries.push_back(line);
      }
      report.kernels.push_back(KernelJson(result, *planned.group));
      const KernelCheck& check = result.check;
      values += check.keeps_contract.use.count();
      report.verdicts.push_back(check.keeps_contract);
      if (asked.adequate_is_required) report.verdicts.push_back(*check.adequate);
    }
    coverage.Add(*planned.group, results, asked.adequate_is_required);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  Conclude(coverage, values, elapsed.count(), report);
}

}  // namespace posgauge::cli
