#include "posgauge/golden/manifest.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "posgauge/golden/sha256.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::golden {

namespace {

// The tensor's shape with the extent of each named axis, -1 standing for any.
void RequireShape(const Case& golden_case, const std::string& name,
                  const std::vector<int64_t>& wanted) {
  const std::vector<int64_t>& shape = golden_case.inputs.at(name).shape();
  const bool fits =
      std::equal(shape.begin(), shape.end(), wanted.begin(), wanted.end(),
                 [](int64_t extent, int64_t want) { return want < 0 || extent == want; });
  Require(fits, "{}: {} must have the shape [{}], got [{}]", golden_case.id, name,
          fmt::join(wanted, ", "), fmt::join(shape, ", "));
}

// Tokens of an input of positions, each finite: [tokens], or [tokens, axes] where there are
// several.
int64_t RequirePositions(const Scheme& scheme, const Case& golden_case, const std::string& name) {
  std::vector<int64_t> wanted = {-1};
  if (const int64_t axes = AxesOf(scheme).count; axes > 1) wanted.push_back(axes);
  RequireShape(golden_case, name, wanted);
  const Tensor& positions = golden_case.inputs.at(name);
  for (double position : positions.Values()) {
    Require(std::isfinite(position), "{}: {} must be finite, got {}", golden_case.id, name,
            position);
  }
  return positions.shape()[0];
}

// Heads of an input [tokens, heads, head_dim].
int64_t RequireRows(const Scheme& scheme, const Case& golden_case, const std::string& name,
                    int64_t tokens) {
  RequireShape(golden_case, name, {tokens, -1, RotaryOf(scheme).head_dim});
  return golden_case.inputs.at(name).shape()[1];
}

}  // namespace

namespace {

// Nothing where no scheme that is given by equations has such a quantity.
std::optional<EquationQuantity> OfEquations(Quantity quantity) {
  const auto& names = kVariantNames<EquationQuantity>;
  const auto at = std::ranges::find(names, VariantName(quantity));
  if (at == names.end()) return std::nullopt;
  return static_cast<EquationQuantity>(at - names.begin());
}

}  // namespace

std::vector<std::string> InputsOf(const Scheme& scheme, Quantity quantity) {
  if (HasEquations(scheme)) {
    std::vector<std::string> names;
    if (const auto asked = OfEquations(quantity)) {
      for (const Weight& input : ExactEquations(scheme).InputsOf(*asked)) {
        names.emplace_back(input.name);
      }
    }
    return names;
  }
  switch (quantity) {
    case Quantity::frequencies:
    case Quantity::magnitude:
      return {};
    case Quantity::table:
      return {"positions"};
    case Quantity::rotate:
    case Quantity::rotate_backward:
    case Quantity::embed:
      return {"positions", "x"};
    case Quantity::scores:
      return {"query_positions", "key_positions", "q", "k", "scale"};
    default:
      return {};
  }
}

std::vector<std::string> OutputsOf(const Scheme& scheme, Quantity quantity) {
  if (HasEquations(scheme)) {
    const ExactEquations exact(scheme);
    const auto asked = OfEquations(quantity);
    std::vector<std::string_view> yielded;
    for (size_t i = 0; i < kVariantNames<EquationQuantity>.size(); ++i) {
      if (exact.Yields(static_cast<EquationQuantity>(i))) {
        yielded.push_back(kVariantNames<EquationQuantity>[i]);
      }
    }
    Require(asked && exact.Yields(*asked), "{} has no {}: it has {}", Name(scheme),
            VariantName(quantity), fmt::join(yielded, ", "));
    return {std::string(OutputName(*asked))};
  }
  const bool rotary = IsRotary(scheme);
  const bool has = quantity == Quantity::frequencies || quantity == Quantity::table ||
                   (quantity == Quantity::embed ? !rotary : rotary && quantity < Quantity::embed);
  Require(has, "{} has no {}: it has {}", Name(scheme), VariantName(quantity),
          rotary ? "frequencies, magnitude, table, rotate, rotate_backward and scores"
                 : "frequencies, table and embed");
  switch (quantity) {
    case Quantity::frequencies:
      return {"frequencies"};
    case Quantity::magnitude:
      return {"magnitude", "softmax_multiplier"};
    case Quantity::table:
      return rotary ? std::vector<std::string>{"cos", "sin"} : std::vector<std::string>{"rows"};
    case Quantity::rotate:
    case Quantity::rotate_backward:
    case Quantity::embed:
      return {"out"};
    case Quantity::scores:
      return {"scores"};
    default:
      return {};
  }
}

