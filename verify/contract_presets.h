#pragma once

#include <span>
#include <string>
#include <string_view>

#include "posgauge/schemes/base/dtype.h"

namespace posgauge {

/// The arithmetic of a well-known implementation, by name: a contract line may begin with it. What
/// is known of it beyond the line, and how well, is in `about`.
struct ContractPreset {
  std::string_view name;
  std::string_view line;  // "{io}" is the dtype of the vectors
  std::string_view about;
};

/// All of them, in the order of docs/contracts.md.
std::span<const ContractPreset> ContractPresets();

/// The line of a preset for vectors of a dtype. Throws ParameterError that lists the names.
std::string PresetLine(std::string_view name, Dtype io);

}  // namespace posgauge
