// posgauge golden verify | write | make | show: vectors of proven values on disk.
#include <cmath>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/golden/check.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/plan.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

// ---- Records shared by the subcommands.

ordered_json ToRecord(const ProofCounts& proof) {
  return {{"exact", proof.exact},
          {"proven", proof.proven},
          {"undecided", proof.undecided},
          {"max_bits", proof.max_bits}};
}

std::string Text(const ProofCounts& proof) {
  return fmt::format("{} proven, {} exact, {} undecided, at most {} bits", proof.proven,
                     proof.exact, proof.undecided, proof.max_bits);
}

// ---- verify

struct VerifyOptions {
  std::string root = "golden/vectors";
  bool json = false;
};

int Verify(const VerifyOptions& options) {
  const Check check = CheckGolden(options.root);
  if (options.json) {
    ordered_json record{{"version", 1},
                        {"files", check.files},
                        {"cases", check.cases},
                        {"values", check.values},
                        {"proof", ToRecord(check.proof)}};
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
               check.cases, check.values, Text(check.proof),
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

// ---- write and make

struct Written {
  std::string file;
  size_t cases = 0, bytes = 0;
  ProofCounts proof;
};

// Computes and writes FOLDER/NAME.json and .safetensors.
Written Write(Manifest& manifest, const fs::path& folder, const std::string& name) {
  manifest.generator = "posgauge";
  manifest.version = POSGAUGE_VERSION;
  try {
    Compute(manifest);
  } catch (const ParameterError& error) {
    throw ParameterError(fmt::format("{}: {}", name, error.what()));
  }
  const Files files = Encode(manifest, name + ".safetensors");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw FileError(fmt::format("{}: cannot create: {}", folder.string(), error.message()));
  }
  WriteFiles(folder / name, files);
  Written written{(folder / (name + ".json")).string(),
                  manifest.cases.size(),
                  files.manifest.size() + files.payload.size(),
                  {}};
  for (const Case& golden_case : manifest.cases) {
    for (const auto& [output, roundings] : golden_case.outputs) {
      for (const auto& [dtype, rounding] : roundings) written.proof.Merge(rounding.proof);
    }
  }
  return written;
}

int Report(const std::vector<Written>& all, bool json) {
  ordered_json record{{"version", 1}, {"written", ordered_json::array()}};
  for (const Written& written : all) {
    record["written"].push_back({{"file", written.file},
                                 {"cases", written.cases},
                                 {"bytes", written.bytes},
                                 {"proof", ToRecord(written.proof)}});
    if (!json) {
      fmt::print("{}: {} cases, {} bytes, {}\n", written.file, written.cases, written.bytes,
                 Text(written.proof));
    }
  }
  if (json) fmt::print("{}\n", record.dump(2));
  return all.empty() ? kNothingDone : kHolds;
}

struct WriteOptions {
  std::string plans = "golden";
  std::string out = "golden/vectors";
  bool json = false;
};

int WritePlans(const WriteOptions& options) {
  std::vector<Written> all;
  for (auto& [word, manifests] : ReadPlans(options.plans)) {
    for (PlannedManifest& planned : manifests) {
      all.push_back(Write(planned.manifest, fs::path(options.out) / word, planned.name));
    }
  }
  return Report(all, options.json);
}

void AddWrite(CLI::App& golden, int& exit_code) {
  CLI::App* command =
      golden.add_subcommand("write", "Make the shipped vectors from the plans of every scheme");
  auto options = std::make_shared<WriteOptions>();
  command->add_option("--plans", options->plans, "folder of flags.json, SCHEME.json and models/")
      ->capture_default_str();
  command->add_option("--out", options->out, "folder for SCHEME/NAME.json")->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = WritePlans(*options); });
}

struct MakeOptions {
  SchemeOptions scheme;
  std::vector<std::string> quantities = {"frequencies", "magnitude", "table", "rotate"};
  std::vector<std::string> positions;
  std::vector<std::string> dtypes = {"f64", "f32", "bf16", "f16"};
  int64_t heads = 1;
  uint64_t seed = 0;
  std::string out, name;
  bool json = false;
};

double ParsePosition(const std::string& text) {
  char* end = nullptr;
  const double position = std::strtod(text.c_str(), &end);
  Require(!text.empty() && *end == '\0' && std::isfinite(position),
          "--positions must be finite numbers or FIRST:END, got '{}'", text);
  return position;
}

