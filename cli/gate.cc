// posgauge gate: did a change break the kernel; where, how much, how to repeat it.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_check.h"
#include "posgauge/cli/golden_folder.h"
#include "posgauge/cli/kernel_options.h"
#include "posgauge/cli/law_check.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/verify/case_file.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/repro.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge::cli {

namespace {

struct Options {
  SchemeOptions scheme;
  KernelOptions kernels;
  PlanOptions plan{.positions = 2048};
  BudgetOption budget;
  RequireOption require;
  ReportOptions report;
  std::string golden = DefaultGoldenFolder(), dump, waive;
  bool exhaustive = false, golden_is_given = false;
};

// What every position is checked over.
std::string Widths(const Scheme& scheme, const CheckPlan& plan) {
  return IsRotary(scheme) ? fmt::format("{} pairs, {} heads", FrequencyCount(scheme), plan.heads)
                          : fmt::format("{} channels", WidthOf(scheme));
}

// Everything about one kernel on one group of layers.
struct KernelResult {
  const KernelInfo* info;
  KernelCheck check;
  std::vector<Verdict> laws, golden;
  std::vector<std::string> not_covered;
};

std::string Word(const Verdict& verdict) {
  return verdict.outcome == Outcome::pass ? fmt::format("PASS {:.2f}", verdict.use.max())
                                          : std::string(VariantName(verdict.outcome));
}

// Not being adequate is a failure only where --require says so.
std::string AdequateWord(const Verdict& verdict) {
  return fmt::format("{} {:.2f}", verdict.outcome == Outcome::pass ? "yes" : "no",
                     verdict.use.max());
}

std::string Share(const std::vector<Verdict>& verdicts) {
  const auto passed = std::ranges::count(verdicts, Outcome::pass, &Verdict::outcome);
  const auto tried = std::ranges::count_if(verdicts, [](const Verdict& verdict) {
    return verdict.outcome == Outcome::pass || verdict.outcome == Outcome::fail;
  });
  if (verdicts.empty()) return "-";
  return fmt::format("{}/{}{}", passed, tried, passed == tried ? "" : " FAIL");
}

std::string Row(std::string_view name, size_t width, std::string_view contract,
                std::string_view adequate, std::string_view horizon, std::string_view laws,
                std::string_view golden) {
  return fmt::format("  {:<{}}  {:>10}  {:>10}  {:>9}  {:>8}  {:>8}", name, width, contract,
                     adequate, horizon, laws, golden);
}

std::string Summary(const KernelResult& result, size_t width) {
  const KernelCheck& check = result.check;
  return Row(result.info->name, width, Word(check.keeps_contract),
             check.adequate ? AdequateWord(*check.adequate) : "-",
             check.adequate ? fmt::format("{}", check.adequate_horizon) : "-", Share(result.laws),
             Share(result.golden));
}

nlohmann::ordered_json KernelJson(const KernelResult& result, const LayerGroup& group) {
  const KernelCheck& check = result.check;
  nlohmann::ordered_json json = {
      {"name", result.info->name},
      {"layers", group.kind},
      {"scheme", ToJson(group.scheme)},
      {"quantity", result.info->quantity},
      {"contract", result.info->contract.Text()},
      {"keeps_contract", std::string(VariantName(check.keeps_contract.outcome))},
      {"contract_horizon", check.contract_horizon},
      {"blind_values", check.blind},
      {"adequate", nullptr},
      {"adequate_horizon", nullptr},
      {"not_covered", result.not_covered}};
  if (check.adequate) {
    json["adequate"] = std::string(VariantName(check.adequate->outcome));
    json["adequate_horizon"] = check.adequate_horizon;
  }
  return json;
}

class Gate {
 public:
  explicit Gate(const Options& options)
      : options_(options), kernels_(options.kernels.Resolve()), model_(options.scheme.Resolve()) {
    if (std::filesystem::exists(options.golden) || options.golden_is_given) {
      golden_.emplace(options.golden);
    }
    report_.command = "gate";
    report_.target = model_.source;
  }

  Report Run() {
    const auto begin = std::chrono::steady_clock::now();
    for (const LayerGroup& group : model_.groups) RunGroup(group);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    Conclude(elapsed.count());
    return std::move(report_);
  }

 private:
  CheckPlan PlanFor(const LayerGroup& group) const {
    std::vector<int64_t> lengths = LengthsOf(group.scheme);
    if (model_.max_position) lengths.push_back(*model_.max_position);
    const int64_t largest = Largest();
    const int64_t count = options_.exhaustive ? largest + 1 : options_.plan.positions;
    return {PlanPositions(count, largest, lengths), options_.plan.heads, options_.plan.seed,
            options_.budget.spacings};
  }

