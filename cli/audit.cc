// posgauge audit: how wrong is a declared pipeline, by position, and up to where can it be trusted.
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/pipeline.h"
#include "posgauge/verify/plan.h"

namespace posgauge::cli {

namespace {

struct Options {
  SchemeOptions scheme;
  PlanOptions plan{.positions = 1024};
  BudgetOption budget;
  ReportOptions report;
  std::string contract, dtype = "f32";
  double phase = 0.1;
};

// Errors at one position, over all pairs and heads.
struct Row {
  double position = 0;
  double angle = 0;         // radians, largest
  double angle_bound = 0;   // radians, largest over pairs
  double spacings = 0;      // rotated pair error in spacings of the store dtype at the pair norm
  double contract_use = 0;  // error / bound
};

struct Audit {
  std::vector<Row> rows;
  Finding budget, contract;
  double phase_horizon = -1;
};

Audit Run(const LayerGroup& group, const Contract& contract, const std::vector<double>& planned,
          const Options& options) {
  const Pipeline pipeline(contract, group.scheme);
  const ExactRotation exact(group.scheme);
  const Rotary& layout = RotaryOf(group.scheme);
  const double magnitude = exact.Magnitude(Dtype::f64).values[0];
  const RotaryBound bound(contract, group.scheme, exact.Frequencies(Dtype::f64).values, magnitude);
  const Axes& axes = exact.axes();
  const std::vector<double> positions = PlaceOnAxes(axes, planned, options.plan.seed);
  const TruthTable truth = TruthOf(exact, positions);
  const Tensor x = PlanInput(layout, positions, options.plan.heads, contract.store, truth,
                             options.plan.seed, axes);
  const Tensor out = pipeline.Rotate(positions, x);
  const Rotated rotated{layout, positions, x, out, false, {}, axes};
  Audit audit{.budget = HoldToBudget(rotated, truth, magnitude, options.budget.spacings),
              .contract = HoldToBound(rotated, truth, bound)};
  const std::vector<double> angles = pipeline.AngleErrors(positions);
  const auto pairs = static_cast<size_t>(layout.Pairs());
  bool holds = true;
  for (size_t token = 0; token < planned.size(); ++token) {
    Row row{.position = planned[token],
            .spacings = audit.budget.profile[token].second * options.budget.spacings,
            .contract_use = audit.contract.profile[token].second};
    for (size_t pair = 0; pair < pairs; ++pair) {
      row.angle = std::max(row.angle, angles[token * pairs + pair]);
      row.angle_bound = std::max(row.angle_bound,
                                 bound.Angle(axes.At(positions, token, static_cast<int64_t>(pair)),
                                             static_cast<int64_t>(pair)));
    }
    holds = holds && row.angle <= options.phase;
    if (holds) audit.phase_horizon = row.position;
    audit.rows.push_back(row);
  }
  return audit;
}

std::string Horizon(double position, double last) {
  if (position < 0) return "fails at the first position";
  return position >= last ? fmt::format("{} (the last one checked)", position)
                          : fmt::format("{}", position);
}

// The row with the largest error in each octave of positions.
std::vector<Row> ByOctave(const std::vector<Row>& rows) {
  std::vector<Row> octaves;
  int octave = -2;
  for (const Row& row : rows) {
    const int at = row.position < 1 ? -1 : std::ilogb(row.position);
    if (at != octave) {
      octaves.push_back(row);
      octave = at;
    } else if (row.spacings > octaves.back().spacings) {
      octaves.back() = row;
    }
  }
  return octaves;
}

void Print(const LayerGroup& group, const Contract& contract, const Audit& audit,
           const Options& options) {
  fmt::print("{}  layers {}\n  contract {}\n", Name(group.scheme), group.kind, contract.Text());
  fmt::print("  {:>12} {:>14} {:>14} {:>16} {:>14}\n", "position", "angle error", "angle bound",
             "pair error", "of the bound");
  fmt::print("  {:>12} {:>14} {:>14} {:>16} {:>14}\n", "", "radians", "radians",
             fmt::format("{} spacings", Name(contract.store)), "");
  for (const Row& row : ByOctave(audit.rows)) {
    fmt::print("  {:>12} {:>14.3g} {:>14.3g} {:>16.3g} {:>14.2f}\n", row.position, row.angle,
               row.angle_bound, row.spacings, row.contract_use);
  }
  const double last = audit.rows.back().position;
  fmt::print("  adequate ({:g} spacings of exact arithmetic) up to position {}\n",
             options.budget.spacings, Horizon(audit.budget.holds_to, last));
  fmt::print("  angle within {:g} radians up to position {}\n", options.phase,
             Horizon(audit.phase_horizon, last));
  if (const auto& worst = audit.budget.worst) {
    fmt::print("  worst element: position {}, {}\n    got   {}\n    exact {}\n", worst->position,
               worst->where, worst->got, worst->want);
  }
  fmt::print(
      "  checked {} positions, {} heads; sampled maxima are lower bounds, horizons upper ones\n",
      audit.rows.size(), options.plan.heads);
}

nlohmann::ordered_json AuditJson(const LayerGroup& group, const Contract& contract,
                                 const Audit& audit, const Options& options) {
  nlohmann::ordered_json json = {{"layers", group.kind},
                                 {"scheme", ToJson(group.scheme)},
                                 {"contract", contract.Text()},
                                 {"budget_spacings", options.budget.spacings},
                                 {"adequate_horizon", audit.budget.holds_to},
                                 {"phase_radians", options.phase},
                                 {"phase_horizon", audit.phase_horizon},
                                 {"positions", nlohmann::ordered_json::array()}};
  for (const Row& row : audit.rows) {
    json["positions"].push_back({{"position", row.position},
                                 {"angle_error_radians", row.angle},
                                 {"angle_bound_radians", row.angle_bound},
                                 {"pair_error_spacings", row.spacings},
                                 {"bound_use", row.contract_use}});
  }
  if (const auto& worst = audit.budget.worst) {
    json["worst"] = {{"position", worst->position},
                     {"where", worst->where},
                     {"got", worst->got},
                     {"exact", worst->want}};
  }
  return json;
}

int Execute(const Options& options) {
  const ModelConfig model = options.scheme.Resolve();
  const Dtype io = ParseFloatDtype("--dtype", options.dtype);
  options.plan.Validate();
  options.budget.Validate();
  Require(std::isfinite(options.phase) && options.phase > 0,
          "--phase must be a finite number above 0, got {}", options.phase);
  const Contract contract = options.contract.empty()
                                ? Contract::Default(io)
                                : Contract::Parse(ReadContractLine(options.contract), io);
  Report report{.command = "audit", .target = model.source};
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  if (!options.report.as_json) {
    for (const std::string& note : model.notes) fmt::print("note: {}\n", note);
  }
  for (const LayerGroup& group : model.groups) {
    Require(IsRotary(group.scheme),
            "audit measures rotations, and {} is {}: `posgauge gate` measures its kernels",
            Name(group.scheme), SummaryOf(group.scheme));
  }
  for (const LayerGroup& group : model.groups) {
    const std::vector<double> positions = PlanPositions(
        options.plan.positions, options.plan.Largest(model, group), {}, options.plan.seed);
    const Audit audit = Run(group, contract, positions, options);
    groups.push_back(AuditJson(group, contract, audit, options));
    report.verdicts.push_back(
        ToVerdict("adequate",
                  fmt::format("every pair is within {:g} spacings of exact arithmetic",
                              options.budget.spacings),
                  group.kind, audit.budget));
    if (!options.report.as_json) Print(group, contract, audit, options);
  }
  if (options.report.as_json) {
    const nlohmann::ordered_json json = {{"posgauge_audit", 1},
                                         {"source", model.source},
                                         {"seed", options.plan.seed},
                                         {"groups", groups},
                                         {"notes", model.notes}};
    fmt::print("{}\n", json.dump(2));
  }
  options.report.WriteFiles(report);
  // An audit measures; it does not judge.
  return kHolds;
}

}  // namespace

void AddAudit(CLI::App& program, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *program.add_subcommand(
      "audit", "how wrong a declared pipeline is, by position, and how far it can be trusted");
  options->scheme.AddTo(command);
  command
      .add_option("--contract", options->contract,
                  "the pipeline's arithmetic, stage by stage a line, a preset or a .toml file "
                  "(docs/contracts.md)")
      ->check(NotEmpty());
  command.add_option("--dtype", options->dtype,
                     "dtype of the vectors where the contract is silent");
  options->plan.AddTo(command);
  options->budget.AddTo(command);
  command.add_option("--phase", options->phase, "angle error in radians for the second horizon");
  options->report.AddTo(command);
  command.callback([options, &exit_code] { exit_code = Execute(*options); });
}

}  // namespace posgauge::cli
