#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "posgauge/reference/float64.h"
#include "posgauge/reference/interval.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/base/attention.h"

namespace posgauge {

// What every scheme that acts in attention shares, once. A scheme's own part is a class template
// `Head<R>` in its namespace (reference/<scheme>.h), made from its parameters, the tensors of the
// call and the number of a head, with the members that it needs of
//
//   R Bias(double query_position, double key_position) const   what it adds to a score
//   R Score(int64_t query, int64_t key) const                  the whole score, where that is not
//                                                              scale <q, k> + bias
//   std::vector<R> Scores(int64_t query) const                 all of a row, where they depend on
//                                                              each other
//   R Value(int64_t query, int64_t key, int64_t channel) const what is averaged, where that is not
//   v
//
// R is double, an Interval, or a number that carries a bound on its error. Shapes: query_positions
// [queries], key_positions [keys], q [queries, heads, head_dim], k and v [keys, heads, head_dim].

/// 1/sqrt(head_dim) or 1.
template <class R>
R ScaleOf(const Attention& attention) {
  if (attention.scale == ScoreScale::one) return R(1);
  return R(1) / Sqrt(R(attention.head_dim));
}

/// <q_i, k_j> of one head.
template <class R>
R DotOf(const NamedInputs& inputs, int64_t head, int64_t query, int64_t key) {
  const ExactTensor &q = inputs["q"], &k = inputs["k"];
  std::vector<R> terms;
  for (int64_t c = 0; c < q.shape[2]; ++c) {
    terms.push_back(R(q.At(query, head, c)) * R(k.At(key, head, c)));
  }
  return Sum(terms);
}

/// The scores of one query against every key, the invisible ones' included: [keys].
template <class R, class Head>
std::vector<R> ScoresOf(const Head& head, const Attention& attention, const NamedInputs& inputs,
                        int64_t head_index, int64_t query) {
  if constexpr (requires { head.Scores(query); }) {
    return head.Scores(query);
  } else {
    const ExactTensor &query_positions = inputs["query_positions"],
                      &key_positions = inputs["key_positions"];
    std::vector<R> scores;
    for (int64_t key = 0; key < key_positions.shape[0]; ++key) {
      if constexpr (requires { head.Score(query, key); }) {
        scores.push_back(head.Score(query, key));
      } else {
        const R dot = ScaleOf<R>(attention) * DotOf<R>(inputs, head_index, query, key);
        if constexpr (requires { head.Bias(0.0, 0.0); }) {
          scores.push_back(dot + head.Bias(query_positions.At(query), key_positions.At(key)));
        } else {
          scores.push_back(dot);
        }
      }
    }
    return scores;
  }
}

/// softmax over the visible keys, then the average of their values: [head_dim]. The shift by an
/// approximate maximum cancels exactly in real numbers and keeps exponentials in range.
template <class R, class Head>
std::vector<R> AttendOf(const Head& head, const Attention& attention, const NamedInputs& inputs,
                        int64_t head_index, int64_t query) {
  const double query_position = inputs["query_positions"].At(query);
  const ExactTensor &key_positions = inputs["key_positions"], &v = inputs["v"];
  const std::vector<R> scores = ScoresOf<R>(head, attention, inputs, head_index, query);
  std::vector<int64_t> visible;
  for (int64_t key = 0; key < key_positions.shape[0]; ++key) {
    if (attention.Visible(query_position, key_positions.At(key))) visible.push_back(key);
  }
  R highest = scores[static_cast<size_t>(visible.front())];
  for (int64_t key : visible) highest = Max(highest, scores[static_cast<size_t>(key)]);
  const R shift(std::rint(Approximately(highest)));
  std::vector<R> weights;
  for (int64_t key : visible) weights.push_back(Exp(scores[static_cast<size_t>(key)] - shift));
  const R total = Sum(weights);
  std::vector<R> out;
  for (int64_t channel = 0; channel < v.shape[2]; ++channel) {
    std::vector<R> terms;
    for (size_t n = 0; n < visible.size(); ++n) {
      if constexpr (requires { head.Value(query, int64_t{0}, channel); }) {
        terms.push_back(weights[n] * head.Value(query, visible[n], channel));
      } else {
        terms.push_back(weights[n] * R(v.At(visible[n], head_index, channel)));
      }
    }
    out.push_back(Sum(terms) / total);
  }
  return out;
}

}  // namespace posgauge
