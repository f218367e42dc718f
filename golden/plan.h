#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// A manifest to make, its outputs still empty, and its name: the file stem within its scheme's
/// folder.
struct PlannedManifest {
  std::string name;
  Manifest manifest;
};

/// Reads flags.json: every flag with its note. Throws FileError and FormatError.
std::map<std::string, Note> ReadNotes(const std::filesystem::path& path);

/// Reads a hand-written plan, golden/SCHEME.json; docs/golden-format.md describes it. Model configs
/// are taken from `models`. Every case has at least one flag, all defined in `notes`. Throws
/// FileError and FormatError.
std::vector<PlannedManifest> ReadPlan(const std::filesystem::path& path,
                                      const std::filesystem::path& models,
                                      const std::map<std::string, Note>& notes);

/// Manifests of posgauge in `folder` that none of the plan's is: left by an earlier plan. Sorted;
/// files that do not say that posgauge made them are nobody's business.
std::vector<std::filesystem::path> UnplannedManifests(const std::filesystem::path& folder,
                                                      const std::vector<PlannedManifest>& plan);

/// Every plan of a folder that holds flags.json, SCHEME.json and models/: by scheme's word.
std::map<std::string, std::vector<PlannedManifest>> ReadPlans(const std::filesystem::path& folder);

}  // namespace posgauge::golden
