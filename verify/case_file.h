#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// What a kernel is asked, on disk: a safetensors file whose metadata `posgauge_case` holds the
/// scheme and the quantity, with tensors `positions` (F64, [tokens]) and, but for a table, `x` in
/// the io dtype: [tokens, heads, head_dim] for rotate and rotate_backward, [tokens, width] for
/// embed.
struct CaseFile {
  Scheme scheme;
  std::string quantity;  // "table", "rotate", "rotate_backward", "embed"
  std::vector<double> positions;
  Tensor x;
};

/// Throws FileError and FormatError that begins with the path.
CaseFile ReadCaseFile(const std::filesystem::path& path);
void WriteCaseFile(const std::filesystem::path& path, const CaseFile& case_file);

}  // namespace posgauge
