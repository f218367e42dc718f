// posgauge gate: did a change break the kernel; where, how much, how to repeat it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "posgauge/cli/baseline.h"
#include "posgauge/cli/case_folder.h"
#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/command_gate.h"
#include "posgauge/cli/conclusion.h"
#include "posgauge/cli/coverage.h"
#include "posgauge/cli/golden_check.h"
#include "posgauge/cli/golden_folder.h"
#include "posgauge/cli/kernel_options.h"
#include "posgauge/cli/law_check.h"
#include "posgauge/cli/minimize.h"
#include "posgauge/cli/named_cause.h"
#include "posgauge/cli/run_deadline.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/cli/usual_rules.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/repro.h"

namespace posgauge::cli {

namespace {

struct Options {
  SchemeOptions scheme;
  KernelOptions kernels;
  PlanOptions plan{.positions = 2048};
  BudgetOption budget;
  RequireOption require;
  ReportOptions report;
  BaselineOptions baseline;
  CommandOptions command;
  MinimizeOptions minimize;
  std::string golden = DefaultGoldenFolder(), dump, format = "safetensors", waive;
  bool exhaustive = false, golden_is_given = false;
  std::optional<double> run_time_limit;  // seconds
};

// What every position is checked over.
std::string Widths(const Scheme& scheme, const CheckPlan& plan) {
  if (ActsInAttention(scheme)) return fmt::format("{} heads", AttentionOf(scheme).heads);
  return IsRotary(scheme) ? fmt::format("{} pairs, {} heads{}", FrequencyCount(scheme), plan.heads,
                                        plan.more_heads.empty()
                                            ? ""
                                            : fmt::format(" ({} at a few positions)",
                                                          fmt::join(plan.more_heads, " and ")))
                          : fmt::format("{} channels", WidthOf(scheme));
}

// The kernels of many other schemes under one reason; --json has each.
std::map<std::string, std::vector<std::string>> AsTold(
    const std::map<std::string, std::vector<std::string>>& left_out) {
  constexpr std::ptrdiff_t kMost = 4;
  const auto of_others = [](const auto& entry) { return entry.first.starts_with("serves "); };
  if (std::ranges::count_if(left_out, of_others) <= kMost) return left_out;
  std::map<std::string, std::vector<std::string>> told;
  for (const auto& entry : left_out) {
    std::vector<std::string>& names = told[of_others(entry) ? "serves other schemes" : entry.first];
    names.insert(names.end(), entry.second.begin(), entry.second.end());
  }
  return told;
}

// "a, b, c and 5 more"; --json has all.
std::string FirstOf(const std::vector<std::string>& names) {
  constexpr size_t kMost = 4;
  if (names.size() <= kMost + 1) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMost, ", "),
                     names.size() - kMost);
}

// What is being done, on one line that the next one replaces; for someone who watches only.
void Progress(const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  constexpr std::string_view kClearLine = "\r\033[K";
  fmt::print(stderr, "{}{}", kClearLine, what);
  std::fflush(stderr);
}

// What two runs must have in common for their uses to be comparable.
std::string PlanText(const Options& options, const std::string& target) {
  const PlanOptions& plan = options.plan;
  return fmt::format(
      "{}, {} positions{}, {} heads, seed {}{}", target,
      options.exhaustive ? "all" : fmt::format("{}", plan.positions),
      plan.max_position ? fmt::format(" up to {}", *plan.max_position) : "", plan.heads, plan.seed,
      options.kernels.contract.empty() ? ""
                                       : fmt::format(", contract {}", options.kernels.contract));
}

class Gate {
 public:
  explicit Gate(const Options& options)
      : options_(options),
        deadline_(options.run_time_limit),
        coverage_(options.waive),
        kernels_(options.command.line.empty() ? options.kernels.Resolve()
                                              : std::vector<KernelInfo>{}),
        model_(options.scheme.Resolve()),
        baseline_(options.baseline, PlanText(options, model_.source)) {
    if (std::filesystem::exists(options.golden) || options.golden_is_given) {
      golden_.emplace(options.golden);
    }
    report_.command = "gate";
    report_.target = model_.source;
    for (const std::string& note : model_.notes) report_.facts.push_back("note: " + note);
    if (!options.kernels.contract.empty()) {
      report_.facts.push_back(fmt::format("held to --contract {}, not to what kernels declare",
                                          ShellWord(options.kernels.contract)));
    }
  }

