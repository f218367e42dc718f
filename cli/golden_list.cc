// posgauge golden list: which cases a corpus has.
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/corpus_options.h"
#include "posgauge/cli/golden_record.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;

struct ListOptions {
  CorpusOptions corpus;
  bool json = false;
};

ordered_json Record(const PlacedManifest& placed, const Case& golden_case) {
  ordered_json record{{"manifest", placed.place},
                      {"id", golden_case.id},
                      {"scheme", Name(placed.manifest.scheme)},
                      {"quantity", VariantName(golden_case.quantity)},
                      {"result", VariantName(golden_case.result)}};
  if (golden_case.result != Result::valid) {
    record[golden_case.result == Result::invalid ? "fault" : "dialect"] = golden_case.fault;
    record["cause"] = golden_case.cause;
  }
  record["comment"] = golden_case.comment;
  record["flags"] = golden_case.flags;
  for (const auto& [name, roundings] : golden_case.outputs) {
    ordered_json& output = record["outputs"][name];
    output["shape"] = roundings.begin()->second.values.shape();
    for (const auto& [dtype, rounding] : roundings) {
      ordered_json& certificate = output[std::string(Name(dtype))] = ProofRecord(rounding.proof);
      if (rounding.midpoint) certificate["midpoint"] = *rounding.midpoint;
    }
  }
  return record;
}

std::string Line(const PlacedManifest& placed, const Case& golden_case) {
  std::vector<std::string> dtypes, shapes;
  for (Dtype dtype : golden_case.dtypes) dtypes.emplace_back(Name(dtype));
  for (const auto& [name, roundings] : golden_case.outputs) {
    const Tensor& values = roundings.begin()->second.values;
    shapes.push_back(fmt::format("{} [{}]", name, fmt::join(values.shape(), ", ")));
  }
  std::string line = fmt::format("{} {}: {}, {} in {}", placed.place, golden_case.id,
                                 VariantName(golden_case.quantity), fmt::join(shapes, ", "),
                                 fmt::join(dtypes, " "));
  if (golden_case.result != Result::valid) {
    line += fmt::format(", {} {}", VariantName(golden_case.result), golden_case.fault);
  }
  return line;
}

int List(const ListOptions& options) {
  const std::vector<PlacedManifest> corpus = options.corpus.Read();
  ordered_json cases = ordered_json::array();
  ProofCounts proof;
  size_t count = 0;
  for (const PlacedManifest& placed : corpus) {
    for (const Case& golden_case : placed.manifest.cases) {
      ++count;
      proof.Merge(ProofOf(golden_case));
      if (options.json) {
        cases.push_back(Record(placed, golden_case));
      } else {
        fmt::print("{}\n", Line(placed, golden_case));
      }
    }
  }
  if (options.json) {
    const ordered_json record{
        {"version", 1}, {"cases", std::move(cases)}, {"proof", ProofRecord(proof)}};
    fmt::print("{}\n", record.dump(2));
  } else {
    fmt::print("{} manifests, {} cases: {}\n", corpus.size(), count, ProofText(proof));
  }
  return count > 0 ? kHolds : kNothingDone;
}

}  // namespace

void AddGoldenList(CLI::App& golden, int& exit_code) {
  CLI::App* command =
      golden.add_subcommand("list", "Which cases there are, and how they are proven");
  auto options = std::make_shared<ListOptions>();
  options->corpus.AddTo(*command);
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = List(*options); });
}

}  // namespace posgauge::cli
