#include "posgauge/properties/swin2.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/window_laws.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::swin2 {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

Subject With(const Subject& subject, const Params& params) {
  if (!subject.info().Serves(params)) throw Unsupported("the kernel does not serve that window");
  return {subject.info(), params};
}

NamedInputs SomeOf(const Subject& subject, const LawCase& c) {
  return AmongTokens(InputsOf(subject, c), SomeTokens(ParamsOf(subject).window, 10, c.seed));
}

// 16 times a sigmoid. Rounding is monotone, and both ends are numbers of every dtype.
Verdict CheckRange(const Subject& subject, const LawCase& c) {
  const EquationAnswer answer(subject, SomeOf(subject, c));
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double got = answer.Value(place);
    comparisons.AddExact(answer.QueryPosition(place), got >= 0 && got <= 16, [&] {
      return Witness{.where = answer.Text(place), .got = HexFloat(got), .want = "in 0..16"};
    });
  }
  return comparisons.Take();
}

// Coordinates are odd: with the first layer's weights negated query and key change places.
Verdict CheckMirror(const Subject& subject, const LawCase& c) {
  const NamedInputs inputs = SomeOf(subject, c);
  NamedInputs negated = inputs;
  for (double& weight : negated.tensors.find("w1")->second.values) weight = -weight;
  const EquationAnswer plain(subject, inputs), mirrored(subject, negated);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(plain.quantity, plain.out.shape())) {
    CompareWithin(comparisons, mirrored, {place.head, place.last, place.query}, plain, place);
  }
  return comparisons.Take();
}

// One unit that shows a coordinate, far from where it would be switched off: |c| < 4.
Verdict CheckIncreasing(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  if (params.window.Tokens() == 1) throw Unsupported("the window has one token");
  const bool by_row = params.window.h > 1;
  NamedInputs inputs = InputsOf(subject, c);
  for (const char* name : {"w1", "b1", "w2"}) {
    std::ranges::fill(inputs.tensors.find(name)->second.values, 0);
  }
  inputs.tensors.find("w1")->second.values[by_row ? 0 : 1] = 1;
  inputs.tensors.find("b1")->second.values[0] = 4;
  for (int64_t head = 0; head < params.attention.heads; ++head) {
    inputs.tensors.find("w2")->second.values[static_cast<size_t>(head * params.mlp_width)] = 0.25;
  }
  const int64_t side = by_row ? params.window.h : params.window.w;
  std::vector<double> tokens;
  for (int64_t i = 0; i < std::min<int64_t>(side, 24); ++i) {
    tokens.push_back(static_cast<double>(i * (by_row ? params.window.w : 1)));
  }
  const EquationAnswer answer(subject, AmongTokens(inputs, tokens));
  const EnclosedEach truth =
      subject.equations().exact().Enclose(EquationQuantity::bias, answer.inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    if (place.query == 0) continue;
    const EquationPlace before{place.head, place.query - 1, place.last};
    const double step =
        truth.values[answer.Index(place)].high - truth.values[answer.Index(before)].high;
    const double slack = answer.Limit(place) + answer.Limit(before);
    const bool tells = step * (1 - 0x1p-50) > slack;
    const double got = answer.Value(place), least = answer.Value(before);
    comparisons.AddExact(
        answer.QueryPosition(place), tells ? got > least : got >= least - slack, [&] {
          return Witness{
              .where = answer.Text(place) + ", against the query one token before",
              .got = HexFloat(got),
              .want = fmt::format("{} {}", tells ? "above" : "not below", HexFloat(least))};
        });
  }
  return comparisons.Take();
}

// A window of as many tokens as the coordinates run over is named, or not.
Verdict CheckPretrained(const Subject& subject, const LawCase& c) {
  Params unset = ParamsOf(subject), set = unset;
  unset.pretrained_h.reset();
  unset.pretrained_w.reset();
  unset.one_token = OneToken::zero;
  set = unset;
  set.pretrained_h = set.window.h;
  set.pretrained_w = set.window.w;
  const NamedInputs inputs = SomeOf(subject, c);
  Comparisons comparisons;
  CompareAll(comparisons, EquationAnswer(With(subject, set), inputs),
             EquationAnswer(With(subject, unset), inputs));
  return comparisons.Take();
}