  Report Run() {
    if (!options_.command.line.empty()) return RunByCommand();
    const auto begin = std::chrono::steady_clock::now();
    for (const LayerGroup& group : model_.groups) RunGroup(group);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    coverage_.AddNotRun(std::ranges::count(report_.verdicts, Outcome::not_run, &Verdict::outcome));
    const bool holds = ExitCodeOf(report_, coverage_.Complete()) == kHolds;
    baseline_.Compare(report_);
    Conclude(elapsed.count());
    baseline_.Conclude(holds, report_);
    return std::move(report_);
  }

 private:
  Report RunByCommand() {
    std::vector<PlannedGroup> groups;
    for (const LayerGroup& group : model_.groups) groups.push_back({&group, PlanFor(group)});
    options_.kernels.Validate();
    constexpr double kSeconds = 600;  // for all cases
    GateCommand({options_.command,
                 options_.kernels.time_limit.value_or(kSeconds),
                 options_.kernels.kernels,
                 {options_.kernels.contract, options_.budget.spacings},
                 options_.require.Adequate(),
                 options_.dump,
                 options_.format},
                groups, report_);
    return std::move(report_);
  }

  CheckPlan PlanFor(const LayerGroup& group) const {
    std::vector<int64_t> lengths = LengthsOf(group.scheme);
    if (model_.max_position) lengths.push_back(*model_.max_position);
    const int64_t largest = Largest(group);
    const int64_t count = options_.exhaustive ? largest + 1 : options_.plan.positions;
    return {PlanPositions(count, largest, lengths, options_.plan.seed), options_.plan.heads,
            options_.plan.seed, options_.budget.spacings, ModelHeads()};
  }

  int64_t Largest(const LayerGroup& group) const { return options_.plan.Largest(model_, group); }

  // Of the calls that the model makes, for queries and for keys.
  std::vector<int64_t> ModelHeads() const {
    constexpr int64_t kMost = 4096;
    std::vector<int64_t> heads;
    for (const auto& count : {model_.num_attention_heads, model_.num_key_value_heads}) {
      if (count && *count <= kMost && std::ranges::find(heads, *count) == heads.end()) {
        heads.push_back(*count);
      }
    }
    std::erase(heads, options_.plan.heads);
    return heads;
  }

  void RunGroup(const LayerGroup& group) {
    const CheckPlan plan = PlanFor(group);
    std::vector<Subject> subjects;
    std::vector<const KernelInfo*> serving;
    std::map<std::string, std::vector<std::string>> left_out;  // by reason
    for (const KernelInfo& info : kernels_) {
      if (const std::string why = info.WhyNot(group.scheme); !why.empty()) {
        left_out[why].push_back(info.name);
        continue;
      }
      subjects.emplace_back(info, group.scheme);
      serving.push_back(&info);
    }
    report_.facts.push_back(Text(group.scheme));
    report_.facts.push_back(
        fmt::format("layers {}; {} positions in 0..{}, {}, seed {}; {}", group.kind,
                    plan.positions.size(), Largest(group), Widths(group.scheme, plan), plan.seed,
                    golden_ ? fmt::format("{} golden files for it", golden_->CountFor(group.scheme))
                            : fmt::format("no golden vectors at {}", options_.golden)));
    const std::string title = fmt::format("{} kernels", Name(group.scheme));
    size_t width = title.size();
    for (const KernelInfo* info : serving) width = std::max(width, info->name.size());
    report_.summaries.push_back(SummaryHead(title, width));
    Progress(fmt::format("layers {}: contracts of {} kernels", group.kind, subjects.size()));
    std::vector<KernelCheck> checks =
        deadline_.IsOver() ? NotRun(subjects, plan) : CheckKernels(subjects, plan);
    std::vector<KernelResult> results;
    for (size_t i = 0; i < subjects.size(); ++i) {
      NameFirstCauses(subjects[i], plan, checks[i]);
      AddUsualRules(subjects[i], plan, checks[i].keeps_contract);
      Progress(fmt::format("layers {}: laws of {}, {} of {}", group.kind, serving[i]->name, i + 1,
                           subjects.size()));
      const bool alone = FailsAlone(subjects[i], plan, checks[i]);
      results.push_back({serving[i], std::move(checks[i]),
                         CheckLawsOf(subjects[i], subjects, plan, Largest(group), deadline_),
                         CheckGolden(subjects[i]), subjects[i].NotCovered(), alone});
    }
    Progress("");
    for (KernelResult& result : results) {
      report_.summaries.push_back(Summary(result, width));
      if (const std::string line = ContractLine(result); !line.empty()) {
        report_.summaries.push_back(line);
      }
      report_.kernels.push_back(KernelJson(result, group));
      Record(group, plan, result);
    }
    for (const auto& [why, names] : AsTold(left_out)) {
      report_.summaries.push_back(fmt::format("  left out, {}: {}", why, FirstOf(names)));
    }
    for (const auto& [why, names] : left_out) {
      report_.left_out.push_back({{"layers", group.kind}, {"why", why}, {"kernels", names}});
    }
    coverage_.Add(group, results, options_.require.Adequate());
    if (!options_.dump.empty()) DumpCases(options_.dump, options_.format, group, subjects, plan);
  }