std::vector<int64_t> OutputShape(const Scheme& scheme, const Case& golden_case) {
  if (HasEquations(scheme)) {
    return ExactEquations(scheme).CheckInputs(OfEquations(golden_case.quantity).value(),
                                              NamedInputsOf(golden_case));
  }
  const auto shape = [&](const char* name) { return golden_case.inputs.at(name).shape(); };
  switch (golden_case.quantity) {
    case Quantity::frequencies:
      return {FrequencyCount(scheme)};
    case Quantity::magnitude:
      return {1};
    case Quantity::table:
      return {shape("positions")[0], IsRotary(scheme) ? FrequencyCount(scheme) : WidthOf(scheme)};
    case Quantity::rotate:
    case Quantity::rotate_backward:
    case Quantity::embed:
      return shape("x");
    case Quantity::scores:
      return {shape("q")[1], shape("q")[0], shape("k")[0]};
    default:
      return {};
  }
}

ProofCounts ProofOf(const Case& golden_case) {
  ProofCounts proof;
  for (const auto& [output, roundings] : golden_case.outputs) {
    for (const auto& [dtype, rounding] : roundings) proof.Merge(rounding.proof);
  }
  return proof;
}

std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& folder,
                                           std::string_view extension) {
  std::vector<std::filesystem::path> files;
  try {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == extension) files.push_back(entry.path());
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw FileError(fmt::format("{}: cannot list: {}", folder.string(), error.code().message()));
  }
  std::ranges::sort(files);
  return files;
}

NamedInputs NamedInputsOf(const Case& golden_case) {
  NamedInputs inputs;
  for (const auto& [name, tensor] : golden_case.inputs) {
    inputs.tensors[name] = {tensor.shape(), tensor.Values()};
  }
  return inputs;
}

void CheckInputs(const Scheme& scheme, const Case& golden_case) {
  const std::vector<std::string> names = InputsOf(scheme, golden_case.quantity);
  try {
    OutputsOf(scheme, golden_case.quantity);
  } catch (const ParameterError& error) {
    throw ParameterError(fmt::format("{}: {}", golden_case.id, error.what()));
  }
  const std::string_view quantity = VariantName(golden_case.quantity);
  for (const auto& [name, tensor] : golden_case.inputs) {
    Require(std::ranges::find(names, name) != names.end(), "{}: {} is not an input of {}",
            golden_case.id, name, quantity);
    Require(tensor.dtype() == Dtype::f64, "{}: {} must be of dtype f64, got {}", golden_case.id,
            name, Name(tensor.dtype()));
  }
  for (const std::string& name : names) {
    Require(golden_case.inputs.contains(name), "{}: the input {} of {} is missing", golden_case.id,
            name, quantity);
  }
  const bool integers = golden_case.quantity == Quantity::buckets;
  Require(std::ranges::all_of(golden_case.dtypes,
                              [&](Dtype dtype) { return integers == (dtype == Dtype::i32); }),
          "{}: the dtypes of {} must be {}", golden_case.id, quantity,
          integers ? "i32" : "floating");
  if (HasEquations(scheme)) {
    try {
      OutputShape(scheme, golden_case);
    } catch (const ParameterError& error) {
      throw ParameterError(fmt::format("{}: {}", golden_case.id, error.what()));
    }
    return;
  }
  switch (golden_case.quantity) {
    case Quantity::frequencies:
    case Quantity::magnitude:
      break;
    case Quantity::table:
      RequirePositions(scheme, golden_case, "positions");
      break;
    case Quantity::rotate:
    case Quantity::rotate_backward:
      RequireRows(scheme, golden_case, "x", RequirePositions(scheme, golden_case, "positions"));
      break;
    case Quantity::embed:
      RequireShape(golden_case, "x",
                   {RequirePositions(scheme, golden_case, "positions"), WidthOf(scheme)});
      break;
    case Quantity::scores: {
      const int64_t heads = RequireRows(scheme, golden_case, "q",
                                        RequirePositions(scheme, golden_case, "query_positions"));
      const int64_t key_heads = RequireRows(scheme, golden_case, "k",
                                            RequirePositions(scheme, golden_case, "key_positions"));
      Require(heads == key_heads, "{}: q and k must have the same heads, got {} and {}",
              golden_case.id, heads, key_heads);
      RequireShape(golden_case, "scale", {1});
      break;
    }
    default:
      break;  // given by equations
  }
}

void WriteFiles(const std::filesystem::path& stem, const Files& files) {
  WriteFileAtomically(stem.string() + ".safetensors", files.payload);
  WriteFileAtomically(stem.string() + ".json", files.manifest);
}

Manifest ReadManifest(const std::filesystem::path& path) {
  const Files files = ReadFiles(path);
  const std::string stored = PayloadHash(files, path.string()), actual = Sha256(files.payload);
  if (stored != actual) {
    throw FormatError(fmt::format("{}: payload.sha256 is {}, but the payload's is {}",
                                  path.string(), stored, actual));
  }
  return Decode(files, path.string());
}

}  // namespace posgauge::golden