// "0", "131071", "-0.5", "0:128" (0 to 127).
std::vector<double> ParsePositions(const std::vector<std::string>& words) {
  constexpr double kMostPositions = 1 << 20;
  std::vector<double> positions;
  for (const std::string& word : words) {
    const size_t colon = word.find(':');
    if (colon == std::string::npos) {
      positions.push_back(ParsePosition(word));
      continue;
    }
    const double first = ParsePosition(word.substr(0, colon));
    const double end = ParsePosition(word.substr(colon + 1));
    Require(first < end && end - first <= kMostPositions && std::fabs(first) <= 0x1p53 &&
                std::fabs(end) <= 0x1p53,
            "--positions FIRST:END must ascend by at most {}, got {}", kMostPositions, word);
    for (double position = first; position < end; ++position) positions.push_back(position);
  }
  return positions;
}

// Lower-case words joined by '-', as ids and file names are.
std::string IdOf(const std::string& text) {
  std::string id;
  for (char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      id += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (id.ends_with('-')) id.pop_back();
  return id;
}

Case MakeCase(const MakeOptions& options, const Scheme& scheme, Quantity quantity) {
  Case golden_case;
  golden_case.id = IdOf(std::string(VariantName(quantity)));
  golden_case.quantity = quantity;
  golden_case.comment = fmt::format("made on request, seed {}", options.seed);
  for (Dtype dtype : kFloatDtypes) {
    const bool wanted = std::ranges::any_of(
        options.dtypes, [&](const std::string& name) { return ParseDtype(name) == dtype; });
    if (wanted) golden_case.dtypes.push_back(dtype);
  }
  Require(!golden_case.dtypes.empty(), "--dtype must name some of f64, f32, bf16, f16, got {}",
          fmt::join(options.dtypes, ", "));
  const std::vector<double> positions = ParsePositions(options.positions);
  const auto tokens = static_cast<int64_t>(positions.size());
  for (const std::string& input : InputsOf(quantity)) {
    Tensor& tensor = golden_case.inputs[input];
    if (input == "scale") {
      const double head_dim = static_cast<double>(RotaryOf(scheme).head_dim);
      tensor = Tensor::FromValues(Dtype::f64, {1}, std::array{1 / std::sqrt(head_dim)});
    } else if (input.ends_with("positions")) {
      Require(tokens > 0, "--positions must be given for {}", VariantName(quantity));
      tensor = Tensor::FromValues(Dtype::f64, {tokens}, positions);
    } else {
      tensor = RandomInput({tokens, options.heads, RotaryOf(scheme).head_dim}, options.seed,
                           fmt::format("{}/{}", golden_case.id, input));
    }
  }
  return golden_case;
}

int Make(const MakeOptions& options) {
  Require(options.heads >= 1, "--heads must be at least 1, got {}", options.heads);
  const ModelConfig model = options.scheme.Resolve();
  const std::string stem = !options.name.empty() ? options.name
                           : options.scheme.config.empty()
                               ? options.scheme.scheme
                               : fs::path(options.scheme.config).stem().string();
  std::vector<Written> all;
  for (const LayerGroup& group : model.groups) {
    Manifest manifest;
    manifest.scheme = group.scheme;
    manifest.comment = fmt::format("{}, layers {}", stem, group.kind);
    // The file's name only: the same config gives the same bytes wherever it lies.
    if (!options.scheme.config.empty()) {
      manifest.source = fmt::format(
          "{}, layers {}", fs::path(options.scheme.config).filename().string(), group.kind);
    }
    for (const std::string& name : options.quantities) {
      manifest.cases.push_back(
          MakeCase(options, group.scheme, ParseVariant<Quantity>("--quantity", name)));
    }
    const std::string name = IdOf(model.groups.size() == 1 ? stem : stem + "-" + group.kind);
    Require(!name.empty(), "--name must hold a letter or digit, got '{}'", stem);
    all.push_back(Write(manifest, options.out, name));
  }
  return Report(all, options.json);
}

void AddMake(CLI::App& golden, int& exit_code) {
  CLI::App* command = golden.add_subcommand("make", "Make vectors for a model or a scheme");
  auto options = std::make_shared<MakeOptions>();
  options->scheme.AddTo(*command);
  command
      ->add_option("--quantity", options->quantities,
                   "frequencies, magnitude, table, rotate, rotate_backward, scores")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--positions", options->positions,
                   "numbers and ranges FIRST:END without END: 0:16,4095,4096,131071")
      ->delimiter(',');
  command->add_option("--dtype", options->dtypes, "dtypes of the values")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--heads", options->heads, "heads of x, q and k")->capture_default_str();
  command->add_option("--seed", options->seed, "seed of x, q and k")->capture_default_str();
  command->add_option("--out", options->out, "folder for the files")->required();
  command->add_option("--name", options->name, "file name without extension");
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = Make(*options); });
}