  // In place of the checks of kernels for which no time is left.
  std::vector<KernelCheck> NotRun(const std::vector<Subject>& subjects,
                                  const CheckPlan& plan) const {
    std::vector<KernelCheck> checks;
    for (const Subject& subject : subjects) {
      const std::string& name = subject.info().name;
      KernelCheck check{.keeps_contract = deadline_.NotRun("contract", kContractClaim, name)};
      if (subject.info().quantity != "frequencies") {
        check.adequate =
            deadline_.NotRun("adequate", BudgetClaim(subject.scheme(), plan.budget), name);
      }
      check.planned = plan.positions.size();
      checks.push_back(std::move(check));
    }
    return checks;
  }

  // All of its golden files, as one check where there is no time for them.
  std::vector<Verdict> CheckGolden(const Subject& subject) {
    if (!golden_) return {};
    if (!deadline_.IsOver()) return golden_->Check(subject);
    if (golden_->CountFor(subject.scheme()) == 0) return {};
    return {
        deadline_.NotRun("golden", "the values of the golden files are met", subject.info().name)};
  }

  // A library of which everything fails is not asked forever.
  void NameFirstCauses(const Subject& subject, const CheckPlan& plan, KernelCheck& check) {
    constexpr int kMost = 32;
    Verdict& verdict = check.keeps_contract;
    if (verdict.outcome != Outcome::fail || verdict.failure) return;
    if (++failures_ <= kMost) {
      NameCause(subject, plan, check);
    } else {
      verdict.note +=
          fmt::format("{}the cause is looked for of the first {} failures; repro does it",
                      verdict.note.empty() ? "" : "; ", kMost);
    }
  }

  // Whether the first failing position fails without the others of its call.
  static bool FailsAlone(const Subject& subject, const CheckPlan& plan, const KernelCheck& check) {
    const std::optional<Witness>& first = check.keeps_contract.first_failure;
    if (!first || !first->positioned) return true;
    CheckPlan one = plan;
    one.positions = {first->position};
    one.heads = check.heads;
    one.more_heads.clear();
    return CheckKernels({subject}, one)[0].keeps_contract.outcome == Outcome::fail;
  }

  // Beside values that break the contract: whether anybody else's test would have told.
  static void AddUsualRules(const Subject& subject, const CheckPlan& plan, Verdict& verdict) {
    if (verdict.outcome != Outcome::fail || verdict.failure) return;
    const std::string said = UsualRules(subject, plan);
    if (said.empty()) return;
    verdict.note += fmt::format("{}by the usual rules: {}", verdict.note.empty() ? "" : "; ", said);
  }

  // What `posgauge repro` must be told beside the id.
  std::string ReproOptions(const Verdict& verdict) const {
    std::string text = options_.kernels.CommandText();
    if (verdict.check.starts_with("golden:") && options_.golden_is_given) {
      text += fmt::format(" --golden {}", ShellWord(options_.golden));
    }
    if (verdict.check == "adequate" && options_.budget.spacings != BudgetOption{}.spacings) {
      text += fmt::format(" --budget {}", options_.budget.spacings);
    }
    return text;
  }

