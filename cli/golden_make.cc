// posgauge golden write | new: from plans, or from a model's config or a scheme.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "posgauge/cli/check_options.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_record.h"
#include "posgauge/cli/scheme_options.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/plan.h"
#include "posgauge/golden/tensor_name.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Written {
  std::string file;
  size_t cases = 0, bytes = 0;
  ProofCounts proof;
};

// Computes and writes FOLDER/NAME.json and .safetensors.
Written Write(Manifest& manifest, const fs::path& folder, const std::string& name) {
  manifest.generator = kGeneratorName;
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
  for (const Case& golden_case : manifest.cases) written.proof.Merge(ProofOf(golden_case));
  return written;
}

int Report(const std::vector<Written>& all, const std::vector<std::string>& removed, bool json) {
  ordered_json record{{"version", 1}, {"written", ordered_json::array()}, {"removed", removed}};
  for (const Written& written : all) {
    record["written"].push_back({{"file", written.file},
                                 {"cases", written.cases},
                                 {"bytes", written.bytes},
                                 {"proof", ProofRecord(written.proof)}});
    if (!json) {
      fmt::print("{}: {} cases, {} bytes, {}\n", written.file, written.cases, written.bytes,
                 ProofText(written.proof));
    }
  }
  if (json) {
    fmt::print("{}\n", record.dump(2));
  } else {
    for (const std::string& file : removed) fmt::print("{}: removed, no plan names it\n", file);
  }
  return all.empty() ? kNothingDone : kHolds;
}

// A manifest and the payload beside it.
void Remove(const fs::path& manifest) {
  for (const fs::path& path : {manifest, fs::path(manifest).replace_extension(".safetensors")}) {
    std::error_code error;
    fs::remove(path, error);
    if (error)
      throw FileError(fmt::format("{}: cannot remove: {}", path.string(), error.message()));
  }
}

struct WriteOptions {
  std::string plans = "golden";
  std::string out = "golden/vectors";
  bool json = false;
};

int WritePlans(const WriteOptions& options) {
  std::vector<Written> all;
  std::vector<std::string> removed;
  for (auto& [word, manifests] : ReadPlans(options.plans)) {
    const fs::path folder = fs::path(options.out) / word;
    for (PlannedManifest& planned : manifests) {
      all.push_back(Write(planned.manifest, folder, planned.name));
    }
    if (!fs::exists(folder)) continue;  // a plan of no manifest
    for (const fs::path& path : UnplannedManifests(folder, manifests)) {
      Remove(path);
      removed.push_back(path.string());
    }
  }
  return Report(all, removed, options.json);
}

