#include "posgauge/golden/check.h"

#include <algorithm>
#include <optional>
#include <set>

#include "posgauge/golden/generate.h"
#include "posgauge/golden/sha256.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::golden {

namespace {

// "[3, 17]"
std::string Index(size_t flat, const std::vector<int64_t>& shape) {
  std::vector<size_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % static_cast<size_t>(shape[axis]);
    flat /= static_cast<size_t>(shape[axis]);
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string Shown(const Tensor& tensor, size_t index) {
  if (!IsFloat(tensor.dtype())) return fmt::format("{}", tensor.Value(index));
  return fmt::format("{} (0x{:0{}x})", HexFloat(tensor.Value(index)), tensor.Bits(index),
                     2 * SizeOf(tensor.dtype()));
}

std::optional<std::string> FirstDifference(const Tensor& stored, const Tensor& regenerated) {
  for (size_t i = 0; i < stored.size(); ++i) {
    if (stored.Bits(i) == regenerated.Bits(i)) continue;
    return fmt::format("{}: stored {}, regenerated {}", Index(i, stored.shape()), Shown(stored, i),
                       Shown(regenerated, i));
  }
  return std::nullopt;
}

std::optional<std::string> FirstDifference(const Manifest& stored, const Manifest& regenerated) {
  for (size_t i = 0; i < stored.cases.size(); ++i) {
    const Case& golden_case = stored.cases[i];
    for (const std::string& name : OutputsOf(stored.scheme, golden_case.quantity)) {
      for (Dtype dtype : golden_case.dtypes) {
        const Rounding& old = golden_case.outputs.at(name).at(dtype);
        const Rounding& now = regenerated.cases[i].outputs.at(name).at(dtype);
        const std::string place = fmt::format("case {}, {}, {}", golden_case.id, Name(dtype), name);
        if (auto what = FirstDifference(old.values, now.values)) return place + *what;
        if (auto what = FirstDifference(old.distances, now.distances)) {
          return place + " distance" + *what;
        }
      }
    }
  }
  return std::nullopt;
}

std::string FirstDifferentLine(const std::string& stored, const std::string& regenerated) {
  size_t begin = 0, line = 1;
  const auto at = static_cast<size_t>(
      std::mismatch(stored.begin(), stored.end(), regenerated.begin(), regenerated.end()).first -
      stored.begin());
  for (size_t i = 0; i < at; ++i) {
    if (stored[i] != '\n') continue;
    begin = i + 1;
    ++line;
  }
  const auto rest = [&](const std::string& text) {
    return text.substr(begin, std::min(text.find('\n', begin), begin + 100) - begin);
  };
  return fmt::format("line {}: stored '{}', regenerated '{}'", line, rest(stored),
                     rest(regenerated));
}

}  // namespace

void CheckFiles(const Files& stored_files, const std::filesystem::path& path, Check& check) {
  const std::string file = path.string();
  const auto differs = [&](const std::string& what) { check.differences.push_back({file, what}); };
  ++check.files;

  const std::string hash = PayloadHash(stored_files, file), actual = Sha256(stored_files.payload);
  if (hash != actual) differs(fmt::format("payload.sha256: stored {}, actual {}", hash, actual));
  Manifest stored;
  try {
    stored = Decode(stored_files, file);
  } catch (const FormatError& error) {
    // A payload that is not the one the manifest speaks of need not be readable.
    if (hash == actual) throw;
    return differs(std::string(error.what()).substr(file.size() + 2));  // without "file: "
  }

  for (const Case& golden_case : stored.cases) {
    ++check.cases;
    for (const auto& [name, roundings] : golden_case.outputs) {
      for (const auto& [dtype, rounding] : roundings) {
        check.values += static_cast<int64_t>(rounding.values.size());
      }
    }
    check.proof.Merge(ProofOf(golden_case));
  }

  Manifest regenerated = stored;
  try {
    Compute(regenerated);
  } catch (const ParameterError& error) {
    throw FormatError(fmt::format("{}: {}", file, error.what()));
  }
  if (const auto what = FirstDifference(stored, regenerated)) return differs(*what);
  const Files files = Encode(regenerated, path.stem().string() + PayloadEnding(stored_files, file));
  if (files.manifest != stored_files.manifest) {
    differs(FirstDifferentLine(stored_files.manifest, files.manifest));
  } else if (files.payload != stored_files.payload) {
    differs("the payload is not in the canonical encoding");
  }
}

Check CheckGolden(const std::filesystem::path& root) {
  Check check;
  std::error_code ignored;
  if (!std::filesystem::is_directory(root, ignored)) {
    CheckFiles(ReadFiles(root), root, check);
    return check;
  }
  std::set<std::filesystem::path> payloads;
  for (std::string_view ending : kPayloadEndings) {
    for (std::filesystem::path& path : FilesIn(root, ending)) payloads.insert(std::move(path));
  }
  for (const std::filesystem::path& path : FilesIn(root, ".json")) {
    const Files files = ReadFiles(path);
    CheckFiles(files, path, check);
    payloads.erase(
        std::filesystem::path(path).replace_extension(PayloadEnding(files, path.string())));
  }
  for (const std::filesystem::path& path : payloads) {
    check.differences.push_back({path.string(), "no manifest names it"});
  }
  return check;
}

}  // namespace posgauge::golden
