#include "posgauge/properties/transformer_xl.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::transformer_xl {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

NamedInputs WithZeros(const NamedInputs& inputs, std::string_view name) {
  NamedInputs changed = inputs;
  std::ranges::fill(changed.tensors.find(name)->second.values, 0);
  return changed;
}

// Keys of zeros leave the terms of position, where u has no part; W of zeros those of content,
// where v has none.
Verdict CheckBiasesApart(const Subject& subject, const LawCase& c) {
  const NamedInputs given = InputsOf(subject, c);
  Comparisons comparisons;
  for (const auto& [zeros, idle] :
       {std::pair("k", "content_bias"), std::pair("position_weight", "position_bias")}) {
    const EquationAnswer with(subject, WithZeros(given, zeros));
    const EquationAnswer without(subject, WithZeros(with.inputs, idle));
    CompareAll(comparisons, with, without);
  }
  return comparisons.Take();
}

// R_0 is zeros, then ones: a key of zeros at the query scores scale <q + v, sum of W over the
// cosines>.
Verdict CheckOwnKey(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const NamedInputs given = WithZeros(InputsOf(subject, c), "k");
  const int64_t width = params.attention.head_dim, waves = params.model_width / 2;
  const double scale =
      params.attention.scale == ScoreScale::one ? 1 : 1 / std::sqrt(static_cast<double>(width));
  Comparisons comparisons;
  for (int64_t query = 0; query < given["query_positions"].shape[0]; ++query) {
    NamedInputs inputs = WithKeys(WithQueries(given, {query}), {0});
    inputs.tensors["key_positions"] = inputs["query_positions"];
    const EquationAnswer answer(subject, inputs);
    for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
      double want = 0, size = 0;
      for (int64_t channel = 0; channel < width; ++channel) {
        const double q = inputs["q"].At(0, place.head, channel) +
                         inputs["position_bias"].At(place.head, channel);
        for (int64_t wave = 0; wave < waves; ++wave) {
          const double product =
              scale * q * inputs["position_weight"].At(place.head, channel, waves + wave);
          want += product;
          size += std::fabs(product);
        }
      }
      const double got = answer.Value(place);
      // The sums and products of this very law, in binary64.
      const double own = (static_cast<double>(width * waves) + 5) * 0x1p-53 * size;
      comparisons.Add(answer.QueryPosition(place), std::fabs(got - want), answer.Limit(place) + own,
                      std::max(answer.Size(place), size), [&] {
                        return Witness{.where = answer.Text(place) + ", a key of zeros",
                                       .got = HexFloat(got),
                                       .want = HexFloat(want)};
                      });
    }
  }
  return comparisons.Take();
}

// Keys at larger offsets are moved to the clamp.
Verdict CheckClamp(const Subject& subject, const LawCase& c) {
  const NamedInputs all = InputsOf(subject, c);
  const auto clamp = static_cast<double>(*ParamsOf(subject).clamp_length);
  Comparisons comparisons;
  for (int64_t query = 0; query < all["query_positions"].shape[0]; ++query) {
    const EquationAnswer far(subject, WithQueries(all, {query}));
    const double at = far.inputs["query_positions"].At(0);
    NamedInputs moved = far.inputs;
    for (double& key : moved.tensors.find("key_positions")->second.values) {
      key = std::max(key, at - clamp);
    }
    CompareAll(comparisons, EquationAnswer(subject, moved), far);
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      TranslationLaw(),
      {"biases_apart", "u acts on keys alone and v on offsets alone", "scores attention", false,
       CheckBiasesApart},
      {"own_key", "the sinusoid of a query's own position is zeros, then ones", "scores", false,
       CheckOwnKey},
  };
  if (params.clamp_length) {
    laws.push_back(
        {"clamp", "offsets beyond the clamp count as it", "scores attention", false, CheckClamp});
  }
  if (params.attention.scale == ScoreScale::inverse_sqrt) laws.push_back(ScaleLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t model_width, double base,
                       std::optional<int64_t> clamp_length) {
    return Params{.attention = attention,
                  .model_width = model_width,
                  .base = base,
                  .clamp_length = clamp_length};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(2, 4, 6, 16),
                        rc::gen::element(10000.0, 100.0, 1.5),
                        rc::gen::element<std::optional<int64_t>>(std::nullopt, 1, 5, 64));
}

}  // namespace posgauge::transformer_xl