  // The searches may take as long as all the checks: only the first failures of a run are searched.
  void FindMinimal(const LayerGroup& group, const CheckPlan& plan, const ReproId& id,
                   const KernelInfo& info, Verdict& verdict) {
    constexpr int kMost = 8;
    if (verdict.check.starts_with("golden:")) return;
    if (++searched_ > kMost) {
      verdict.minimal = MinimalRecord{
          .repro = verdict.repro + " --minimize",
          .note = fmt::format("not searched, being more than the first {} failures", kMost)};
      return;
    }
    Progress(fmt::format("layers {}: minimal case of {}, {}", group.kind, info.name, id.check));
    const Subject subject(info, group.scheme);
    const FailedCheck failed{subject, plan, id, ReproOptions(verdict),
                             fmt::format("{}.{}.{}", group.kind, info.name, id.check)};
    if (id.check == "contract" || id.check == "adequate") {
      MinimizeCase(failed, options_.minimize, verdict);
    } else {
      MinimizeLaw(failed, kernels_, verdict);
    }
    Progress("");
  }

  // A failing check can be run again at its first failing position alone, a law over its whole
  // plan.
  void Record(const LayerGroup& group, const CheckPlan& plan, KernelResult& result) {
    const auto add = [&](Verdict verdict, bool single) {
      ReproId id{.check = verdict.check,
                 .kernel = verdict.subject,
                 .scheme = group.scheme,
                 .positions = ReproId::Plan{static_cast<int64_t>(plan.positions.size()),
                                            Largest(group), model_.max_position},
                 .heads = single ? result.check.heads : plan.heads,
                 .seed = plan.seed};
      if (single && verdict.first_failure && verdict.first_failure->positioned)
        id.positions = verdict.first_failure->position;
      if (verdict.outcome == Outcome::fail) {
        verdict.repro = fmt::format("posgauge repro {}{}", id.Text(), ReproOptions(verdict));
        if (options_.minimize.Wanted()) FindMinimal(group, plan, id, *result.info, verdict);
      }
      values_ += verdict.use.count();
      baseline_.Add(group.kind, verdict);
      report_.verdicts.push_back(std::move(verdict));
    };
    add(result.check.keeps_contract, result.fails_alone);
    if (result.check.blind > 0) {
      blind_.push_back(fmt::format("{} {}", result.info->name, BlindShare(result.check)));
    }
    if (const std::optional<Verdict>& adequate = result.check.adequate) {
      if (adequate->outcome == Outcome::fail) inadequate_.push_back(result.info->name);
      if (adequate->use.count() == 0) {
        ++unmeasured_;
      } else {
        horizon_ = std::min(horizon_.value_or(HUGE_VAL), result.check.adequate_horizon);
      }
      if (options_.require.Adequate()) add(*adequate, true);
    }
    for (const Verdict& verdict : result.laws) add(verdict, false);
    for (const Verdict& verdict : result.golden) add(verdict, false);
  }

  void Conclude(double seconds) {
    report_.exit_code = ExitCodeOf(report_, coverage_.Complete());
    std::vector<std::string>& lines = report_.conclusion;
    lines.push_back(Headline(report_, values_, seconds));
    std::map<std::string, std::set<std::string>> broken;  // kernels by failure
    for (const Verdict& verdict : report_.verdicts) {
      if (Died(verdict)) broken[std::string(VariantName(*verdict.failure))].insert(verdict.subject);
    }
    for (const auto& [failure, names] : broken) {
      lines.push_back(fmt::format("{}: {}", failure, fmt::join(names, ", ")));
    }
    if (horizon_) lines.push_back("adequate: " + Adequacy());
    if (!blind_.empty()) {
      lines.push_back(
          fmt::format("blind (bound above a tenth of the pair norm), share of values: {}",
                      fmt::join(blind_, ", ")));
    }
    std::map<std::string, std::vector<std::string>> unanswered;  // kernels by check and reason
    for (const Verdict& verdict : report_.verdicts) {
      if (verdict.outcome != Outcome::unsupported) continue;
      unanswered[fmt::format("{}, {}", verdict.check, verdict.note)].push_back(verdict.subject);
    }
    for (const auto& [check, names] : unanswered) {
      lines.push_back(fmt::format("unsupported: {}: {}", check, FirstOf(names)));
    }
    for (const std::string& missing : coverage_.missing())
      lines.push_back("not covered: " + missing);
    if (coverage_.Complete() && report_.exit_code != kNothingDone) {
      lines.push_back("covered: every stage from the config to the output" +
                      std::string(coverage_.waived().empty() ? "" : ", but for what is waived"));
    }
    for (const std::string& waived : coverage_.waived()) lines.push_back("waived: " + waived);
    report_.coverage = {{"not_covered", coverage_.missing()}, {"waived", coverage_.waived()}};
  }

