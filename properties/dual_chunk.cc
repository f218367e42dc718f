#include "posgauge/properties/dual_chunk.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/generators.h"
#include "posgauge/properties/rope_scores.h"
#include "posgauge/reference/dual_chunk.h"

namespace posgauge::dual_chunk {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

Verdict CheckNear(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  Comparisons comparisons;
  CompareWithRope(comparisons, params.attention, EquationAnswer(subject, InputsOf(subject, c)),
                  {.turning = params.turning, .where = [&](double query, double key) {
                     const double chunks = ChunksBetween(params, query, key);
                     return chunks == 0 ||
                            (chunks == 1 && query - key <= static_cast<double>(params.local_size));
                   }});
  return comparisons.Take();
}

// A query that is local_size tokens into its chunk or more is moved to the chunk's end: against
// earlier chunks it stood at chunk_size already, and any farther would be a distance above that.
Verdict CheckFarthest(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const NamedInputs all = InputsOf(subject, c);
  Comparisons comparisons;
  for (int64_t query = 0; query < all["query_positions"].shape[0]; ++query) {
    const EquationAnswer before(subject, WithQueries(all, {query}));
    const double at = before.inputs["query_positions"].At(0), stride = params.Stride();
    const double within = std::fmod(at, stride);
    if (within < static_cast<double>(params.local_size) || within == stride - 1) continue;
    NamedInputs moved = before.inputs;
    moved.tensors["query_positions"].values = {at - within + stride - 1};
    const EquationAnswer after(subject, moved);
    for (EquationPlace place : PlacesOf(before.quantity, before.out.shape())) {
      const double key = before.inputs["key_positions"].At(place.last);
      if (ChunksBetween(params, at, key) < 1) continue;
      CompareWithin(comparisons, after, place, before, place);
    }
  }
  return comparisons.Take();
}

// All positions move by a whole number of chunks, down as far as they can.
Verdict CheckChunks(const Subject& subject, const LawCase& c) {
  const double stride = ParamsOf(subject).Stride();
  const EquationAnswer before(subject, InputsOf(subject, c));
  NamedInputs moved = before.inputs;
  const double first = std::min(std::ranges::min(moved["query_positions"].values),
                                std::ranges::min(moved["key_positions"].values));
  const double down = first - std::fmod(first, stride);
  if (down == 0) throw Unsupported("every position of the case begins in the first chunk");
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double& position : moved.tensors.find(name)->second.values) position -= down;
  }
  Comparisons comparisons;
  CompareAll(comparisons, EquationAnswer(subject, moved), before);
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"near",
       "within a chunk, and local_size tokens into the one before, scores are those of RoPE",
       "scores", false, CheckNear},
      {"chunks", "moving all positions by whole chunks changes nothing", "scores attention", false,
       CheckChunks},
  };
  if (params.queries == Queries::attention) {
    laws.push_back({"farthest", "no distance to an earlier chunk grows beyond chunk_size", "scores",
                    false, CheckFarthest});
  }
  if (params.attention.scale == ScoreScale::inverse_sqrt) laws.push_back(ScaleLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  return rc::gen::mapcat(AnyAttention(), [](Attention attention) {
    attention.causal = true;
    const auto make = [attention](Turning turning, int64_t stride, int64_t local_size,
                                  Queries queries) {
      return Params{.attention = attention,
                    .turning = turning,
                    .chunk_size = stride + local_size,
                    .local_size = local_size,
                    .queries = queries};
    };
    return rc::gen::apply(make, AnyTurning(attention), rc::gen::element<int64_t>(1, 5, 16, 1000),
                          rc::gen::element<int64_t>(0, 1, 3, 16, 100),
                          rc::gen::element(Queries::attention, Queries::critical));
  });
}

}  // namespace posgauge::dual_chunk
