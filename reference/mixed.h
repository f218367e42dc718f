#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "posgauge/reference/turned_products.h"
#include "posgauge/schemes/mixed.h"

namespace posgauge::mixed {

/// Of a patch, or of what two of them are apart.
struct Place {
  int64_t x, y;

  auto operator<=>(const Place&) const = default;
};

inline Place PlaceOf(const Params& params, double position) {
  const auto patch = static_cast<int64_t>(position);
  return {patch % params.window.w, patch / params.window.w};
}

/// (cos, sin) of every pair of every head, for the places that a call has. As real numbers scores
/// depend on the difference of two places alone, which is how they are enclosed; what stands for a
/// kernel turns both vectors, as kernels do.
template <class R>
class Shared {
 public:
  Shared(const Params& params, const NamedInputs& inputs) : params_(&params), inputs_(&inputs) {}

  void Evaluate() {
    const ExactTensor *queries = inputs_->Find("query_positions"),
                      *keys = inputs_->Find("key_positions");
    if (queries == nullptr || keys == nullptr) return;
    for (double query : queries->values) {
      for (double key : keys->values) {
        const Place from = PlaceOf(*params_, query), to = PlaceOf(*params_, key);
        if constexpr (kIsInterval<R>) {
          Add({from.x - to.x, from.y - to.y});
        } else {
          Add(from);
          Add(to);
        }
      }
    }
  }

  /// [pairs].
  const std::vector<std::array<R, 2>>& Turns(int64_t head, const Place& place) const {
    return turns_.at(place)[static_cast<size_t>(head)];
  }

 private:
  // phi = x fx + y fy. Heo et al. 2024, eq. 9.
  void Add(const Place& place) {
    auto& of_heads = turns_[place];
    if (!of_heads.empty()) return;
    const ExactTensor &of_x = (*inputs_)["x_frequency"], &of_y = (*inputs_)["y_frequency"];
    for (int64_t head = 0; head < of_x.shape[0]; ++head) {
      auto& turns = of_heads.emplace_back();
      for (int64_t pair = 0; pair < of_x.shape[1]; ++pair) {
        turns.push_back(CosSin(SumOfAngles(Angle(R(place.x), R(of_x.At(head, pair))),
                                           Angle(R(place.y), R(of_y.At(head, pair))))));
      }
    }
  }

  const Params* params_;
  const NamedInputs* inputs_;
  std::map<Place, std::vector<std::vector<std::array<R, 2>>>> turns_;  // [heads][pairs]
};

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head,
       std::shared_ptr<const Shared<R>> shared)
      : params_(&params), inputs_(&inputs), head_(head), shared_(std::move(shared)) {}

  /// Re(conj(q) k e^(i phi)) of every pair, and the plain products of channels that do not turn.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const std::vector<R> q = HeadRow<R>(in["q"], query, head_), k = HeadRow<R>(in["k"], key, head_);
    const Place from = PlaceOf(*params_, in["query_positions"].At(query)),
                to = PlaceOf(*params_, in["key_positions"].At(key));
    const Rotary rotary = params_->turning.Of(params_->attention);
    const std::span<const R> all_of_q(q), all_of_k(k);
    std::vector<R> terms = StillProducts(rotary, all_of_q, all_of_k);
    for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
      const std::array<R, 2> of_q = PairOf(rotary, pair, all_of_q),
                             of_k = PairOf(rotary, pair, all_of_k);
      const auto i = static_cast<size_t>(pair);
      const std::array<R, 2> products = [&] {
        if constexpr (kIsInterval<R>) {
          const Place apart = {from.x - to.x, from.y - to.y};
          return ProductsApart(of_q, of_k, shared_->Turns(head_, apart)[i]);
        } else {
          return ProductsOfTurned(of_q, shared_->Turns(head_, from)[i], of_k,
                                  shared_->Turns(head_, to)[i]);
        }
      }();
      terms.insert(terms.end(), products.begin(), products.end());
    }
    return Scaled(params_->attention, Sum(terms));
  }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
  std::shared_ptr<const Shared<R>> shared_;
};

template <class R>
std::shared_ptr<Shared<R>> MakeShared(const Params& params, const NamedInputs& inputs) {
  return std::make_shared<Shared<R>>(params, inputs);
}

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head,
                 std::shared_ptr<const Shared<R>> shared) {
  return {params, inputs, head, std::move(shared)};
}

}  // namespace posgauge::mixed
