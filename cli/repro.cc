// posgauge repro: run one failing check again, just this one.
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_check.h"
#include "posgauge/cli/golden_folder.h"
#include "posgauge/cli/kernel_options.h"
#include "posgauge/cli/law_check.h"
#include "posgauge/cli/minimize.h"
#include "posgauge/cli/named_cause.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/report.h"
#include "posgauge/verify/repro.h"

namespace posgauge::cli {

namespace {

struct Options {
  KernelOptions kernels;
  std::string id, golden = DefaultGoldenFolder();
  BudgetOption budget;
  MinimizeOptions minimize;
};

constexpr std::string_view kGoldenCheck = "golden:";

void FindMinimal(const Options& options, FailedCheck failed, const std::vector<KernelInfo>& kernels,
                 Verdict& verdict) {
  failed.repro_options = options.kernels.CommandText();
  if (options.budget.spacings != BudgetOption{}.spacings) {
    failed.repro_options += fmt::format(" --budget {}", options.budget.spacings);
  }
  failed.name = fmt::format("{}.{}", failed.id.kernel, failed.id.check);
  verdict.repro = fmt::format("posgauge repro {}{}", failed.id.Text(), failed.repro_options);
  if (failed.id.check == "contract" || failed.id.check == "adequate") {
    MinimizeCase(failed, options.minimize, verdict);
  } else if (!failed.id.check.starts_with(kGoldenCheck)) {
    MinimizeLaw(failed, kernels, verdict);
  }
}

int Execute(const Options& options) {
  options.budget.Validate();
  const ReproId id = ReproId::Parse(options.id);
  std::vector<Subject> subjects;
  const Subject* subject = nullptr;
  const std::vector<KernelInfo> kernels = options.kernels.Resolve();
  for (const KernelInfo& info : kernels) {
    if (info.Serves(id.scheme)) subjects.emplace_back(info, id.scheme);
  }
  for (const Subject& candidate : subjects) {
    if (candidate.info().name == id.kernel) subject = &candidate;
  }
  Require(subject != nullptr,
          "repro id: no kernel {} that serves {}; give the library it was in with --library",
          id.kernel, Name(id.scheme));
  const CheckPlan plan{id.Positions(), id.heads, id.seed, options.budget.spacings};
  std::optional<Verdict> verdict;
  if (id.check == "contract" || id.check == "adequate") {
    KernelCheck check = CheckKernels({*subject}, plan).front();
    NameCause(*subject, plan, check);
    verdict = id.check == "contract" ? check.keeps_contract : check.adequate;
  } else if (id.check.starts_with(kGoldenCheck)) {
    for (Verdict& golden : GoldenVectors(options.golden).Check(*subject)) {
      if (golden.check == id.check) verdict = std::move(golden);
    }
    Require(verdict.has_value(), "repro id: {} holds no vectors {} for {} and its scheme",
            options.golden, id.check.substr(kGoldenCheck.size()), id.kernel);
  } else {
    const auto* whole = std::get_if<ReproId::Plan>(&id.positions);
    Require(whole != nullptr, "repro id: a law is repeated over a plan, n<count>-<largest>");
    for (Verdict& law : CheckLawsOf(*subject, subjects, plan, whole->largest)) {
      if (law.check == id.check) verdict = std::move(law);
    }
  }
  Require(verdict.has_value(), "repro id: {} has no check '{}'", id.kernel, id.check);
  if (verdict->outcome == Outcome::fail && options.minimize.Wanted()) {
    FindMinimal(options, {*subject, plan, id}, kernels, *verdict);
  }
  switch (verdict->outcome) {
    case Outcome::fail:
      fmt::print("{}", FailureText(*verdict));
      return Died(*verdict) ? kKernelDied : kViolated;
    case Outcome::pass:
      fmt::print("PASS {}  {}\n  claim: {}\n  use {:.3g} of the limit over {} values\n",
                 verdict->check, verdict->subject, verdict->claim, verdict->use.max(),
                 verdict->use.count());
      return kHolds;
    case Outcome::unsupported:
    case Outcome::blind:
    case Outcome::not_run:
      break;
  }
  fmt::print("{} {}  {}: {}\n", VariantName(verdict->outcome), verdict->check, verdict->subject,
             verdict->note);
  return kNothingDone;
}

}  // namespace

void AddRepro(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "repro", "run one failing check again, by the id that a report prints");
  command.add_option("id", options->id, "check/kernel/scheme/positions/heads/seed")->required();
  options->kernels.AddTo(command);
  command.add_option("--golden", options->golden, "folder of golden vectors, for a golden: check");
  options->budget.AddTo(command);
  options->minimize.AddTo(command);
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