// ---- show

struct ShowOptions {
  std::string file, case_id;
  bool json = false;
};

ordered_json ToRecord(const Tensor& tensor) {
  ordered_json values = ordered_json::array();
  for (double value : tensor.Values()) values.push_back(NumberToJson(value));
  return {{"shape", tensor.shape()}, {"values", std::move(values)}};
}

ordered_json ToRecord(const Case& golden_case) {
  ordered_json record{{"id", golden_case.id},
                      {"quantity", VariantName(golden_case.quantity)},
                      {"comment", golden_case.comment},
                      {"flags", golden_case.flags},
                      {"result", VariantName(golden_case.result)}};
  for (const std::string& name : InputsOf(golden_case.quantity)) {
    record["inputs"][name] = ToRecord(golden_case.inputs.at(name));
  }
  for (const std::string& name : OutputsOf(golden_case.quantity)) {
    for (const auto& [dtype, rounding] : golden_case.outputs.at(name)) {
      ordered_json& output = record["outputs"][name][std::string(Name(dtype))];
      output = ToRecord(rounding.values);
      if (rounding.distances.size() > 0) {
        output["distances"] = ToRecord(rounding.distances)["values"];
      }
      output["proof"] = ToRecord(rounding.proof);
    }
  }
  return record;
}

void PrintValues(const Case& golden_case) {
  for (const std::string& name : InputsOf(golden_case.quantity)) {
    const Tensor& tensor = golden_case.inputs.at(name);
    fmt::print("  {} [{}]\n", name, fmt::join(tensor.shape(), ", "));
    for (size_t i = 0; i < tensor.size(); ++i) {
      fmt::print("    {:>6}  {:>24}  {:.17g}\n", i, HexFloat(tensor.Value(i)), tensor.Value(i));
    }
  }
  for (const std::string& name : OutputsOf(golden_case.quantity)) {
    for (const auto& [dtype, rounding] : golden_case.outputs.at(name)) {
      const Tensor& values = rounding.values;
      fmt::print("  {} {} [{}], {}\n", name, Name(dtype), fmt::join(values.shape(), ", "),
                 Text(rounding.proof));
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

void PrintCase(const Case& golden_case, bool values) {
  fmt::print("\n{}: {}  {}{}\n", golden_case.id, VariantName(golden_case.quantity),
             golden_case.comment, golden_case.result == Result::invalid ? "  INVALID" : "");
  if (!golden_case.flags.empty()) fmt::print("  flags {}\n", fmt::join(golden_case.flags, ", "));
  if (values) return PrintValues(golden_case);
  for (const auto& [name, tensor] : golden_case.inputs) {
    fmt::print("  in  {} [{}]\n", name, fmt::join(tensor.shape(), ", "));
  }
  for (const auto& [name, roundings] : golden_case.outputs) {
    for (const auto& [dtype, rounding] : roundings) {
      fmt::print("  out {} {} [{}], {}\n", name, Name(dtype),
                 fmt::join(rounding.values.shape(), ", "), Text(rounding.proof));
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
      record["cases"].push_back(ToRecord(golden_case));
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
    PrintCase(golden_case, !options.case_id.empty());
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

void AddGolden(CLI::App& program, int& exit_code) {
  CLI::App* golden = program.add_subcommand("golden", "Golden vectors: verify, write, make, show");
  golden->require_subcommand(1);
  AddVerify(*golden, exit_code);
  AddWrite(*golden, exit_code);
  AddMake(*golden, exit_code);
  AddShow(*golden, exit_code);
}

}  // namespace posgauge::cli
