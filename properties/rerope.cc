#include "posgauge/properties/rerope.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/generators.h"
#include "posgauge/properties/rope_scores.h"

namespace posgauge::rerope {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

Verdict CheckNear(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  RopeScores rope = {.turning = params.turning,
                     .where = [&](double query, double key) { return params.IsNear(query, key); }};
  if (params.trained_length) {
    const auto trained = static_cast<double>(*params.trained_length);
    rope.factor = [trained](double query) {
      return std::max(1.0, std::log(query + 1) / std::log(trained));
    };
    // Two logarithms within an ulp of glibc, 2^-52, and their quotient.
    rope.factor_error = 5 * 0x1p-53;
  }
  Comparisons comparisons;
  CompareWithRope(comparisons, params.attention, EquationAnswer(subject, InputsOf(subject, c)),
                  rope);
  return comparisons.Take();
}

// Keys beyond the window are moved to where it ends.
Verdict CheckBeyond(const Subject& subject, const LawCase& c) {
  const NamedInputs all = InputsOf(subject, c);
  const auto window = static_cast<double>(ParamsOf(subject).window);
  Comparisons comparisons;
  for (int64_t query = 0; query < all["query_positions"].shape[0]; ++query) {
    const EquationAnswer far(subject, WithQueries(all, {query}));
    const double at = far.inputs["query_positions"].At(0);
    NamedInputs moved = far.inputs;
    for (double& key : moved.tensors.find("key_positions")->second.values) {
      key = std::min(std::max(key, at - window), at + window);
    }
    if (moved == far.inputs) continue;  // none is beyond it
    CompareAll(comparisons, EquationAnswer(subject, moved), far);
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"near",
       params.trained_length ? "within the window scores are those of RoPE, sharpened late"
                             : "within the window scores are those of RoPE",
       "scores", false, CheckNear},
      {"beyond", "keys beyond the window count as where it ends", "scores attention", false,
       CheckBeyond},
  };
  if (!params.trained_length) laws.push_back(TranslationLaw());
  if (params.attention.scale == ScoreScale::inverse_sqrt) laws.push_back(ScaleLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  return rc::gen::mapcat(AnyAttention(), [](Attention attention) {
    const auto make = [attention](Turning turning, int64_t window,
                                  std::optional<int64_t> trained_length) {
      return Params{.attention = attention,
                    .turning = turning,
                    .window = window,
                    .trained_length = trained_length};
    };
    return rc::gen::apply(make, AnyTurning(attention), rc::gen::element<int64_t>(1, 2, 5, 64, 512),
                          rc::gen::element<std::optional<int64_t>>(std::nullopt, 4096, 2, 7, 128));
  });
}

}  // namespace posgauge::rerope
