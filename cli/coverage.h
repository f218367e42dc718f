#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "posgauge/cli/kernel_result.h"

namespace posgauge::cli {

/// What stands between kernels that were checked and a model that is covered: kernels that were not
/// shown to keep their contract, positions of the plan that a kernel does not serve, layers that
/// none serves, and stages that posgauge handed over and no kernel yields.
class Coverage {
 public:
  /// `waive`: a list of frequency, table, slopes, thresholds, range and layers, separated by
  /// commas: what the caller does without. Throws ParameterError for another word.
  explicit Coverage(const std::string& waive);

  /// The results of every kernel on one group of layers.
  void Add(const LayerGroup& group, const std::vector<KernelResult>& results,
           bool adequate_is_required);

  /// Checks of any kernel that were not run; nothing if there are none.
  void AddNotRun(int64_t checks);

  bool Complete() const { return missing_.empty(); }
  /// Each of what is missing, in words that say what would help.
  const std::vector<std::string>& missing() const { return missing_; }
  /// Each of what would be missing, had it not been waived.
  const std::vector<std::string>& waived() const { return waived_; }

 private:
  void Miss(const std::string& word, const std::string& what, const std::string& remedy);

  std::set<std::string> waive_;
  std::vector<std::string> missing_, waived_;
};

}  // namespace posgauge::cli
