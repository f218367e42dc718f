// posgauge golden: vectors of proven values on disk. Here verify and show.
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_folder.h"
#include "posgauge/cli/golden_record.h"
#include "posgauge/golden/check.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;

struct VerifyOptions {
  std::string root = DefaultGoldenFolder();
  bool json = false;
};

int Verify(const VerifyOptions& options) {
  const Check check = CheckGolden(options.root);
  if (options.json) {
    ordered_json record{{"version", 1},
                        {"files", check.files},
                        {"cases", check.cases},
                        {"values", check.values},
                        {"proof", ProofRecord(check.proof)}};
    record["differences"] = ordered_json::array();
    for (const Difference& difference : check.differences) {
      record["differences"].push_back({{"file", difference.file}, {"what", difference.what}});
    }
    fmt::print("{}\n", record.dump(2));
  } else {
    for (const Difference& difference : check.differences) {
      fmt::print("{}: {}\n", difference.file, difference.what);
    }
    fmt::print("{}: {} files, {} cases, {} values: {}\n{}\n", options.root, check.files,
               check.cases, check.values, ProofText(check.proof),
               !check.differences.empty() ? "DIFFERENT"
               : check.files == 0         ? "nothing to verify"
                                          : "every byte regenerated");
  }
  if (!check.differences.empty()) return kViolated;
  return check.values == check.proof.undecided ? kNothingDone : kHolds;
}

void AddVerify(CLI::App& golden, int& exit_code) {
  CLI::App* command = golden.add_subcommand(
      "verify", "Recompute every value of golden files and compare byte for byte");
  auto options = std::make_shared<VerifyOptions>();
  command->add_option("path", options->root, "a folder or one manifest")->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = Verify(*options); });
}

struct ShowOptions {
  std::string file, case_id;
  bool json = false;
};

ordered_json ToRecord(const Tensor& tensor) {
  ordered_json values = ordered_json::array();
  for (double value : tensor.Values()) values.push_back(NumberToJson(value));
  return {{"shape", tensor.shape()}, {"values", std::move(values)}};
}

ordered_json ToRecord(const Scheme& scheme, const Case& golden_case) {
  ordered_json record{{"id", golden_case.id},
                      {"quantity", VariantName(golden_case.quantity)},
                      {"comment", golden_case.comment},
                      {"flags", golden_case.flags},
                      {"result", VariantName(golden_case.result)}};
  if (golden_case.result != Result::valid) {
    record[golden_case.result == Result::invalid ? "fault" : "dialect"] = golden_case.fault;
    record["cause"] = golden_case.cause;
    record["departure"] = DepartureToJson(golden_case.departure);
  }
  for (const std::string& name : InputsOf(scheme, golden_case.quantity)) {
    record["inputs"][name] = ToRecord(golden_case.inputs.at(name));
  }
  for (const auto& [name, roundings] : golden_case.outputs) {
    for (const auto& [dtype, rounding] : roundings) {
      ordered_json& output = record["outputs"][name][std::string(Name(dtype))];
      output = ToRecord(rounding.values);
      if (rounding.distances.size() > 0) {
        output["distances"] = ToRecord(rounding.distances)["values"];
      }
      output["proof"] = ProofRecord(rounding.proof);
      if (rounding.midpoint) output["midpoint"] = *rounding.midpoint;
    }
  }
  return record;
}

void PrintValues(const Scheme& scheme, const Case& golden_case) {
  for (const std::string& name : InputsOf(scheme, golden_case.quantity)) {
    const Tensor& tensor = golden_case.inputs.at(name);
    fmt::print("  {} [{}]\n", name, fmt::join(tensor.shape(), ", "));
    for (size_t i = 0; i < tensor.size(); ++i) {
      fmt::print("    {:>6}  {:>24}  {:.17g}\n", i, HexFloat(tensor.Value(i)), tensor.Value(i));
    }
  }
  for (const auto& [name, roundings] : golden_case.outputs) {
    for (const auto& [dtype, rounding] : roundings) {
      const Tensor& values = rounding.values;
      fmt::print("  {} {} [{}], {}\n", name, Name(dtype), fmt::join(values.shape(), ", "),
                 ProofText(rounding.proof));
      for (size_t i = 0; i < values.size(); ++i) {
        const std::string distance =
            rounding.distances.size() == 0
                ? ""
                : fmt::format("  {:+.5f} ulp", rounding.distances.Value(i) / 65536);
        fmt::print("    {:>6}  {:>24}  {:.17g}{}\n", i, HexFloat(values.Value(i)), values.Value(i),
                   distance);
      }
    }
  }
}

