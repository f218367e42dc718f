#pragma once

#include <filesystem>
#include <vector>

#include "posgauge/golden/manifest.h"
#include "posgauge/verify/subject.h"
#include "posgauge/verify/verdict.h"

namespace posgauge::cli {

/// Golden vectors of a folder, read once, for any number of kernels.
class GoldenVectors {
 public:
  /// Reads every manifest below `folder`; none if it is empty. Throws FileError if the folder does
  /// not exist, and the errors of ReadManifest.
  explicit GoldenVectors(const std::filesystem::path& folder);

  /// How many manifests are for this very scheme, parameters included.
  size_t CountFor(const Scheme& scheme) const;

  /// Holds a kernel to the vectors of its scheme and quantity: its outputs for their inputs against
  /// their stored values, by the kernel's bound. One verdict a manifest, `unsupported` where the
  /// kernel serves no case of it; none where its inputs are not exact in the kernel's dtype.
  std::vector<Verdict> Check(const Subject& subject) const;

 private:
  struct Named {
    std::string name;
    golden::Manifest manifest;
  };
  std::vector<Named> manifests_;
};

}  // namespace posgauge::cli
