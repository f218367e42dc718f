#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/cope.h"

namespace posgauge::cope {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  /// Golovneva et al. 2024, eqs. 3 to 5, for all keys of a row.
  std::vector<R> Scores(int64_t query) const {
    const NamedInputs& in = *inputs_;
    const double query_position = in["query_positions"].At(query);
    const ExactTensor& key_positions = in["key_positions"];
    const int64_t keys = key_positions.shape[0];
    const std::vector<R> logits = PositionLogits(query);
    std::vector<R> scores(static_cast<size_t>(keys), R(0));
    std::vector<R> gates;  // of the visible keys from the last one down
    for (int64_t key = keys - 1; key >= 0; --key) {
      const R dot = DotOf<R>(in, head_, query, key);
      if (params_->attention.Visible(query_position, key_positions.At(key))) {
        gates.push_back(Sigmoid(Scaled(params_->attention, dot)));
      }
      // A sum of its own: kernels scan in any order.
      const R position = Min(Sum(gates), R(params_->num_positions - 1));
      const R logit = Interpolated(logits, position);
      scores[static_cast<size_t>(key)] = params_->placement == Placement::before_scale
                                             ? Scaled(params_->attention, dot + logit)
                                             : Scaled(params_->attention, dot) + logit;
    }
    return scores;
  }

 private:
  // <q_i, e_n>.
  std::vector<R> PositionLogits(int64_t query) const {
    const ExactTensor &q = (*inputs_)["q"], &e = (*inputs_)["embedding"];
    const auto row = static_cast<size_t>((query * q.shape[1] + head_) * q.shape[2]);
    std::vector<R> logits;
    for (int64_t n = 0; n < params_->num_positions; ++n) {
      std::vector<R> entry;
      for (int64_t c = 0; c < params_->attention.head_dim; ++c) entry.push_back(R(e.At(n, c)));
      logits.push_back(Dot(std::span(q.values).subspan(row, entry.size()), entry));
    }
    return logits;
  }

  // Linear between whole positions and continuous, so that a position whose floor cannot be told is
  // enclosed by the pieces on both sides.
  R Interpolated(const std::vector<R>& logits, const R& position) const {
    const auto last = static_cast<int64_t>(logits.size()) - 1;
    const auto piece = [&](int64_t floor) {
      const R &low = logits[static_cast<size_t>(floor)],
              &high = logits[static_cast<size_t>(std::min(floor + 1, last))];
      return low + (position - R(floor)) * (high - low);
    };
    const auto [first, end] = FloorRange(position);
    R value = piece(std::clamp<int64_t>(first, 0, last));
    for (int64_t floor = std::max<int64_t>(first, 0) + 1; floor <= std::min(end, last); ++floor) {
      value = Hull(value, piece(floor));
    }
    return value;
  }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::cope