// Nothing of a valid case: "  INVALID by pairing_swapped: ...".
std::string LabelText(const Case& golden_case) {
  if (golden_case.result == Result::valid) return "";
  return fmt::format("\n  {} {}: {}",
                     golden_case.result == Result::invalid ? "INVALID by" : "acceptable, dialect",
                     golden_case.fault, golden_case.cause);
}

void PrintCase(const Scheme& scheme, const Case& golden_case, bool values) {
  fmt::print("\n{}: {}  {}{}\n", golden_case.id, VariantName(golden_case.quantity),
             golden_case.comment, LabelText(golden_case));
  if (!golden_case.flags.empty()) fmt::print("  flags {}\n", fmt::join(golden_case.flags, ", "));
  if (values) return PrintValues(scheme, golden_case);
  for (const auto& [name, tensor] : golden_case.inputs) {
    fmt::print("  in  {} [{}]\n", name, fmt::join(tensor.shape(), ", "));
  }
  for (const auto& [name, roundings] : golden_case.outputs) {
    for (const auto& [dtype, rounding] : roundings) {
      fmt::print("  out {} {} [{}], {}\n", name, Name(dtype),
                 fmt::join(rounding.values.shape(), ", "), ProofText(rounding.proof));
    }
  }
}

int Show(const ShowOptions& options) {
  Manifest manifest = ReadManifest(options.file);
  if (!options.case_id.empty()) {
    std::vector<std::string> ids;
    for (const Case& golden_case : manifest.cases) ids.push_back(golden_case.id);
    std::erase_if(manifest.cases,
                  [&](const Case& golden_case) { return golden_case.id != options.case_id; });
    Require(!manifest.cases.empty(), "--case must be one of {}, got '{}'", fmt::join(ids, ", "),
            options.case_id);
  }
  if (options.json) {
    ordered_json record{{"version", 1}, {"file", options.file}, {"comment", manifest.comment}};
    record["source"] = manifest.source;
    record["scheme"] = ToJson(manifest.scheme);
    record["cases"] = ordered_json::array();
    for (const Case& golden_case : manifest.cases) {
      record["cases"].push_back(ToRecord(manifest.scheme, golden_case));
    }
    fmt::print("{}\n", record.dump(2));
    return kHolds;
  }
  fmt::print("{}\n  {}\n  {}\n  by {} {}\n", options.file, manifest.comment,
             ToJson(manifest.scheme).dump(), manifest.generator, manifest.version);
  for (const auto& [flag, note] : manifest.notes) {
    fmt::print("  {} ({}): {}\n", flag, note.bug_type, note.description);
  }
  for (const Case& golden_case : manifest.cases) {
    PrintCase(manifest.scheme, golden_case, !options.case_id.empty());
  }
  return kHolds;
}

void AddShow(CLI::App& golden, int& exit_code) {
  CLI::App* command =
      golden.add_subcommand("show", "Print a manifest, or one case with its values");
  auto options = std::make_shared<ShowOptions>();
  command->add_option("file", options->file, "a manifest")->required();
  command->add_option("--case", options->case_id, "a case's id: print its values");
  command->add_flag("--json", options->json, "print JSON, always with values");
  command->callback([options, &exit_code] { exit_code = Show(*options); });
}

}  // namespace

nlohmann::ordered_json ProofRecord(const ProofCounts& proof) {
  return {{"exact", proof.exact},
          {"proven", proof.proven},
          {"undecided", proof.undecided},
          {"max_bits", proof.max_bits}};
}

std::string ProofText(const ProofCounts& proof) {
  return fmt::format("{} proven, {} exact, {} undecided, at most {} bits", proof.proven,
                     proof.exact, proof.undecided, proof.max_bits);
}

void AddGolden(CLI::App& program, int& exit_code) {
  CLI::App* golden = program.add_subcommand(
      "golden", "Golden vectors: make, list, check, compare and export them");
  golden->require_subcommand(1);
  AddVerify(*golden, exit_code);
  AddShow(*golden, exit_code);
  AddGoldenWrite(*golden, exit_code);
  AddGoldenMake(*golden, exit_code);
  AddGoldenList(*golden, exit_code);
  AddGoldenLint(*golden, exit_code);
  AddGoldenDiff(*golden, exit_code);
  AddGoldenExport(*golden, exit_code);
}

}  // namespace posgauge::cli
