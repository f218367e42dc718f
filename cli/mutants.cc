// posgauge mutants: which known faults a test lets through.
// posgauge faults: the bank of them.
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/kernel_options.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/mutation.h"
#include "posgauge/verify/plan.h"

namespace posgauge::cli {

namespace {

struct Options {
  SchemeOptions scheme;
  KernelOptions kernels;
  PlanOptions plan{.positions = 256, .heads = 2};
  std::string rule = "torch.testing.assert_close";
  int64_t test_positions = 128;
  bool shared_table = false, json = false, markdown = false;
};

Custom RuleOf(const std::string& name, Dtype dtype) {
  std::set<std::string> known;
  for (const Custom& custom : CustomsOf(dtype)) {
    if (custom.name == name) return custom;
    known.emplace(custom.name);
  }
  throw ParameterError(fmt::format("--rule must be one of {} for {}, got '{}'",
                                   fmt::join(known, ", "), Name(dtype), name));
}

// A kernel of the scheme and what became of the faults in its place.
struct Result {
  std::string kernel;
  std::vector<Mutant> mutants;

  size_t Counted() const {
    return static_cast<size_t>(std::ranges::count_if(
        mutants, [](const Mutant& mutant) { return mutant.counts_from.has_value(); }));
  }
  size_t KilledByGate() const {
    return static_cast<size_t>(std::ranges::count_if(
        mutants, [](const Mutant& mutant) { return mutant.counts_from && mutant.killed_from; }));
  }
  size_t KilledByTest() const {
    return static_cast<size_t>(std::ranges::count_if(
        mutants, [](const Mutant& mutant) { return mutant.counts_from && mutant.killed_by_test; }));
  }
};

std::string From(const std::optional<double>& position) {
  return position ? fmt::format("{}", *position) : "-";
}

void PrintText(const std::vector<Result>& results, const Options& options) {
  const char* head = options.markdown ? "| {} | {} | {} | {} |\n" : "  {:<36} {:>9} {:>9}  {}\n";
  for (const Result& result : results) {
    fmt::print(
        "{}: {} faults have an effect beyond twice the bound; the gate fails {} of them, "
        "the test {} ({}, positions 0..{}{})\n",
        result.kernel, result.Counted(), result.KilledByGate(), result.KilledByTest(), options.rule,
        options.test_positions - 1, options.shared_table ? ", the table shared" : "");
    if (options.markdown) fmt::print("\n");
    fmt::print(fmt::runtime(head), "let through by the test", "counts", "gate", "what would tell");
    if (options.markdown) fmt::print("|---|---|---|---|\n");
    for (const Mutant& mutant : result.mutants) {
      if (mutant.killed_by_test || !mutant.counts_from) continue;
      fmt::print(fmt::runtime(head), mutant.fault->id, From(mutant.counts_from),
                 From(mutant.killed_from), mutant.remedy);
    }
    const auto too_small = std::ranges::count_if(
        result.mutants, [](const Mutant& mutant) { return !mutant.counts_from; });
    fmt::print("{}{} more have effects within twice the bound, which the contract nearly allows\n",
               options.markdown ? "\n" : "  ", too_small);
  }
}

nlohmann::ordered_json ToJson(const std::optional<double>& position) {
  return position ? nlohmann::ordered_json(*position) : nlohmann::ordered_json(nullptr);
}

void PrintJson(const std::vector<Result>& results, const Options& options) {
  nlohmann::ordered_json record{{"posgauge_mutants", 1},
                                {"rule", options.rule},
                                {"test_positions", options.test_positions},
                                {"table_is_shared", options.shared_table},
                                {"kernels", nlohmann::ordered_json::array()}};
  for (const Result& result : results) {
    nlohmann::ordered_json kernel{{"kernel", result.kernel},
                                  {"counted", result.Counted()},
                                  {"killed_by_gate", result.KilledByGate()},
                                  {"killed_by_test", result.KilledByTest()},
                                  {"faults", nlohmann::ordered_json::array()}};
    for (const Mutant& mutant : result.mutants) {
      kernel["faults"].push_back({{"fault", mutant.fault->id},
                                  {"counts_from", ToJson(mutant.counts_from)},
                                  {"killed_by_gate_from", ToJson(mutant.killed_from)},
                                  {"killed_by_test", mutant.killed_by_test},
                                  {"remedy", mutant.remedy}});
    }
    record["kernels"].push_back(std::move(kernel));
  }
  fmt::print("{}\n", record.dump(2));
}

int Execute(const Options& options) {
  options.plan.Validate();
  Require(options.test_positions >= 1, "--test-positions must be at least 1, got {}",
          options.test_positions);
  const ModelConfig model = options.scheme.Resolve();
  const std::vector<KernelInfo> kernels = options.kernels.Resolve();
  std::vector<Result> results;
  bool all_killed = true;
  for (const LayerGroup& group : model.groups) {
    const int64_t largest = options.plan.Largest(model, group);
    for (const KernelInfo& info : kernels) {
      if (!info.Serves(group.scheme) || !IsFloat(info.io()) || SizeOf(info.io()) < 2) continue;
      const Subject subject(info, group.scheme);
      CheckPlan plan{PlanPositions(options.plan.positions, largest, LengthsOf(group.scheme),
                                   options.plan.seed),
                     options.plan.heads, options.plan.seed};
      plan.positions = ServedPositions(info, plan.positions);
      UsualTest test{{}, RuleOf(options.rule, info.io()), options.shared_table};
      for (int64_t p = 0; p < std::min(options.test_positions, largest + 1); ++p) {
        test.positions.push_back(static_cast<double>(p));
      }
      // A call each: a few tell as much.
      const bool one_each = HasEquations(group.scheme) && !IsOfRows(subject.equations().quantity());
      if (one_each) {
        std::erase_if(plan.positions, [&, n = 0](double) mutable { return n++ % 16 != 0; });
        std::erase_if(test.positions, [&, n = 0](double) mutable { return n++ % 16 != 0; });
      }
      results.push_back({info.name, RunMutants(subject, plan, test)});
      all_killed = all_killed && results.back().Counted() == results.back().KilledByGate();
    }
  }
  Require(!results.empty(), "no kernel of a floating dtype serves {}", model.source);
  if (options.json) {
    PrintJson(results, options);
  } else {
    PrintText(results, options);
  }
  return all_killed ? kHolds : kViolated;
}

std::string Listed(const std::vector<std::string>& links) {
  std::string text;
  for (const std::string& link : links) text += fmt::format(" [{}]({})", link.substr(19), link);
  return text;
}

void PrintFaults(const std::string& form) {
  if (form == "json") {
    nlohmann::ordered_json record{{"posgauge_faults", 1},
                                  {"faults", nlohmann::ordered_json::array()}};
    for (const Fault& fault : FaultBank()) {
      record["faults"].push_back({{"id", fault.id},
                                  {"stage", StageOf(fault)},
                                  {"cause", fault.cause},
                                  {"fix", fault.fix},
                                  {"shows", fault.shows},
                                  {"links", fault.links}});
    }
    fmt::print("{}\n", record.dump(2));
    return;
  }
  if (form == "markdown") {
    fmt::print(
        "<!-- written by: posgauge faults --form markdown -->\n# Faults\n\n{} known ways to be "
        "wrong. Where a kernel breaks its contract, `posgauge gate` and `posgauge repro` replay "
        "each "
        "of them, and pairs, on what the kernel was asked, and name the one that explains its "
        "answers; "
        "`posgauge mutants` says which of them a test would let through. Each is one small change "
        "of "
        "what an honest kernel does, at the stage that stands behind its name "
        "(verify/faults/).\n\n",
        FaultBank().size());
  }
  for (const Fault& fault : FaultBank()) {
    if (form == "markdown") {
      fmt::print("**`{}`** ({}): {}. It shows: {}. Fix: {}.{}\n\n", fault.id, StageOf(fault),
                 fault.cause, fault.shows, fault.fix,
                 fault.links.empty() ? "" : " Seen in" + Listed(fault.links) + ".");
    } else {
      fmt::print("{:<36} {}\n", fault.id, fault.cause);
    }
  }
}

}  // namespace

void AddMutants(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "mutants", "which known faults a test with usual settings would let through");
  options->scheme.AddTo(command);
  options->kernels.AddTo(command);
  options->plan.AddTo(command);
  command.add_option("--rule", options->rule, "how the test compares")->capture_default_str();
  command
      .add_option("--test-positions", options->test_positions,
                  "how many positions, from 0 on, the test has")
      ->capture_default_str();
  command.add_flag("--shared-table", options->shared_table,
                   "the test hands kernel and reference one cos/sin table");
  CLI::Option* json = command.add_flag("--json", options->json, "print JSON");
  command.add_flag("--markdown", options->markdown, "print markdown")->excludes(json);
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

void AddFaults(CLI::App& program, int& exit_code) {
  auto form = std::make_shared<std::string>("text");
  CLI::App& command = *program.add_subcommand("faults", "the known ways to be wrong, by name");
  command.add_option("--form", *form, "text, markdown or json")
      ->check(CLI::IsMember({"text", "markdown", "json"}))
      ->capture_default_str();
  command.callback([form, &exit_code] {
    PrintFaults(*form);
    exit_code = kHolds;
  });
}

}  // namespace posgauge::cli