// Twice as far over twice as many steps is the same coordinate.
Verdict CheckStretch(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  Params wide = params;
  wide.pretrained_h = 2 * params.ExtentH() - 1;
  wide.pretrained_w = 2 * params.ExtentW() - 1;
  if (*wide.pretrained_h > kLargestWindow || *wide.pretrained_w > kLargestWindow) {
    throw Unsupported("a law of windows of at most 128 tokens a side");
  }
  const Window half{.h = (params.window.h + 1) / 2, .w = (params.window.w + 1) / 2};
  if (half.Tokens() == 1) throw Unsupported("half of the window is one token");
  std::vector<double> near, far;
  for (double token : SomeTokens(half, 10, c.seed)) {
    const auto at = static_cast<int64_t>(token);
    const int64_t y = at / half.w, x = at % half.w;
    near.push_back(static_cast<double>(y * params.window.w + x));
    far.push_back(static_cast<double>(2 * y * params.window.w + 2 * x));
  }
  const NamedInputs inputs = InputsOf(subject, c);
  Comparisons comparisons;
  CompareAll(comparisons, EquationAnswer(With(subject, wide), AmongTokens(inputs, far)),
             EquationAnswer(subject, AmongTokens(inputs, near)));
  return comparisons.Take();
}

// With a second layer of zeros every bias is 8, and no scale is above 100.
Verdict CheckBounded(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c);
  std::ranges::fill(inputs.tensors.find("w2")->second.values, 0);
  // As far above ln 100 as shows in any dtype.
  std::ranges::fill(inputs.tensors.find("tau")->second.values, 6);
  const EquationAnswer answer(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double got = answer.Value(place);
    comparisons.Add(answer.QueryPosition(place), std::fabs(got - 8) - 100, answer.Limit(place),
                    std::max(answer.Size(place), 100.0), [&] {
                      return Witness{.where = answer.Text(place),
                                     .got = HexFloat(got),
                                     .want = "within 100 of 8"};
                    });
  }
  return comparisons.Take();
}

// Vectors four times as long, whose norms are far from 1e-12, have the same cosines.
Verdict CheckScaleFree(const Subject& subject, const LawCase& c) {
  const NamedInputs inputs = InputsOf(subject, c);
  NamedInputs longer = inputs;
  for (double& q : longer.tensors.find("q")->second.values) q *= 4;
  for (double& k : longer.tensors.find("k")->second.values) k /= 2;
  const auto shortest = [&](const NamedInputs& of, const char* name) {
    const ExactTensor& rows = of[name];
    const auto width = static_cast<size_t>(rows.shape[2]);
    double least = HUGE_VAL;
    for (size_t row = 0; row * width < rows.values.size(); ++row) {
      double largest = 0;
      for (size_t i = row * width; i < (row + 1) * width; ++i) {
        largest = std::max(largest, std::fabs(rows.values[i]));
      }
      if (largest > 0) least = std::min(least, largest);
    }
    return least;
  };
  if (shortest(longer, "k") < 1e-11 || shortest(inputs, "q") < 1e-11) {
    throw Unsupported("a law of vectors longer than 1e-11");
  }
  Comparisons comparisons;
  CompareAll(comparisons, EquationAnswer(subject, longer), EquationAnswer(subject, inputs));
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"range", "a bias is in 0..16", "bias", false, CheckRange},
          {"mirror", "negating the first layer exchanges query and key: coordinates are odd",
           "bias", false, CheckMirror},
          {"increasing", "coordinates increase with the offset", "bias", true, CheckIncreasing},
          {"pretrained", "a pretrained window of the window's own size changes nothing", "bias",
           false, CheckPretrained},
          {"stretch", "twice as far over twice as many steps is the same coordinate", "bias", false,
           CheckStretch},
          {"bounded", "cosines are scaled by 100 at most", "scores", false, CheckBounded},
          {"scale_free", "the lengths of queries and keys change nothing", "scores", false,
           CheckScaleFree},
          WindowTranslationLaw()};
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t h, int64_t w, int64_t pretrained,
                       int64_t mlp_width) {
    attention.causal = false;
    attention.scale = ScoreScale::one;
    Params params{.attention = attention, .window = {.h = h, .w = w}, .mlp_width = mlp_width};
    if (pretrained > 0) params.pretrained_h = params.pretrained_w = pretrained;
    if (params.ExtentH() == 1 || params.ExtentW() == 1) params.one_token = OneToken::zero;
    return params;
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(8, 1, 2, 3, 7, 16),
                        rc::gen::element<int64_t>(8, 1, 2, 5, 12),
                        rc::gen::element<int64_t>(0, 8, 2, 12, 16),
                        rc::gen::element<int64_t>(4, 1, 2, 16));
}

}  // namespace posgauge::swin2