  int64_t Largest() const { return options_.plan.Largest(model_); }

  void RunGroup(const LayerGroup& group) {
    const CheckPlan plan = PlanFor(group);
    std::vector<Subject> subjects;
    std::vector<const KernelInfo*> serving;
    for (const KernelInfo& info : kernels_) {
      if (!info.Serves(group.scheme)) continue;
      subjects.emplace_back(info, group.scheme);
      serving.push_back(&info);
    }
    report_.facts.push_back(Text(group.scheme));
    report_.facts.push_back(
        fmt::format("layers {}; {} positions in 0..{}, {}, seed {}; {}", group.kind,
                    plan.positions.size(), Largest(), Widths(group.scheme, plan), plan.seed,
                    golden_ ? fmt::format("{} golden files for it", golden_->CountFor(group.scheme))
                            : fmt::format("no golden vectors at {}", options_.golden)));
    size_t width = 0;
    for (const KernelInfo* info : serving) width = std::max(width, info->name.size());
    report_.summaries.push_back(Row(fmt::format("{} kernels", Name(group.scheme)), width,
                                    "contract", "adequate", "up to", "laws", "golden"));
    std::vector<KernelCheck> checks = CheckKernels(subjects, plan);
    std::vector<KernelResult> results;
    for (size_t i = 0; i < subjects.size(); ++i) {
      results.push_back({serving[i], std::move(checks[i]),
                         CheckLawsOf(subjects[i], subjects, plan, Largest()),
                         golden_ ? golden_->Check(subjects[i]) : std::vector<Verdict>{},
                         subjects[i].NotCovered()});
    }
    for (KernelResult& result : results) {
      report_.summaries.push_back(Summary(result, width));
      report_.kernels.push_back(KernelJson(result, group));
      Record(group, plan, result);
    }
    Cover(group, results);
    if (!options_.dump.empty()) Dump(group, subjects, plan);
  }

  // A failing check can be run again at its first failing position alone, a law over its whole
  // plan.
  void Record(const LayerGroup& group, const CheckPlan& plan, KernelResult& result) {
    const auto add = [&](Verdict verdict, bool single) {
      ReproId id{.check = verdict.check,
                 .kernel = verdict.subject,
                 .scheme = group.scheme,
                 .positions = ReproId::Plan{static_cast<int64_t>(plan.positions.size()), Largest(),
                                            model_.max_position},
                 .heads = plan.heads,
                 .seed = plan.seed};
      if (single && verdict.first_failure) id.positions = verdict.first_failure->position;
      if (verdict.outcome == Outcome::fail) {
        std::string libraries;
        for (const std::string& library : options_.kernels.libraries) {
          libraries += fmt::format(" --library {}", library);
        }
        verdict.repro = fmt::format("posgauge repro {}{}", id.Text(), libraries);
      }
      values_ += verdict.use.count();
      report_.verdicts.push_back(std::move(verdict));
    };
    add(result.check.keeps_contract, true);
    if (result.check.blind > 0) {
      blind_.push_back(fmt::format(
          "{} {:.3g} %", result.info->name,
          100.0 * static_cast<double>(result.check.blind) /
              static_cast<double>(std::max<uint64_t>(result.check.keeps_contract.use.count(), 1))));
    }
    if (result.check.adequate) {
      if (result.check.adequate->outcome != Outcome::pass) inadequate_.push_back(result.info->name);
      if (options_.require.Adequate()) add(*result.check.adequate, true);
    }
    for (const Verdict& verdict : result.laws) add(verdict, false);
    for (const Verdict& verdict : result.golden) add(verdict, false);
  }

  // What posgauge handed to kernels is covered only by a kernel that yields it and passes.
  void Cover(const LayerGroup& group, const std::vector<KernelResult>& results) {
    const auto passes = [&](std::string_view quantity) {
      return std::ranges::any_of(results, [&](const KernelResult& result) {
        return result.info->quantity == quantity &&
               result.check.keeps_contract.outcome == Outcome::pass;
      });
    };
    std::set<std::string> waived;
    for (const std::string& stage : CLI::detail::split(options_.waive, ',')) waived.insert(stage);
    for (const KernelResult& result : results) {
      for (const std::string& stage : result.not_covered) {
        if (passes(stage == "frequency" ? "frequencies" : stage)) continue;
        auto& list = waived.contains(stage) ? waived_ : uncovered_;
        list.insert(fmt::format("{} ({})", stage, group.kind));
      }
    }
  }