  // Between two sampled positions anything may happen: the horizon is then an upper limit.
  std::string Adequacy() const {
    const std::string horizon =
        *horizon_ < 0 ? "no position"
                      : fmt::format("position {}{}", *horizon_,
                                    options_.exhaustive ? ", every one of them checked"
                                                        : " at most, being sampled");
    const double budget = options_.budget.spacings;
    if (inadequate_.empty()) {
      return fmt::format(
          "all kernels{} are within {:g} spacings of exact arithmetic up to {}",
          unmeasured_ == 0 ? "" : fmt::format(" but {} that gave no values", unmeasured_), budget,
          horizon);
    }
    return fmt::format(
        "not within {:g} spacings of exact arithmetic everywhere: {}; all of them are up to {}",
        budget, fmt::join(std::set(inadequate_.begin(), inadequate_.end()), ", "), horizon);
  }

  Options options_;
  RunDeadline deadline_;
  Coverage coverage_;
  std::vector<KernelInfo> kernels_;
  ModelConfig model_;
  Baseline baseline_;
  std::optional<GoldenVectors> golden_;
  Report report_;
  std::vector<std::string> inadequate_, blind_;
  std::optional<double> horizon_;  // the smallest of the kernels'
  uint64_t values_ = 0, unmeasured_ = 0;
  int failures_ = 0;  // of contracts, by values
  int searched_ = 0;  // failures, for their minimal cases
};

int Execute(const Options& options) {
  options.require.Validate();
  options.plan.Validate();
  options.budget.Validate();
  Require(!options.run_time_limit || *options.run_time_limit > 0,
          "--run-time-limit must be above 0 seconds, got {}", options.run_time_limit.value_or(0));
  return options.report.Print(Gate(options).Run());
}

}  // namespace

void AddGate(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "gate",
      "hold kernels to their contracts, the laws and the golden vectors on a model's config");
  options->scheme.AddTo(command);
  options->kernels.AddTo(command);
  options->plan.AddTo(command);
  command.add_flag("--exhaustive", options->exhaustive, "every position up to the largest")
      ->excludes(command.get_option("--positions"));
  options->budget.AddTo(command);
  options->require.AddTo(command);
  command.add_option("--waive", options->waive,
                     "what the model does without, listed: frequency, table, slopes and "
                     "thresholds, stages that no kernel yields; range, positions that a kernel "
                     "does not serve; layers, those that no kernel serves");
  command.add_option_function<std::string>(
      "--golden",
      [options](const std::string& folder) {
        options->golden = folder;
        options->golden_is_given = true;
      },
      "folder of golden vectors; golden/vectors if there is one, else those installed");
  command
      .add_option("--dump", options->dump,
                  "also write the cases and the kernels' answers to this folder, for compare")
      ->check(NotEmpty());
  command.add_option("--format", options->format, "of what is written: safetensors or npz")
      ->check(CLI::IsMember({"safetensors", "npz"}));
  command.add_option("--run-time-limit", options->run_time_limit,
                     "seconds of the whole run: checks not begun by then are not run, and then "
                     "the gate does not hold");
  options->report.AddTo(command);
  options->baseline.AddTo(command);
  options->command.AddTo(command);
  command.get_option("--run-time-limit")->excludes(command.get_option("--command"));
  options->minimize.AddTo(command);
  for (const char* own : {"--minimize", "--minimal-case"}) {
    command.get_option(own)->excludes(command.get_option("--command"));
  }
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
