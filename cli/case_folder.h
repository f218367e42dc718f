#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/case_file.h"
#include "posgauge/verify/check.h"

namespace posgauge::cli {

/// What names a case on disk, before its ending: "all.rotate.f32". What the command answers to it
/// has the same name.
std::string CaseName(const LayerGroup& group, const KernelInfo& info);
std::filesystem::path CasePath(const std::filesystem::path& folder, const std::string& name,
                               const std::string& format);

/// What a kernel is asked over the positions of a plan, as a gate asks it; of attention, where each
/// position is a call of its own, at the last position, which is the largest. Not of frequencies.
CaseFile CaseFor(const Subject& subject, const CheckPlan& plan);

/// The folder, with those above it. Throws FileError.
void MakeFolder(const std::filesystem::path& folder);

/// Writes the cases, one a quantity and dtype, and beside them what each kernel answered, as
/// `format`: safetensors or npz. Throws FileError.
void DumpCases(const std::filesystem::path& folder, const std::string& format,
               const LayerGroup& group, const std::vector<Subject>& subjects,
               const CheckPlan& plan);

}  // namespace posgauge::cli
