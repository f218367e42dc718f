#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/verify/case_file.h"
#include "posgauge/verify/kernel_info.h"

namespace posgauge {

/// A case of any kind as numbers by name: `positions` and `x` of rotations and added rows, else the
/// inputs of the quantity. What a search for a smaller case works on.
struct PlainCase {
  Scheme scheme;
  NamedInputs inputs;

  static PlainCase Of(const CaseFile& file);
  /// As the kernel is asked it; x in its io dtype.
  CaseFile ToFile(const KernelInfo& info) const;
};

/// Tensors whose first extent is one count of tokens: positions and x; queries; keys.
std::vector<std::vector<std::string>> TokenGroups(const PlainCase& plain);

/// With these tokens of a group alone, in their order.
PlainCase WithTokens(const PlainCase& plain, const std::vector<std::string>& group,
                     const std::vector<size_t>& tokens);

/// Tensors that hold values, not positions.
std::vector<std::string> ValueTensors(const PlainCase& plain);

/// Heads of an x [tokens, heads, head_dim]; 0 where heads belong to the scheme, or to nothing.
int64_t CallHeads(const PlainCase& plain);
PlainCase WithHeads(const PlainCase& plain, int64_t heads);

/// The scheme with fields of these values. Lists that have an entry a pair, or that sum to the
/// pairs, follow the width. Nothing where there is no such scheme.
std::optional<Scheme> WithFields(const Scheme& scheme, const nlohmann::ordered_json& fields);

/// The case under other parameters: of tensors that became smaller the first entries of each
/// extent. Nothing where one would have to grow, or there is no such quantity.
std::optional<PlainCase> UnderScheme(const PlainCase& plain, const Scheme& scheme,
                                     std::string_view quantity);

}  // namespace posgauge