  // The cases, one a quantity and dtype, and beside them what each kernel answered.
  void Dump(const LayerGroup& group, const std::vector<Subject>& subjects, const CheckPlan& plan) {
    const std::filesystem::path folder = options_.dump;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw FileError(fmt::format("{}: {}", options_.dump, error.message()));
    for (const Subject& subject : subjects) {
      const std::string& quantity = subject.info().quantity;
      if (quantity == "frequencies") continue;
      CaseFile file{group.scheme, quantity, plan.positions, {}};
      if (quantity != "table") file.x = InputFor(subject, plan);
      WriteCaseFile(folder / fmt::format("{}.{}.{}.case.safetensors", group.kind, quantity,
                                         Name(subject.io())),
                    file);
      try {
        Safetensors answer;
        for (Named& named : subject.Answer(plan.positions, file.x)) {
          answer.tensors[named.name] = std::move(named.tensor);
        }
        WriteSafetensors(folder / fmt::format("{}.{}.safetensors", group.kind, subject.info().name),
                         answer);
      } catch (const Unsupported&) {
        // The report says so; there is no answer to write.
      } catch (const KernelFailure&) {
      }
    }
  }

  void Conclude(double seconds) {
    const auto count = [&](Outcome outcome) {
      return std::ranges::count(report_.verdicts, outcome, &Verdict::outcome);
    };
    const auto failed = count(Outcome::fail), passed = count(Outcome::pass);
    const auto unsupported = count(Outcome::unsupported), blind = count(Outcome::blind);
    if (failed > 0 || !uncovered_.empty()) {
      report_.exit_code = kViolated;
    } else if (passed == 0 || blind > 0) {
      report_.exit_code = kNothingDone;
    }
    const std::string_view holds = report_.exit_code == kHolds      ? "HOLDS"
                                   : report_.exit_code == kViolated ? "DOES NOT HOLD"
                                                                    : "NOTHING PROVEN";
    report_.conclusion.push_back(
        fmt::format("{}: {} checks passed, {} failed, {} unsupported, {} blind; {} values compared "
                    "in {:.1f} s",
                    holds, passed, failed, unsupported, blind, values_, seconds));
    const std::string adequacy =
        inadequate_.empty()
            ? fmt::format(
                  "all kernels are within {:g} spacings of exact arithmetic up to position "
                  "{}",
                  options_.budget.spacings, Largest())
            : fmt::format("not within {:g} spacings of exact arithmetic everywhere: {}",
                          options_.budget.spacings, fmt::join(inadequate_, ", "));
    report_.conclusion.push_back("adequate: " + adequacy);
    if (!blind_.empty()) {
      report_.conclusion.push_back(
          fmt::format("blind (bound above a tenth of the pair norm), share of values: {}",
                      fmt::join(blind_, ", ")));
    }
    report_.conclusion.push_back(
        uncovered_.empty()
            ? "covered: every stage from the config to the output" +
                  (waived_.empty() ? std::string()
                                   : fmt::format(", but waived: {}", fmt::join(waived_, ", ")))
            : fmt::format("not covered: {}; gate a kernel that yields it, or --waive "
                          "it",
                          fmt::join(uncovered_, ", ")));
  }

  Options options_;
  std::vector<KernelInfo> kernels_;
  ModelConfig model_;
  std::optional<GoldenVectors> golden_;
  Report report_;
  std::vector<std::string> inadequate_, blind_;
  std::set<std::string> uncovered_, waived_;
  uint64_t values_ = 0;
};

int Execute(const Options& options) {
  options.require.Validate();
  options.plan.Validate();
  options.budget.Validate();
  for (const std::string& stage : CLI::detail::split(options.waive, ',')) {
    Require(stage.empty() || stage == "frequency" || stage == "table",
            "--waive takes frequency and table, got '{}'", stage);
  }
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
  command.add_flag("--exhaustive", options->exhaustive, "every position up to the largest");
  options->budget.AddTo(command);
  options->require.AddTo(command);
  command.add_option("--waive", options->waive,
                     "stages that need no kernel of their own: frequency,table");
  command.add_option_function<std::string>(
      "--golden",
      [options](const std::string& folder) {
        options->golden = folder;
        options->golden_is_given = true;
      },
      "folder of golden vectors; golden/vectors if there is one, else those installed");
  command.add_option("--dump", options->dump,
                     "also write the cases and the kernels' answers to this folder, for compare");
  options->report.AddTo(command);
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
