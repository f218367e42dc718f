#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// Where a stored manifest is not what its inputs give.
struct Difference {
  std::string file;  // the manifest, or a payload that no manifest names
  std::string what;  // "case far, cos[3, 17], f32: stored -0x1.8c0494p-3, regenerated ..."
};

/// What a check of golden files found.
struct Check {
  int64_t files = 0, cases = 0, values = 0;
  ProofCounts proof;
  std::vector<Difference> differences;  // at most a few a file: the first of each kind
};

/// Checks the two files of one manifest: format, hash, and every output recomputed from the stored
/// inputs and compared, then both files byte for byte. `path` is the manifest's, for messages.
/// Cases that are not valid are recomputed with their departure. Throws FormatError for what cannot
/// be read.
void CheckFiles(const Files& stored_files, const std::filesystem::path& path, Check& check);

/// Checks a manifest, or every .json file under a folder, in the order of their paths; a
/// payload there that no manifest names is a difference. Throws FileError and
/// FormatError.
Check CheckGolden(const std::filesystem::path& root);

}  // namespace posgauge::golden
