#pragma once

#include <cmath>
#include <map>
#include <utility>

#include "posgauge/reference/named_inputs.h"

namespace posgauge {

/// What depends on the positions of a query and a key by their difference alone, made once for all
/// that a call has.
template <class Value>
class ByOffset {
 public:
  /// make(query, key) of every offset; of a call without positions there are none.
  template <class Make>
  void Fill(const NamedInputs& inputs, const Make& make) {
    const ExactTensor *queries = inputs.Find("query_positions"),
                      *keys = inputs.Find("key_positions");
    if (queries == nullptr || keys == nullptr) return;
    for (double query : queries->values) {
      for (double key : keys->values) {
        const auto place = values_.lower_bound(KeyOf(query, key));
        if (place != values_.end() && place->first == KeyOf(query, key)) continue;
        values_.emplace_hint(place, KeyOf(query, key), make(query, key));
      }
    }
  }

  const Value& At(double query, double key) const { return values_.at(KeyOf(query, key)); }

 private:
  // The difference of whole positions is a number; others share nothing.
  static std::pair<double, double> KeyOf(double query, double key) {
    const bool whole = query == std::trunc(query) && key == std::trunc(key);
    return {query - key, whole ? 0 : query};
  }

  std::map<std::pair<double, double>, Value> values_;
};

}  // namespace posgauge
