#pragma once

#include <array>
#include <cmath>
#include <map>

#include "posgauge/reference/interval.h"
#include "posgauge/reference/named_inputs.h"

namespace posgauge {

/// What depends on the positions of a query and a key by their difference alone, made once for all
/// that a call has.
template <class R, class Value>
class ByOffset {
 public:
  /// make(query, key) of every offset; of a call without positions there are none.
  template <class Make>
  void Fill(const NamedInputs& inputs, const Make& make) {
    const ExactTensor *queries = inputs.Find("query_positions"),
                      *keys = inputs.Find("key_positions");
    if (queries == nullptr || keys == nullptr) return;
    for (double query : queries->values) {
      for (double key : keys->values) Add(query, key, make);
    }
  }

  /// make(query, key), unless it is there.
  template <class Make>
  void Add(double query, double key, const Make& make) {
    const auto place = values_.lower_bound(KeyOf(query, key));
    if (place != values_.end() && place->first == KeyOf(query, key)) return;
    values_.emplace_hint(place, KeyOf(query, key), make(query, key));
  }

  const Value& At(double query, double key) const { return values_.at(KeyOf(query, key)); }

 private:
  using Key = std::array<double, 3>;

  // Whole positions share what their difference gives where R has them and it without rounding:
  // intervals below 2^53, numbers that stand for a kernel's up to what the shortest dtype holds,
  // since its subtraction may read positions rounded. Others share nothing.
  static Key KeyOf(double query, double key) {
    constexpr double kHeld = kIsInterval<R> ? 0x1p53 : 8;
    const double difference = query - key;
    const bool shares = query == std::trunc(query) && key == std::trunc(key) &&
                        std::abs(query) <= kHeld && std::abs(key) <= kHeld &&
                        std::abs(difference) < 0x1p53;
    return shares ? Key{difference, 0, 0} : Key{difference, query, key};
  }

  std::map<Key, Value> values_;
};

}  // namespace posgauge
