#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// What a kernel answered, or a file holds, before anything is known of its scheme.
struct Answers {
  std::string source;    // a kernel's name, a file's path
  std::string quantity;  // as in posgauge/kernel.h; of a table of waves `rows`
  /// Inputs and outputs by their names in posgauge/kernel.h: x and out [tokens, heads, head_dim];
  /// cos and sin [tokens, pairs], or [tokens, channels] with every pair twice; rows [tokens,
  /// width]; frequency [pairs]; slopes [heads]; buckets [queries, keys]; bias [heads, queries,
  /// keys].
  std::map<std::string, Tensor> tensors;
  std::vector<double> positions;  // [tokens]
  std::vector<double> query_positions, key_positions;
  std::vector<std::string> handed_over;  // stages that posgauge supplied: not the kernel's own
  bool row_shift = false;                // rows of biases are known up to a number each
  std::optional<int64_t> head_dim;       // of attention, where it is known
  std::optional<int64_t> num_buckets;    // of a bias table that was handed over

  const Tensor* Find(const std::string& name) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
  }
};

/// Asks a kernel what tells schemes apart: unit vectors for every channel, at 0 and 2^k and their
/// neighbours up to `largest`; biases by tables that number their buckets. `told` is the scheme by
/// whose parameters it is called. Throws Unsupported, KernelFailure, ParameterError.
Answers AskKernel(const KernelInfo& info, const Scheme& told, double largest);

/// From tensors on disk: which quantity it is follows from their names. Positions that are not
/// there count from 0. Throws FileError, and FormatError that begins with the path.
Answers ReadAnswers(const std::filesystem::path& path);

}  // namespace posgauge
