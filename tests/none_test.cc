#include <gtest/gtest.h>

#include "attention_values.h"

namespace posgauge {
namespace {

using Q = AttentionQuantity;

// One head of one channel, q = k = v = x.
NamedInputs Equal(const std::vector<double>& x) {
  const auto rows = static_cast<int64_t>(x.size());
  const ExactTensor tensor{{rows, 1, 1}, x};
  return {{{"query_positions", Consecutive(rows)},
           {"key_positions", Consecutive(rows)},
           {"q", tensor},
           {"k", tensor},
           {"v", tensor}}};
}

Scheme None(const std::string& causal) {
  return ParseScheme("none", {"heads=1", "head_dim=1", "causal=" + causal});
}

// Thirty digits by mpmath, from the definition of softmax.
TEST(none, WithoutMaskAPermutationOfTokensPermutesTheOutput) {
  ExpectPrinted(None("false"), Q::attention, Equal({0, 1, 2}),
                {"1", "1.57521038260444143153099617869", "1.85093709222086810482164624078"});
  ExpectPrinted(None("false"), Q::attention, Equal({2, 0, 1}),
                {"1.85093709222086810482164624078", "1", "1.57521038260444143153099617869"});
}

TEST(none, TheCausalMaskAloneTellsPositionsApart) {
  ExpectPrinted(None("true"), Q::attention, Equal({0, 1, 2}),
                {"0", "0.731058578630004879251159241822", "1.85093709222086810482164624078"});
  ExpectPrinted(None("true"), Q::attention, Equal({2, 0, 1}),
                {"2", "1", "1.57521038260444143153099617869"});
}

TEST(none, HasScoresAndAttentionOnly) {
  const ExactAttention exact(None("true"));
  for (const Q quantity : {Q::slopes, Q::buckets, Q::bias}) {
    EXPECT_FALSE(exact.Yields(quantity));
    EXPECT_EQ(Refusal([&] { exact.CheckInputs(quantity, {}); }),
              "none has no " + std::string(VariantName(quantity)));
  }
}

}  // namespace
}  // namespace posgauge
