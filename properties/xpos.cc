#include "posgauge/properties/xpos.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/generators.h"
#include "posgauge/properties/rope_scores.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::xpos {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// Where nothing fades: over 2^100 tokens a pair keeps all but 2^-60 of itself at any position.
Verdict CheckFlat(const Subject& subject, const LawCase& c) {
  Params params = ParamsOf(subject);
  params.scale_base = 0x1p100;
  if (!subject.info().Serves(params))
    throw Unsupported("the kernel does not serve that scale_base");
  const Subject flat(subject.info(), params);
  Comparisons comparisons;
  CompareWithRope(comparisons, params.attention, EquationAnswer(flat, InputsOf(subject, c)),
                  {.turning = params.turning,
                   .where = [](double, double) { return true; },
                   .factor_error = 0x1p-60});
  return comparisons.Take();
}

// At its own position a key neither turns against the query nor fades.
Verdict CheckOwnKey(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  Comparisons comparisons;
  CompareWithRope(
      comparisons, params.attention, EquationAnswer(subject, InputsOf(subject, c)),
      {.turning = params.turning, .where = [](double query, double key) { return query == key; }});
  return comparisons.Take();
}

// |score of q with itself| <= scale sum of zeta_n^(offset/scale_base) |q_n|^2, the channels that do
// not turn unfaded.
Verdict CheckEnvelope(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const Rotary rotary = params.turning.Of(params.attention);
  const NamedInputs all = InputsOf(subject, c);
  const double root = params.attention.scale == ScoreScale::one
                          ? 1
                          : std::sqrt(static_cast<double>(rotary.head_dim));
  const auto width = static_cast<double>(rotary.rotary_dim);
  Comparisons comparisons;
  for (int64_t query = 0; query < all["query_positions"].shape[0]; ++query) {
    NamedInputs inputs = WithQueries(all, {query});
    const std::vector<double> q = inputs["q"].values;
    std::vector<double>& k = inputs.tensors.find("k")->second.values;
    for (size_t i = 0; i < k.size(); ++i) k[i] = q[i % q.size()];
    const EquationAnswer answer(subject, inputs);
    for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
      const double at = inputs["query_positions"].At(0);
      const double key = inputs["key_positions"].At(place.last);
      if (!params.attention.Visible(at, key)) continue;
      const double exponent = (at - key) / params.scale_base;
      const auto square = [&](int64_t channel) {
        const double x = inputs["q"].At(0, place.head, channel);
        return x * x / root;
      };
      double envelope = 0, steepest = 0;
      for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
        const double zeta =
            (static_cast<double>(2 * pair) / width + params.gamma) / (1 + params.gamma);
        const auto [u, v] = rotary.Channels(pair);
        envelope += std::pow(zeta, exponent) * (square(u) + square(v));
        steepest = std::max(steepest, std::fabs(std::log(zeta)));
      }
      for (int64_t channel = rotary.rotary_dim; channel < rotary.head_dim; ++channel) {
        envelope += square(channel);
      }
      const double got = answer.Value(place);
      // Of this very law, in binary64: zeta within 4 roundings, raised to the exponent, the
      // exponent's own rounding, and fewer than head_dim + 10 sums and products.
      const double own = (std::fabs(exponent) * (4 / std::min(1.0, params.gamma / 2) + steepest) +
                          static_cast<double>(rotary.head_dim) + 10) *
                         0x1p-52 * envelope;
      comparisons.Add(at, std::fabs(got) - envelope, answer.Limit(place) + own, answer.Size(place),
                      [&] {
                        return Witness{.where = answer.Text(place) + ", the query itself",
                                       .got = HexFloat(got),
                                       .want = "at most " + HexFloat(envelope)};
                      });
    }
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      TranslationLaw(),
      {"flat", "over a scale_base without end nothing fades: scores are those of RoPE", "scores",
       false, CheckFlat},
      {"own_key", "a key at the query's own position neither turns nor fades", "scores", false,
       CheckOwnKey},
      {"envelope", "the score of a vector with itself stays below what fades with the distance",
       "scores", false, CheckEnvelope},
  };
  if (params.attention.scale == ScoreScale::inverse_sqrt) laws.push_back(ScaleLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  return rc::gen::mapcat(AnyAttention(), [](Attention attention) {
    const auto make = [attention](Turning turning, double scale_base, double gamma) {
      return Params{
          .attention = attention, .turning = turning, .scale_base = scale_base, .gamma = gamma};
    };
    return rc::gen::apply(make, AnyTurning(attention), rc::gen::element(512.0, 8.0, 64.5, 1e9),
                          rc::gen::element(0.4, 1.0, 0.01, 3.0));
  });
}

}  // namespace posgauge::xpos