struct MakeOptions {
  SchemeOptions scheme;
  std::vector<std::string> quantities;  // none: those of the scheme's kind
  std::vector<std::string> positions;
  std::vector<std::string> dtypes = {"f64", "f32", "bf16", "f16"};
  std::optional<int64_t> heads;
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

// "3/4/5" as one number an axis.
std::vector<double> ParseAxes(const std::string& word, int64_t axes) {
  std::vector<double> position;
  for (size_t begin = 0;;) {
    const size_t end = word.find('/', begin);
    position.push_back(ParsePosition(word.substr(begin, end - begin)));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  Require(static_cast<int64_t>(position.size()) == axes,
          "--positions must have {} for {}, got '{}'",
          axes == 1 ? "one number" : fmt::format("{} numbers, one an axis", axes),
          axes == 1 ? "a scheme of one axis" : "this scheme", word);
  return position;
}

// "0", "131071", "-0.5", "0:128" (0 to 127); of several axes the same on each, or "3/4/5".
std::vector<double> ParsePositions(const std::vector<std::string>& words, int64_t axes) {
  constexpr double kMostPositions = 1 << 20;
  std::vector<double> positions;
  const auto on_every_axis = [&](double position) {
    positions.insert(positions.end(), static_cast<size_t>(axes), position);
  };
  for (const std::string& word : words) {
    const size_t colon = word.find(':');
    if (word.find('/') != std::string::npos) {
      std::ranges::copy(ParseAxes(word, axes), std::back_inserter(positions));
      continue;
    }
    if (colon == std::string::npos) {
      on_every_axis(ParsePosition(word));
      continue;
    }
    const double first = ParsePosition(word.substr(0, colon));
    const double end = ParsePosition(word.substr(colon + 1));
    Require(first < end && end - first <= kMostPositions && std::fabs(first) <= 0x1p53 &&
                std::fabs(end) <= 0x1p53,
            "--positions FIRST:END must ascend by at most {}, got {}", kMostPositions, word);
    for (double position = first; position < end; ++position) on_every_axis(position);
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
  std::set<Dtype> dtypes;  // widest first
  for (const std::string& name : options.dtypes) dtypes.insert(ParseFloatDtype("--dtype", name));
  golden_case.dtypes.assign(dtypes.begin(), dtypes.end());
  if (quantity == Quantity::buckets) golden_case.dtypes = {Dtype::i32};
  const int64_t axes = AxesOf(scheme).count;
  const std::vector<double> positions = ParsePositions(options.positions, axes);
  const auto tokens = static_cast<int64_t>(positions.size()) / axes;
  OutputsOf(scheme, quantity);  // refuses what the scheme does not have
  for (const std::string& input : InputsOf(scheme, quantity)) {
    Tensor& tensor = golden_case.inputs[input];
    if (input == "scale") {
      const double head_dim = static_cast<double>(RotaryOf(scheme).head_dim);
      tensor = Tensor::FromValues(Dtype::f64, {1}, std::array{1 / std::sqrt(head_dim)});
    } else if (input.ends_with("positions")) {
      Require(tokens > 0, "--positions must be given for {}", VariantName(quantity));
      std::vector<int64_t> shape = {tokens};
      if (axes > 1) shape.push_back(axes);
      tensor = Tensor::FromValues(Dtype::f64, shape, positions);
    } else if (HasEquations(scheme)) {
      const auto asked = ParseVariant<EquationQuantity>("quantity", VariantName(quantity));
      for (Weight& weight : ExactEquations(scheme).InputsOf(asked)) {
        if (weight.name != input) continue;
        if (!weight.shape.empty() && weight.shape[0] < 0) weight.shape[0] = tokens;
        tensor = RandomWeight(weight, options.seed, fmt::format("{}/{}", golden_case.id, input));
      }
    } else {
      const std::vector<int64_t> shape =
          IsRotary(scheme)
              ? std::vector<int64_t>{tokens, options.heads.value_or(1), RotaryOf(scheme).head_dim}
              : std::vector<int64_t>{tokens, WidthOf(scheme)};
      tensor = RandomInput(shape, options.seed, fmt::format("{}/{}", golden_case.id, input));
    }
  }
  return golden_case;
}

int Make(const MakeOptions& options) {
  Require(options.heads.value_or(1) >= 1, "--heads must be at least 1, got {}", *options.heads);
  Require(options.name == IdOf(options.name),
          "--name must be lower-case letters and digits joined by '-', got '{}'", options.name);
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
    std::vector<std::string> quantities = options.quantities;
    if (quantities.empty() && IsRotary(group.scheme)) {
      quantities = {"frequencies", "magnitude", "table", "rotate"};
    } else if (quantities.empty() && ActsInAttention(group.scheme)) {
      const bool biased = ExactEquations(group.scheme).Yields(EquationQuantity::bias);
      quantities = {biased ? "bias" : "scores"};
    } else if (quantities.empty() && HasEquations(group.scheme)) {
      quantities = {"table", "embed"};
    } else if (quantities.empty()) {
      quantities = {"frequencies", "table", "embed"};
    }
    Require(options.heads.value_or(1) == 1 || IsRotary(group.scheme),
            "--heads is of rotations; {} has {}", Name(group.scheme),
            ActsInAttention(group.scheme) ? "its own: --set heads=N" : "no heads");
    for (const std::string& name : quantities) {
      manifest.cases.push_back(
          MakeCase(options, group.scheme, ParseVariant<Quantity>("--quantity", name)));
    }
    const std::string name = IdOf(model.groups.size() == 1 ? stem : stem + "-" + group.kind);
    Require(!name.empty(), "--name must be given: '{}' holds no letter or digit", stem);
    all.push_back(Write(manifest, options.out, name));
  }
  return Report(all, {}, options.json);
}

}  // namespace

void AddGoldenWrite(CLI::App& golden, int& exit_code) {
  CLI::App* command =
      golden.add_subcommand("write", "Make the shipped vectors from the plans of every scheme");
  auto options = std::make_shared<WriteOptions>();
  command->add_option("--plans", options->plans, "folder of flags.json, SCHEME.json and models/")
      ->capture_default_str();
  command->add_option("--out", options->out, "folder for SCHEME/NAME.json")->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = WritePlans(*options); });
}

void AddGoldenMake(CLI::App& golden, int& exit_code) {
  CLI::App* command = golden.add_subcommand("new", "Make vectors for a model or a scheme");
  command->alias("make");
  auto options = std::make_shared<MakeOptions>();
  options->scheme.AddTo(*command);
  command
      ->add_option(
          "--quantity", options->quantities,
          "frequencies, magnitude, table, rotate, rotate_backward, scores, embed, slopes, "
          "buckets, bias, attention; if not given frequencies, magnitude, table and rotate, "
          "or table and embed of rows, or bias, or scores where there is no bias")
      ->delimiter(',');
  command
      ->add_option(
          "--positions", options->positions,
          "numbers and ranges FIRST:END without END: 0:16,4095,4096,131071; of several axes "
          "the same on every one, or one an axis: 3/4/5")
      ->delimiter(',');
  command->add_option("--dtype", options->dtypes, "dtypes of the values")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--heads", options->heads, "heads of x, q and k of a rotation; default 1");
  command->add_option("--seed", options->seed, "seed of x, q and k")
      ->capture_default_str()
      ->check(WholeNumber());
  command->add_option("--out", options->out, "folder for the files")->required();
  command->add_option("--name", options->name,
                      "file name without extension: lower-case letters and digits joined by '-'");
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = Make(*options); });
}

}  // namespace posgauge::cli
