#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// All it takes to run one failing check again, as one word without characters that a shell minds:
///
///   contract/fast.rotate.bf16/llama3,factor=32.0/p131071/h4/s1
///
/// check, kernel, the scheme with the fields that differ from its defaults, positions (p: one; n: a
/// plan of so many up to so far, n2048-131071, and the length that the model was made for if it
/// says, n2048-131071-131072), heads, seed.
struct ReproId {
  std::string check, kernel;
  Scheme scheme;
  struct Plan {
    int64_t count = 0, largest = 0;
    std::optional<int64_t> model_length = std::nullopt;  // tokens
    bool operator==(const Plan&) const = default;
  };
  std::variant<double, Plan> positions;
  int64_t heads = 4;
  uint64_t seed = 1;

  /// The positions of the run that the id is about, in tokens; one, or those of its plan.
  std::vector<double> Positions() const;

  std::string Text() const;

  /// Throws ParameterError that says which part is wrong; of printable ASCII without blanks.
  static ReproId Parse(std::string_view text);
  bool operator==(const ReproId&) const = default;
};

}  // namespace posgauge
