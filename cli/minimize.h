#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "posgauge/cli/kernel_options.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/repro.h"

namespace posgauge::cli {

/// --minimize and --minimal-case: whether the smallest case that fails in the same way is looked
/// for, and where its files go.
struct MinimizeOptions {
  bool minimize = false;
  std::string folder;  // implies minimize; no files if empty

  void AddTo(CLI::App& command);
  bool Wanted() const { return minimize || !folder.empty(); }
};

/// A failed check that may be searched.
struct FailedCheck {
  const Subject& subject;
  const CheckPlan& plan;      // of which the check ran over every position
  ReproId id;                 // of the verdict
  std::string repro_options;  // what `posgauge repro` must be told beside an id
  std::string name;           // of its files
};

/// Of a verdict `contract` or `adequate` that fails: looks for the smallest case, writes it to the
/// folder, if there is one, and notes it in the verdict. Files appear whole: NAME.case.safetensors
/// and NAME.safetensors, as gate --dump writes cases and answers, and NAME.cc, a program
/// (cli/minimal_program.h). Throws FileError.
void MinimizeCase(const FailedCheck& failed, const MinimizeOptions& options, Verdict& verdict);

/// Of a law that fails: the fewest heads, the smallest largest position, default parameters and the
/// smallest widths at which its own plan of cases still fails. `others` as in CheckLawsOf; kernels
/// of other parameters are made from them.
void MinimizeLaw(const FailedCheck& failed, const std::vector<KernelInfo>& kernels,
                 Verdict& verdict);

}  // namespace posgauge::cli
