#include "posgauge/properties/dual_chunk.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"
#include "posgauge/reference/dual_chunk.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// Chunks of five tokens.
Scheme DualChunk(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"heads=1", "head_dim=4", "scale=one", "chunk_size=8",
                                       "local_size=3"};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("dual_chunk", settings);
}

// One query (1, 2, 1/2, -1) and keys (1, -1, 2, 1/2).
NamedInputs At(double query, const std::vector<double>& keys) {
  NamedInputs inputs{{{"query_positions", List({query})},
                      {"key_positions", List(keys)},
                      {"q", {{1, 1, 4}, {1, 2, 0.5, -1}}},
                      {"k", {{static_cast<int64_t>(keys.size()), 1, 4}, {}}}}};
  for (size_t i = 0; i < keys.size(); ++i) {
    for (const double channel : {1.0, -1.0, 2.0, 0.5}) {
      inputs.tensors["k"].values.push_back(channel);
    }
  }
  return inputs;
}

// Thirty digits by mpmath; the offsets by hand from the definition.
TEST(dual_chunk, WorkedScoresOfEveryKindOfChunk) {
  // Its own chunk, 3 of 3; the one before, within local_size, 3 of 3.
  ExpectPrinted(DualChunk(), Q::scores, At(4, {1}), {"-4.26718006548355887207242515142"});
  ExpectPrinted(DualChunk(), Q::scores, At(7, {4}), {"-4.26718006548355887207242515142"});
  // The chunk before, farther: query at min(4 + 5, 8), offsets 4 of 5 and 8 of 9.
  ExpectPrinted(DualChunk(), Q::scores, At(9, {0, 4}),
                {"-1.29896696343870284746976430288", "-4.94049125134156105712372190329"});
  // Before that: query at min(2 5 - 1, 8), offsets 8 of 12 and 5 of 11.
  ExpectPrinted(DualChunk(), Q::scores, At(12, {0}), {"-1.29896696343870284746976430288"});
  ExpectPrinted(DualChunk(), Q::scores, At(14, {3}), {"-3.36793769205567079081363029410"});
}

// The query of the chunk before is not held to chunk_size, and the one before that starts there:
// offsets 9 of 9; 10 of 12, 6 of 8 and 9 of 11.
TEST(dual_chunk, WorkedScoresOfCriticalQueries) {
  const Scheme critical = DualChunk({"queries=critical"});
  ExpectPrinted(critical, Q::scores, At(9, {0}), {"-3.69396462843670475483427900240"});
  ExpectPrinted(critical, Q::scores, At(12, {0, 4}),
                {"-4.98168513768202403986375435793", "-0.994284023835667181995182792029"});
  ExpectPrinted(critical, Q::scores, At(14, {3}), {"-3.69396462843670475483427900240"});
}

// Counted over every pair of positions in six chunks, for several lengths.
TEST(dual_chunk, NoDistanceExceedsTheChunkSizeAndNearOnesAreKept) {
  for (const auto& [size, local] : {std::pair(8, 3), std::pair(8, 0), std::pair(8, 7),
                                    std::pair(1, 0), std::pair(9, 4), std::pair(10, 6)}) {
    const dual_chunk::Params params{.chunk_size = size, .local_size = local};
    const int stride = size - local;
    for (int query = 0; query < 6 * stride; ++query) {
      for (int key = 0; key <= query; ++key) {
        const double chunks = ChunksBetween(params, query, key);
        EXPECT_EQ(chunks, query / stride - key / stride);
        const double offset = QueryTurn(params, query, chunks) - KeyTurn(params, key);
        EXPECT_LE(offset, size);
        EXPECT_GE(offset, 0);
        // Chunks that are shorter than local_size keep no distance to those before the last.
        const bool is_kept = chunks == 0 || (chunks == 1 && query - key <= local);
        if (is_kept) {
          EXPECT_EQ(offset, query - key);
        }
        // No key of an earlier chunk is nearer than the nearest that is not local.
        if (chunks > 1) {
          EXPECT_GE(offset, std::min(size, 2 * stride - 1) - (stride - 1));
        }
      }
    }
  }
}

TEST(dual_chunk, ParametersAndPositionsOutsideTheirDomainAreRefused) {
  for (const std::string wrong : {"chunk_size=0", "local_size=8", "local_size=-1", "rotary_dim=3",
                                  "base=0", "queries=some", "causal=false"}) {
    EXPECT_NE(Refusal([&] { DualChunk({wrong}); }), "") << wrong;
  }
  const auto refusal = [](const NamedInputs& inputs) {
    return Refusal([&] { ExactEquations(DualChunk()).CheckInputs(Q::scores, inputs); });
  };
  EXPECT_EQ(refusal(At(2.5, {1})), "positions must be whole numbers below 2^53, got 2.5");
  EXPECT_EQ(refusal(At(3, {-1})), "positions must be in 0..9007199254740991, got -1");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(dual_chunk, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=16", "chunk_size=8", "local_size=3"},
           {"heads=3", "head_dim=5", "rotary_dim=4", "pairing=interleaved", "chunk_size=100",
            "local_size=99"},
           {"heads=2", "head_dim=6", "base=100", "chunk_size=20", "local_size=4",
            "queries=critical"},
           {"heads=2", "head_dim=4", "scale=one"}}) {
    ExpectContractsKept(ParseScheme("dual_chunk", settings), kPositions);
  }
}

TEST(dual_chunk, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty =
      ParseScheme("dual_chunk", {"heads=4", "head_dim=8", "chunk_size=8", "local_size=3"});
  for (const char* fault :
       {"chunks_ignored", "critical_queries", "local_ignored", "pairing_swapped"}) {
    ExpectContractBroken(faulty, fault, "scores", kPositions);
    ExpectContractBroken(faulty, fault, "attention", kPositions);
  }
}

TEST(dual_chunk, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(dual_chunk::AnyParams())); }

TEST(dual_chunk, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*dual_chunk::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
