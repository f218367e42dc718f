#include "posgauge/properties/mixed.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/hex_float.h"
#include "posgauge/verify/random.h"

namespace posgauge::mixed {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

constexpr const char* kPositions[] = {"query_positions", "key_positions"};

struct Patch {
  int64_t x, y;
};
Patch PatchOf(const Window& window, double position) {
  const auto at = static_cast<int64_t>(position);
  return {at % window.w, at / window.w};
}

// The inputs with every position replaced by that of map(patch).
template <class Map>
NamedInputs Moved(const NamedInputs& inputs, const Window& window, const Map& map) {
  NamedInputs moved = inputs;
  for (const char* name : kPositions) {
    for (double& position : moved.tensors.find(name)->second.values) {
      const Patch patch = map(PatchOf(window, position));
      position = static_cast<double>(patch.y * window.w + patch.x);
    }
  }
  return moved;
}

// By as many rows and columns as leave all patches within the window.
Verdict CheckTranslation(const Subject& subject, const LawCase& c) {
  const Window window = ParamsOf(subject).window;
  if (window.Tokens() == 1) throw Unsupported("the window has one patch");
  const auto h = static_cast<uint64_t>(window.h), w = static_cast<uint64_t>(window.w);
  auto rows = static_cast<int64_t>(c.seed % h), columns = static_cast<int64_t>(c.seed / h % w);
  if (rows == 0 && columns == 0) (window.w > 1 ? columns : rows) = 1;
  const NamedInputs inputs = Moved(InputsOf(subject, c), window, [&](Patch patch) {
    return Patch{patch.x % (window.w - columns), patch.y % (window.h - rows)};
  });
  const NamedInputs moved = Moved(inputs, window, [&](Patch patch) {
    return Patch{patch.x + columns, patch.y + rows};
  });
  const EquationAnswer before(subject, inputs), after(subject, moved);
  Comparisons comparisons;
  CompareAll(comparisons, after, before);
  return comparisons.Take();
}

// A key of the query's patch does not turn against it: every pair turns orthogonally.
Verdict CheckOwnPatch(const Subject& subject, const LawCase& c) {
  const Window window = ParamsOf(subject).window;
  const NamedInputs inputs = InputsOf(subject, c);
  const auto at = [&](Patch patch) {
    return Moved(inputs, window, [patch](Patch) { return patch; });
  };
  const auto h = static_cast<uint64_t>(window.h), w = static_cast<uint64_t>(window.w);
  const Patch any = {static_cast<int64_t>(c.seed % w), static_cast<int64_t>(c.seed / w % h)};
  const EquationAnswer plain(subject, at({0, 0})), turned(subject, at(any));
  Comparisons comparisons;
  CompareAll(comparisons, turned, plain);
  return comparisons.Take();
}

// Where every pair has a frequency on one axis alone, which the seed draws, a head is a rotation
// over two axes by those frequencies: axial.
Verdict CheckOneAxisAPair(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const Rotary layout = params.turning.Of(params.attention);
  NamedInputs inputs = InputsOf(subject, c);
  Random random(c.seed, "axes");
  Axes axes{.count = 2, .of_pair = {}};
  for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
    axes.of_pair.push_back(static_cast<int64_t>(random.Below(2)));
  }
  std::vector<double>& of_x = inputs.tensors.find("x_frequency")->second.values;
  std::vector<double>& of_y = inputs.tensors.find("y_frequency")->second.values;
  for (size_t i = 0; i < of_x.size(); ++i) {
    (axes.of_pair[i % axes.of_pair.size()] == 0 ? of_y : of_x)[i] = 0;
  }
  const auto places = [&](const char* name) {
    std::vector<double> of_axes;
    for (double position : inputs[name].values) {
      const Patch patch = PatchOf(params.window, position);
      of_axes.push_back(static_cast<double>(patch.x));
      of_axes.push_back(static_cast<double>(patch.y));
    }
    return of_axes;
  };
  const std::vector<double> queries = places(kPositions[0]), keys = places(kPositions[1]);
  const auto of_head = [&](const char* name, int64_t head) {
    const ExactTensor& all = inputs[name];
    std::vector<double> rows;
    for (int64_t row = 0; row < all.shape[0]; ++row) {
      for (int64_t channel = 0; channel < all.shape[2]; ++channel) {
        rows.push_back(all.At(row, head, channel));
      }
    }
    return rows;
  };
  const double root = params.attention.scale == ScoreScale::one
                          ? 1
                          : std::sqrt(static_cast<double>(params.attention.head_dim));
  std::vector<std::vector<double>> products;
  for (int64_t head = 0; head < params.attention.heads; ++head) {
    std::vector<DoubleDouble> frequencies;
    for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
      const char* name =
          axes.of_pair[static_cast<size_t>(pair)] == 0 ? "x_frequency" : "y_frequency";
      frequencies.push_back({inputs[name].At(head, pair), 0});
    }
    const ExactRotation rotation(layout, frequencies, {1, 0}, axes);
    products.push_back(
        rotation.Scores(queries, keys, of_head("q", head), of_head("k", head), 1, 1, Dtype::f64)
            .values);
  }
  const EquationAnswer answer(subject, inputs);
  const int64_t key_count = inputs[kPositions[1]].shape[0];
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double got = answer.Value(place);
    const double want = products[static_cast<size_t>(place.head)]
                                [static_cast<size_t>(place.query * key_count + place.last)] /
                        root;
    // The product's rounding, the root's and the quotient's, in binary64.
    const double own = 3 * 0x1p-53 * std::fabs(want) + 0x1p-1074;
    comparisons.Add(answer.QueryPosition(place), std::fabs(got - want), answer.Limit(place) + own,
                    answer.Size(place), [&] {
                      return Witness{.where = answer.Text(place) + ", an axis a pair",
                                     .got = HexFloat(got),
                                     .want = HexFloat(want)};
                    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"patch_translation",
       "moving all patches by as many rows and columns within the window changes nothing", "scores",
       false, CheckTranslation},
      {"own_patch", "between vectors of one patch the product is the same at every patch", "scores",
       false, CheckOwnPatch},
      {"one_axis_a_pair",
       "where every pair counts one axis scores are those of a rotation over two", "scores", false,
       CheckOneAxisAPair},
  };
  if (params.attention.scale == ScoreScale::inverse_sqrt) laws.push_back(ScaleLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  return rc::gen::mapcat(AnyAttention(), [](Attention attention) {
    attention.causal = false;
    attention.head_dim += attention.head_dim == 1;  // a pair at least
    const auto make = [attention](Turning turning, int64_t h, int64_t w) {
      Params params{.attention = attention, .turning = {}, .window = {.h = h, .w = w}};
      params.turning.pairing = turning.pairing;
      if (turning.rotary_dim != 0) params.turning.rotary_dim = turning.rotary_dim;
      const bool odd = attention.head_dim % 2 == 1;
      if (odd && !params.turning.rotary_dim) params.turning.rotary_dim = attention.head_dim - 1;
      return params;
    };
    return rc::gen::apply(make, AnyTurning(attention), rc::gen::element<int64_t>(14, 1, 2, 7, 24),
                          rc::gen::element<int64_t>(14, 1, 3, 7, 32));
  });
}

}  // namespace posgauge::mixed
