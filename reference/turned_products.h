#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "posgauge/reference/attention.h"
#include "posgauge/reference/by_offset.h"
#include "posgauge/reference/rotation.h"

namespace posgauge {

/// A pair of channels that turns by an angle given as (cos, sin): u' = u cos - v sin, v' = u sin +
/// v cos.
template <class R>
std::array<R, 2> Turned(const std::array<R, 2>& pair, const std::array<R, 2>& turn) {
  return {pair[0] * turn[0] - pair[1] * turn[1], pair[0] * turn[1] + pair[1] * turn[0]};
}

/// The channels of a pair, out of [head_dim].
template <class R>
std::array<R, 2> PairOf(const Rotary& rotary, int64_t pair, std::span<const R> channels) {
  const auto [u, v] = rotary.Channels(pair);
  return {channels[static_cast<size_t>(u)], channels[static_cast<size_t>(v)]};
}

/// Two numbers whose sum is the product of a pair of q and one of k, where q turns by (cos, sin)
/// more than k does: the parts of Re(conj(q) k e^(-i angle)).
template <class R>
std::array<R, 2> ProductsApart(const std::array<R, 2>& q, const std::array<R, 2>& k,
                               const std::array<R, 2>& turn) {
  return {(q[0] * k[0] + q[1] * k[1]) * turn[0], (q[0] * k[1] - q[1] * k[0]) * turn[1]};
}

/// The same where each turns, as kernels do it.
template <class R>
std::array<R, 2> ProductsOfTurned(const std::array<R, 2>& q, const std::array<R, 2>& turn_of_q,
                                  const std::array<R, 2>& k, const std::array<R, 2>& turn_of_k) {
  const std::array<R, 2> turned_q = Turned(q, turn_of_q), turned_k = Turned(k, turn_of_k);
  return {turned_q[0] * turned_k[0], turned_q[1] * turned_k[1]};
}

/// Products of the channels that do not turn.
template <class R>
std::vector<R> StillProducts(const Rotary& rotary, std::span<const R> q, std::span<const R> k) {
  std::vector<R> products;
  for (auto c = static_cast<size_t>(rotary.rotary_dim); c < q.size(); ++c) {
    products.push_back(q[c] * k[c]);
  }
  return products;
}

/// Where the two vectors of a score turn, in tokens.
struct TurnedAt {
  double query, key;
};

/// <q, k> of vectors of which pairs of channels turn, product by product; the same for all heads.
/// As real numbers they depend on the difference of the two places alone, which is how they are
/// enclosed; what stands for a kernel turns both vectors, as kernels do.
template <class R>
class TurnedProducts {
 public:
  /// at(query position, key position) says where vectors turn.
  TurnedProducts(const Rotary& rotary, const NamedInputs& inputs,
                 std::function<TurnedAt(double, double)> at)
      : rotary_(rotary), inputs_(&inputs), at_(std::move(at)) {
    for (const R& frequency : PlainFrequencies<R>(rotary)) frequency_.push_back(Held(frequency));
  }

  void Evaluate() {
    const ExactTensor *queries = inputs_->Find("query_positions"),
                      *keys = inputs_->Find("key_positions");
    if (queries == nullptr || keys == nullptr) return;
    for (double query : queries->values) {
      for (double key : keys->values) {
        const TurnedAt turned = at_(query, key);
        if constexpr (kIsInterval<R>) {
          by_offset_.Add(turned.query, turned.key,
                         [&](double p, double t) { return Turns(R(p) - R(t)); });
        } else {
          for (double position : {turned.query, turned.key}) {
            if (!by_position_.contains(position)) by_position_[position] = Turns(R(position));
          }
        }
      }
    }
  }

  /// Two numbers for every pair, whose sum is its part of the product of q and k turned for these
  /// positions: [pairs].
  std::vector<std::array<R, 2>> Pairs(std::span<const R> q, std::span<const R> k,
                                      double query_position, double key_position) const {
    const TurnedAt at = at_(query_position, key_position);
    std::vector<std::array<R, 2>> products;
    for (int64_t pair = 0; pair < rotary_.Pairs(); ++pair) {
      const std::array<R, 2> of_q = PairOf(rotary_, pair, q), of_k = PairOf(rotary_, pair, k);
      const auto i = static_cast<size_t>(pair);
      if constexpr (kIsInterval<R>) {
        products.push_back(ProductsApart(of_q, of_k, by_offset_.At(at.query, at.key)[i]));
      } else {
        products.push_back(
            ProductsOfTurned(of_q, by_position_.at(at.query)[i], of_k, by_position_.at(at.key)[i]));
      }
    }
    return products;
  }

  std::vector<R> Still(std::span<const R> q, std::span<const R> k) const {
    return StillProducts(rotary_, q, k);
  }

  /// All of them, to be added up.
  std::vector<R> Terms(std::span<const R> q, std::span<const R> k, double query_position,
                       double key_position) const {
    std::vector<R> terms = Still(q, k);
    for (const auto& [first, second] : Pairs(q, k, query_position, key_position)) {
      terms.push_back(first);
      terms.push_back(second);
    }
    return terms;
  }

 private:
  // (cos, sin) of every pair.
  std::vector<std::array<R, 2>> Turns(const R& position) const {
    std::vector<std::array<R, 2>> turns;
    for (const R& frequency : frequency_) turns.push_back(CosSin(Angle(position, frequency)));
    return turns;
  }

  Rotary rotary_;
  const NamedInputs* inputs_;
  std::function<TurnedAt(double, double)> at_;
  std::vector<R> frequency_;
  ByOffset<R, std::vector<std::array<R, 2>>> by_offset_;
  std::map<double, std::vector<std::array<R, 2>>> by_position_;
};

/// [head_dim] of a row of q or k.
template <class R>
std::vector<R> HeadRow(const ExactTensor& tensor, int64_t row, int64_t head) {
  std::vector<R> channels;
  for (int64_t c = 0; c < tensor.shape[2]; ++c) channels.push_back(R(tensor.At(row, head, c)));
  return channels;
}

}  // namespace posgauge
