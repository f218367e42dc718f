#include <algorithm>
#include <cmath>

#include "posgauge/schemes/base/dtype.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

// The key's position that makes the distance query - key this one.
double At(const PairPlace& at, double distance) { return at.query - distance; }
double Distance(const PairPlace& at) { return at.query - at.key; }

template <Dtype dtype>
double Rounded(const PairPlace& at) {
  return At(at, RoundTo(FormatOf(dtype), Distance(at)));
}
double InInt16(const PairPlace& at) {
  const auto bits = static_cast<uint16_t>(static_cast<int64_t>(at.key - at.query));
  return at.query + static_cast<double>(static_cast<int16_t>(bits));
}
double InInt8(const PairPlace& at) {
  const auto bits = static_cast<uint8_t>(static_cast<int64_t>(at.key - at.query));
  return at.query + static_cast<double>(static_cast<int8_t>(bits));
}
// Of a table of as many rows as keys, from whose other end negative indices count.
double Wrapped(const PairPlace& at) {
  const auto keys = static_cast<double>((*at.inputs)["key_positions"].shape[0]);
  return at.key > at.query ? at.key - keys : at.key;
}

bool TellsDirectionsWithoutMask(const Question& question) {
  return TellsDirections(question) &&
         (!AttentionOf(question.scheme).causal || !AsksScores(question));
}
bool LooksBothWays(const Question& question) {
  if (!CountsDistances(question)) return false;
  return !AttentionOf(question.scheme).causal || !AsksScores(question);
}

Fault Of(const char* id, const char* cause, const char* fix, const char* shows,
         bool (*concerns)(const Question&), double (*key)(const PairPlace&),
         std::vector<std::string> links = {}, std::vector<std::string> kinds = {}) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = OfDistance(concerns, key),
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

}  // namespace

std::vector<Fault> FaultsOfDistances() {
  const char* own = "query position less key position, 0 for the token itself";
  return {
      Of("distance_plus_one", "distances are one too large", own, "any query and key",
         CountsDistances, [](const PairPlace& at) { return at.key - 1; },
         {"https://github.com/vllm-project/vllm/pull/945"}, {"ALIBI_DIST_OFF1"}),
      Of("distance_minus_one", "distances are one too small", own, "any query and key",
         CountsDistances, [](const PairPlace& at) { return at.key + 1; }),
      Of("distance_negated", "the relative position has the wrong sign",
         "keep to the scheme's sign: key less query in T5 and Shaw, query less key in DeBERTa and "
         "Transformer-XL",
         "a query and a key that differ", TellsDirections,
         [](const PairPlace& at) { return At(at, -Distance(at)); },
         {"https://github.com/dmlc/gluon-nlp/pull/1470"}, {"REL_SIGN"}),
      Of("distance_absolute", "keys behind the query count as those before it",
         "make rows for distances of both signs", "a key behind the query",
         TellsDirectionsWithoutMask,
         [](const PairPlace& at) { return At(at, std::fabs(Distance(at))); },
         {"https://github.com/wenet-e2e/wenet/issues/1611"}, {"XL_NO_NEGATIVE"}),
      Of("future_at_zero", "keys behind the query count as the query's own position",
         "make rows for distances of both signs", "a key behind the query", LooksBothWays,
         [](const PairPlace& at) { return std::min(at.key, at.query); }),
      Of("future_wraps", "keys behind the query read a table of one direction from its other end",
         "2n - 1 rows, for distances from n - 1 down to -(n - 1)", "a key behind the query",
         TellsDirectionsWithoutMask, Wrapped,
         {"https://github.com/TensorSpeech/TensorFlowASR/issues/161",
          "https://github.com/kimiyoung/transformer-xl/issues/132"},
         {"XL_TABLE_SHORT"}),
      Of("distance_bf16", "distances are rounded to bf16", "subtract in integers or f32",
         "distance 257", CountsDistances, Rounded<Dtype::bf16>),
      Of("distance_f16", "distances are rounded to f16", "subtract in integers or f32",
         "distance 2049", CountsDistances, Rounded<Dtype::f16>),
      Of("distance_int16", "distances wrap around in 16 bits", "subtract in 32 bits or more",
         "distance 32769", CountsDistances, InInt16),
      Of("distance_int8", "distances wrap around in 8 bits", "subtract in 32 bits or more",
         "distance 129", CountsDistances, InInt8),
      Of("short_sighted", "farther keys count as at four tokens from the query",
         "no limit but the scheme's own", "distance 5", CountsDistances,
         [](const PairPlace& at) { return std::max(at.key, at.query - 4); }),
      Of("query_counts_from_zero", "queries count from 0 in every call, keys from the first token",
         "in decoding the query's position is that of the whole sequence",
         "a decoding step, the query behind the first token", CountsDistances,
         [](const PairPlace& at) { return At(at, static_cast<double>(at.query_index) - at.key); },
         {"https://github.com/NVIDIA/TensorRT-LLM/issues/1343",
          "https://github.com/NVIDIA/TensorRT-LLM/issues/474"},
         {"T5_DECODE_KERNEL"}),
      Of("key_counts_from_zero", "keys count from 0 in every call, queries from the first token",
         "give the keys of a window or of a page their positions in the whole sequence",
         "keys that do not begin at position 0", CountsDistances,
         [](const PairPlace& at) { return static_cast<double>(at.key_index); }),
      Of("queries_alike", "all queries of a call count as its last one",
         "a position for every query", "two queries", CountsDistances,
         [](const PairPlace& at) {
           return At(at, (*at.inputs)["query_positions"].values.back() - at.key);
         }),
      Of("distance_doubled", "distances count twice", own, "distance 1", CountsDistances,
         [](const PairPlace& at) { return At(at, 2 * Distance(at)); }),
      Of("distance_halved", "distances count half, cut to whole numbers", own, "distance 1",
         CountsDistances, [](const PairPlace& at) { return At(at, std::trunc(Distance(at) / 2)); }),
  };
}

}  // namespace posgauge
