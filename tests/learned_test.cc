#include "posgauge/properties/learned.h"

#include <gtest/gtest.h>

#include "attention_values.h"
#include "given_rows_checks.h"

namespace posgauge::learned {
namespace {

using Q = EquationQuantity;

// Rows that tell their own number: channel c of row r holds r + c/4.
ExactTensor Numbered(int64_t rows, int64_t width) {
  ExactTensor table{{rows, width}, {}};
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t c = 0; c < width; ++c) {
      table.values.push_back(static_cast<double>(row) + static_cast<double>(c) / 4);
    }
  }
  return table;
}

std::vector<double> RowNumbers(const Scheme& scheme, const std::vector<double>& positions) {
  const auto& params = std::get<Params>(scheme);
  const NamedInputs inputs{
      {{"positions", List(positions)}, {"table", Numbered(params.rows, params.width)}}};
  const RoundedValues values = ExactEquations(scheme).Evaluate(Q::table, inputs, Dtype::f64);
  std::vector<double> rows;
  for (size_t i = 0; i < values.values.size(); i += static_cast<size_t>(params.width)) {
    rows.push_back(values.values[i]);
    EXPECT_EQ(values.proofs[i], Proof::exact);
  }
  return rows;
}

std::string RefusedAt(const Scheme& scheme, double position) {
  return Refusal([&] { RowNumbers(scheme, {position}); });
}

// ids (7, 9, 1, 5, 1) with padding_idx 1: fairseq's make_positions.
TEST(learned, RobertaRowsOfPaddedTokens) {
  const Scheme roberta = ParseScheme("learned", {"width=2", "rows=514", "offset=2"});
  std::vector<bool> is_token;
  for (int id : {7, 9, 1, 5, 1}) is_token.push_back(id != 1);
  EXPECT_EQ(RowNumbers(roberta, PositionsOfTokens(is_token)), (std::vector<double>{2, 3, 1, 4, 1}));
}

// Mask (0, 0, 1, 1, 1): cumsum(mask) mask - 1, plus 2.
TEST(learned, OptRowsOfMaskedTokens) {
  const Scheme opt = ParseScheme("learned", {"width=2", "rows=514", "offset=2"});
  EXPECT_EQ(RowNumbers(opt, PositionsOfTokens({false, false, true, true, true})),
            (std::vector<double>{1, 1, 2, 3, 4}));
}

TEST(learned, LastRowIsReadAndTheNextOneRefused) {
  const Scheme roberta = ParseScheme("learned", {"width=2", "rows=514", "offset=2"});
  EXPECT_EQ(RowNumbers(roberta, {511}), std::vector<double>{513});
  EXPECT_EQ(RefusedAt(roberta, 512), "positions must be in -2..511, got 512");
  EXPECT_EQ(RefusedAt(roberta, -3), "positions must be in -2..511, got -3");
  EXPECT_EQ(RefusedAt(roberta, 0x1p32), "positions must be in -2..511, got 4294967296");
  EXPECT_EQ(RefusedAt(roberta, 0x1p53),
            "positions must be whole numbers below 2^53, got 9007199254740992");
  EXPECT_EQ(RefusedAt(roberta, 0.5), "positions must be whole numbers below 2^53, got 0.5");
}

TEST(learned, BeyondZeroExtendsTheTable) {
  const Scheme zero = ParseScheme("learned", {"width=2", "rows=4", "beyond=zero"});
  EXPECT_EQ(RowNumbers(zero, {3, 4, 0x1p40}), (std::vector<double>{3, 0, 0}));
  EXPECT_EQ(RefusedAt(zero, -1), "positions must be at least 0, got -1");
}

TEST(learned, PaddingIndexIsARowOfZeros) {
  const Scheme padded =
      ParseScheme("learned", {"width=2", "rows=8", "offset=2", "padding_index=1"});
  EXPECT_EQ(RowNumbers(padded, {-1, 0}), (std::vector<double>{0, 2}));
}

TEST(learned, OffsetIsAShiftOfPositions) {
  const Scheme opt = ParseScheme("learned", {"width=2", "rows=8", "offset=2"});
  const Scheme plain = ParseScheme("learned", {"width=2", "rows=8"});
  EXPECT_EQ(RowNumbers(opt, {0, 1, 5}), RowNumbers(plain, {2, 3, 7}));
}

// 1 + 2^-24 is halfway between two numbers of binary32, and goes to the even one; 1 + 3 2^-24 too.
TEST(learned, SumIsRoundedOnce) {
  const Scheme scheme = ParseScheme("learned", {"width=2", "rows=1"});
  const NamedInputs inputs{{{"positions", List({0})},
                            {"x", {{1, 2}, {1, 1 + 0x1p-23}}},
                            {"table", {{1, 2}, {0x1p-24, 0x1p-24}}}}};
  const RoundedValues sums = ExactEquations(scheme).Evaluate(Q::embed, inputs, Dtype::f32);
  EXPECT_EQ(sums.values, (std::vector<double>{1, 1 + 0x1p-22}));
  EXPECT_EQ(sums.counts.undecided, 0);
}

TEST(learned, ParametersThatMeanNothingAreRefused) {
  const auto refused = [](const std::vector<std::string>& settings) {
    return Refusal([&] { ParseScheme("learned", settings); });
  };
  EXPECT_EQ(refused({"rows=0"}), "learned.rows must be in 1..2796202, got 0");
  EXPECT_EQ(refused({"width=65537"}), "learned.width must be in 1..65536, got 65537");
  EXPECT_EQ(refused({"rows=4", "offset=4"}), "learned.offset must be in 0..3 (rows - 1), got 4");
  EXPECT_EQ(refused({"rows=4", "padding_index=4"}),
            "learned.padding_index must be in 0..3 (rows - 1), got 4");
}

TEST(learned, GoodKernelsKeepTheirContractsAndLaws) {
  for (const std::vector<std::string>& settings :
       std::vector<std::vector<std::string>>{{"width=20", "rows=40"},
                                             {"width=7", "rows=40", "offset=2"},
                                             {"width=16", "rows=9", "offset=2", "padding_index=1"},
                                             {"width=5", "rows=9", "beyond=zero"}}) {
    ExpectGoodKernels(ParseScheme("learned", settings));
  }
}

TEST(learned, FaultyKernelsAreFound) {
  const Scheme scheme =
      ParseScheme("learned", {"width=8", "rows=40", "offset=2", "padding_index=4"});
  ExpectFound(scheme, {{"unstable", "determinism"},
                       {"row_behind", "contract gather"},
                       {"positions_alike", "contract rows gather"},
                       {"offset_missing", "contract gather"},
                       {"clamps", "refusal"},
                       {"padding_read", "padding"},
                       {"nan_spreads", "unread_rows"}});
}

TEST(learned, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(AnyParams())); }

TEST(learned, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge::learned
