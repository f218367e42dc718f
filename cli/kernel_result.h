#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/check.h"

namespace posgauge::cli {

/// Everything that a gate found about one kernel on one group of layers.
struct KernelResult {
  const KernelInfo* info;
  KernelCheck check;
  std::vector<Verdict> laws, golden;
  std::vector<std::string> not_covered;  // stages that posgauge handed to it
  bool fails_alone = true;  // whether the first failing position does in a call of its own

  /// The verdict that keeps the kernel from counting as shown, if one does: `contract`, or
  /// `adequate` where that is required.
  const Verdict* Shortfall(bool adequate_is_required) const;
};

/// The head of a table of kernels, and a kernel's line in it; `width` is that of the longest name.
std::string SummaryHead(std::string_view title, size_t width);
std::string Summary(const KernelResult& result, size_t width);

/// The kernel's complete contract, for a kernel whose contract alone says too little: one that is
/// not adequate or has blind values; empty for others.
std::string ContractLine(const KernelResult& result);

/// "12.5 %": values that could not have failed, of those that tell something of an angle.
std::string BlindShare(const KernelCheck& check);

/// One of `kernels` in docs/verdicts.md.
nlohmann::ordered_json KernelJson(const KernelResult& result, const LayerGroup& group);

}  // namespace posgauge::cli
