#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
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

/// x / sqrt(head_dim), or x. A division, which is exact wherever its result is a number: 3/sqrt(9).
template <class R>
R Scaled(const Attention& attention, const R& x) {
  if (attention.scale == ScoreScale::one) return x;
  return x / Sqrt(R(attention.head_dim));
}

/// <q_i, k_j> of one head.
template <class R>
R DotOf(const NamedInputs& inputs, int64_t head, int64_t query, int64_t key) {
  const ExactTensor &q = inputs["q"], &k = inputs["k"];
  const auto channels = static_cast<size_t>(q.shape[2]);
  const auto row = static_cast<size_t>(query * q.shape[1] + head) * channels;
  std::vector<R> of_key;
  for (int64_t c = 0; c < q.shape[2]; ++c) of_key.push_back(R(k.At(key, head, c)));
  return Dot(std::span(q.values).subspan(row, channels), of_key);
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
        const R dot = Scaled(attention, DotOf<R>(inputs, head_index, query, key));
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

/// softmax of scores, then the average of values [channel][key]: [channels]. As
///   o = v_r + (sum over j of exp(s_j - s_r) (v_j - v_r)) / (sum over j of exp(s_j - s_r)),
/// r a key whose score is about the highest: the same real number for any r. Exponentials stay in
/// range, and what is rational comes out so: one key, values that are equal, scores that are.
/// Numbers that stand for what a kernel computes have an overload that goes a kernel's way.
template <class R>
std::vector<R> SoftmaxMean(const std::vector<R>& scores,
                           const std::vector<std::vector<R>>& values) {
  const auto highest = static_cast<size_t>(
      std::ranges::max_element(scores, [](const R& a, const R& b) { return LooksLess(a, b); }) -
      scores.begin());
  R total(1);  // of the highest, whose exponential is 1 exactly
  std::vector<R> weights(scores.size(), R(1));
  for (size_t key = 0; key < scores.size(); ++key) {
    if (key == highest) continue;
    weights[key] = Exp(scores[key] - scores[highest]);
    total = total + weights[key];
  }
  std::vector<R> out;
  for (const std::vector<R>& of_channel : values) {
    R moved(0);
    for (size_t key = 0; key < scores.size(); ++key) {
      if (key != highest) moved = moved + weights[key] * (of_channel[key] - of_channel[highest]);
    }
    out.push_back(of_channel[highest] + moved / total);
  }
  return out;
}

/// What attention yields for one query: [head_dim].
template <class R, class Head>
std::vector<R> AttendOf(const Head& head, const Attention& attention, const NamedInputs& inputs,
                        int64_t head_index, int64_t query) {
  const double query_position = inputs["query_positions"].At(query);
  const ExactTensor &key_positions = inputs["key_positions"], &v = inputs["v"];
  const std::vector<R> scores = ScoresOf<R>(head, attention, inputs, head_index, query);
  std::vector<R> seen;
  std::vector<std::vector<R>> values(static_cast<size_t>(v.shape[2]));
  for (int64_t key = 0; key < key_positions.shape[0]; ++key) {
    if (!attention.Visible(query_position, key_positions.At(key))) continue;
    seen.push_back(scores[static_cast<size_t>(key)]);
    for (int64_t channel = 0; channel < v.shape[2]; ++channel) {
      if constexpr (requires { head.Value(query, key, channel); }) {
        values[static_cast<size_t>(channel)].push_back(head.Value(query, key, channel));
      } else {
        values[static_cast<size_t>(channel)].push_back(R(v.At(key, head_index, channel)));
      }
    }
  }
  return SoftmaxMean(seen, values);
}

}  // namespace posgauge
