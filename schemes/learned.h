#pragma once

#include <array>
#include <optional>
#include <vector>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::learned {

/// What a position beyond the table means: an error, or a row of zeros (tensor2tensor).
enum class Beyond { refuse, zero };

}  // namespace posgauge::learned

namespace posgauge {
template <>
inline constexpr auto kVariantNames<learned::Beyond> =
    std::array<std::string_view, 2>{"refuse", "zero"};
}  // namespace posgauge

namespace posgauge::learned {

/// A learned table: position p is the row p + offset. By model:
///
///   GPT-2, BERT             offset 0
///   OPT                     offset 2, rows = positions + 2
///   RoBERTa, fairseq        offset padding_idx + 1, rows = positions + padding_idx + 1
///   tensor2tensor           offset 0, beyond zero
///
/// A padding token is at position -1 (PositionsOfTokens): row 1 of OPT, row padding_idx of RoBERTa.
/// Gehring et al. 2017, arXiv:1705.03122, sec. 3.1; Devlin et al. 2019, arXiv:1810.04805, sec. 3.
struct Params {
  static constexpr std::string_view kName = "learned";
  static constexpr std::string_view kSummary = "rows of a learned table, added to embeddings";
  static constexpr std::string_view kEquation = "row of position p = table[p + offset]";
  static constexpr std::string_view kSource = "Gehring et al. 2017, arXiv:1705.03122, sec. 3.1";

  int64_t width = 768;
  int64_t rows = 512;
  int64_t offset = 0;
  std::optional<int64_t> padding_index = {};
  Beyond beyond = Beyond::refuse;

  std::optional<int64_t> PositionCount() const {
    return beyond == Beyond::refuse ? std::optional(rows - offset) : std::nullopt;
  }

  void Validate() const {
    RequireWidth(width);
    Require(rows >= 1 && rows <= kLargestElements / width, "rows must be in 1..{}, got {}",
            kLargestElements / width, rows);
    Require(offset >= 0 && offset < rows, "offset must be in 0..{} (rows - 1), got {}", rows - 1,
            offset);
    Require(padding_index.value_or(0) >= 0 && padding_index.value_or(0) < rows,
            "padding_index must be in 0..{} (rows - 1), got {}", rows - 1,
            padding_index.value_or(0));
  }

  std::vector<Weight> Weights() const { return {{"table", {rows, width}, "learned rows"}}; }

  /// Throws ParameterError unless every position has a row.
  void CheckPositions(const std::vector<double>& positions) const {
    RequireWholePositions(positions);
    for (double position : positions) {
      const double row = position + static_cast<double>(offset);
      if (beyond == Beyond::zero) {
        Require(row >= 0, "positions must be at least {}, got {}", -offset, position);
      } else {
        Require(row >= 0 && row < static_cast<double>(rows), "positions must be in {}..{}, got {}",
                -offset, rows - offset - 1, position);
      }
    }
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("width", self.width, "channels of a row");
    visit("rows", self.rows, "rows of the table");
    visit("offset", self.offset, "the row of position 0; 2 of OPT, padding_idx + 1 of RoBERTa");
    visit("padding_index", self.padding_index,
          "the row of this index counts as zeros, whatever the table holds");
    visit("beyond", self.beyond, "what a position beyond the table means");
  }
  bool operator==(const Params&) const = default;
};

/// The positions of a sequence in which some tokens are padding (1: a token, 0: padding): the n-th
/// token is at n, counted from 0, padding at -1. From the attention mask in OPT, from the tokens
/// that are not the padding token in RoBERTa.
inline std::vector<double> PositionsOfTokens(const std::vector<bool>& is_token) {
  std::vector<double> positions;
  double next = 0;
  for (const bool token : is_token) positions.push_back(token ? next++ : -1);
  return positions;
}

}  // namespace posgauge::learned
