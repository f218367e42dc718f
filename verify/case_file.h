#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/safetensors.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// What a kernel is asked, on disk: a safetensors file whose metadata `posgauge_case` holds the
/// scheme and the quantity (an npz file that has them in an array of bytes of that name), with
/// tensors `positions` (F64, [tokens], or [tokens, axes] where the
/// scheme counts several) and, but for a table, `x` in the io dtype: [tokens, heads, head_dim] for
/// rotate and rotate_backward, [tokens, width] for embed. Of a scheme of attention the tensors are
/// the inputs of the quantity by their names, F64.
struct CaseFile {
  Scheme scheme;
  std::string quantity;  // "table", "rotate", "rotate_backward", "embed"; or one of attention
  std::vector<double> positions;
  Tensor x;
  NamedInputs inputs;  // of a scheme of attention, in place of the two

  bool operator==(const CaseFile&) const = default;
};

/// The content of such a file.
Safetensors TensorsOfCase(const CaseFile& case_file);

/// Inverse. Throws FormatError that begins with `path`.
CaseFile CaseFromTensors(const Safetensors& tensors, const std::string& path);

/// Whether the file's metadata has a case; the same errors as of reading it.
bool IsCaseFile(const std::filesystem::path& path);

/// Throws FileError and FormatError that begins with the path.
CaseFile ReadCaseFile(const std::filesystem::path& path);
/// As npz where the path ends so.
void WriteCaseFile(const std::filesystem::path& path, const CaseFile& case_file);

}  // namespace posgauge
