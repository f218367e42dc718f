#include "posgauge/properties/alibi.h"

#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/distance_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::alibi {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// The same kernel for other parameters.
Subject With(const Subject& subject, const Params& params) {
  if (!subject.info().Serves(params)) throw Unsupported("the kernel does not serve that form");
  return {subject.info(), params};
}

// m_(h+1) / m_h = 2^(-max_bias/n) inside the first n heads and, squared, among the rest, and
// m_n = 2^-max_bias.
Verdict CheckGeometric(const Subject& subject, const LawCase&) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer slopes(subject, {});
  const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(params.TotalHeads())));
  Comparisons comparisons;
  for (int64_t head = 0; head < params.attention.heads; ++head) {
    const int64_t index = params.first_head + head;
    const double got = slopes.Value({head});
    if (index + 1 == n) {
      const double want = std::exp2(-params.max_bias);  // within an ulp, 2^-52 of it
      comparisons.Add(0, std::fabs(got - want), slopes.Limit({head}) + 0x1p-51 * want, want, [&] {
        return Witness{.where = slopes.Text({head}), .got = HexFloat(got), .want = HexFloat(want)};
      });
    }
    if (head == 0 || index == n) continue;
    const double before = slopes.Value({head - 1});
    const double ratio = std::exp2(-params.max_bias / static_cast<double>(n));
    const double want = before * ratio;
    // The power within 2^-52 for each unit of its exponent and an ulp, the product once more.
    const double allowed = slopes.Limit({head}) + slopes.Limit({head - 1}) * ratio +
                           (3 + params.max_bias / static_cast<double>(n)) * 0x1p-52 * want;
    comparisons.Add(0, std::fabs(got - want), allowed, want, [&] {
      return Witness{.where = slopes.Text({head}) + " against the head before",
                     .got = HexFloat(got),
                     .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

// The slopes of H heads are every second one of 2 H, where H is a power of two.
Verdict CheckDoubling(const Subject& subject, const LawCase&) {
  Params params = ParamsOf(subject);
  const int64_t heads = params.attention.heads;
  if (params.TotalHeads() != heads || !std::has_single_bit(static_cast<uint64_t>(heads)) ||
      heads > 32768) {
    throw Unsupported("a law of whole models whose heads are a power of two");
  }
  const EquationAnswer few(subject, {});
  params.attention.heads = 2 * heads;
  params.total_heads.reset();
  const EquationAnswer many(With(subject, params), {});
  Comparisons comparisons;
  for (int64_t head = 0; head < heads; ++head) {
    CompareWithin(comparisons, many, {2 * head + 1}, few, {head});
  }
  return comparisons.Take();
}

// A slice of the heads, as a rank of tensor parallelism has it, is that part of the whole.
Verdict CheckSlice(const Subject& subject, const LawCase& c) {
  Params params = ParamsOf(subject);
  const int64_t heads = params.attention.heads;
  if (heads == 1) throw Unsupported("there is one head only");
  const EquationAnswer whole(subject, InputsOf(subject, c));
  const int64_t kept = (heads + 1) / 2, first = heads - kept;
  params.total_heads = params.TotalHeads();
  params.first_head += first;
  params.attention.heads = kept;
  NamedInputs inputs = whole.inputs;
  for (const char* name : {"q", "k", "v"}) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end()) continue;
    const ExactTensor all = found->second;
    found->second = {{all.shape[0], kept, all.shape[2]}, {}};
    for (int64_t row = 0; row < all.shape[0]; ++row) {
      for (int64_t head = first; head < heads; ++head) {
        for (int64_t channel = 0; channel < all.shape[2]; ++channel) {
          found->second.values.push_back(all.At(row, head, channel));
        }
      }
    }
  }
  const EquationAnswer slice(With(subject, params), inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(slice.quantity, slice.out.shape())) {
    EquationPlace of = place;
    of.head += first;
    CompareWithin(comparisons, slice, place, whole, of);
  }
  return comparisons.Take();
}

// All forms differ by one number a row over the visible keys: each difference of two is that of the
// relative form, within the contracts of the four values.
Verdict CheckForms(const Subject& subject, const LawCase& c) {
  Params params = ParamsOf(subject);
  const EquationAnswer own(subject, InputsOf(subject, c));
  const ExactTensor &queries = own.inputs["query_positions"], &keys = own.inputs["key_positions"];
  Comparisons comparisons;
  for (Form form : {Form::relative, Form::symmetric, Form::key, Form::key_from_last}) {
    if (form == ParamsOf(subject).form) continue;
    params.form = form;
    const EquationAnswer other(With(subject, params), own.inputs);
    for (EquationPlace place : PlacesOf(own.quantity, own.out.shape())) {
      if (keys.At(place.last) > queries.At(place.query) || place.last == 0) continue;
      EquationPlace first = place;
      first.last = 0;
      const double got = other.Value(place) - other.Value(first);
      const double want = own.Value(place) - own.Value(first);
      if (!std::isfinite(got) || !std::isfinite(want)) continue;
      const double allowed = own.Limit(place) + own.Limit(first) + other.Limit(place) +
                             other.Limit(first) + 0x1p-53 * (std::fabs(got) + std::fabs(want)) * 2;
      comparisons.Add(queries.At(place.query), std::fabs(got - want), allowed,
                      std::fabs(want) + own.Size(place), [&] {
                        return Witness{.where = own.Text(place) +
                                                " less that of the first key, as " +
                                                std::string(VariantName(form)),
                                       .got = HexFloat(got),
                                       .want = HexFloat(want)};
                      });
    }
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"geometric", "slopes fall by one factor, to 2^-max_bias", "slopes", true, CheckGeometric},
      {"doubling", "the slopes of H heads are every second one of 2 H, H a power of two", "slopes",
       true, CheckDoubling},
      NearestLaw(),
      {"slice", "a slice of the heads is that part of the whole", "slopes bias scores attention",
       false, CheckSlice},
      {"forms", "all forms differ by one number a row over the visible keys", "bias", false,
       CheckForms},
  };
  if (params.form == Form::relative || params.form == Form::symmetric) {
    laws.push_back(TranslationLaw());
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, double max_bias, Form form, int64_t before,
                       int64_t after, bool before_scale) {
    Params params{
        .attention = attention, .max_bias = max_bias, .form = form, .before_scale = before_scale};
    if (before + after > 0) params.total_heads = before + attention.heads + after;
    params.first_head = before;
    return params;
  };
  return rc::gen::apply(
      make, AnyAttention(), rc::gen::element(8.0, 4.0, 16.0, 1.0, 7.5, 100.0),
      rc::gen::element(Form::relative, Form::symmetric, Form::key, Form::key_from_last),
      rc::gen::inRange<int64_t>(0, 5), rc::gen::inRange<int64_t>(0, 5),
      rc::gen::element(false, false, true));
}

}  // namespace posgauge::alibi
