#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "posgauge/fast/bias.h"
#include "posgauge/schemes/base/window.h"

namespace posgauge::fast {

/// The number of the offset of a query and a key, tokens of the window.
class OffsetNumber {
 public:
  explicit OffsetNumber(const Window& window) {
    for (int64_t y = 0; y < window.h; ++y) {
      for (int64_t x = 0; x < window.w; ++x) places_.push_back(y * (2 * window.w - 1) + x);
    }
  }

  int64_t operator()(double query, double key) const {
    const auto place = [this](double token) { return places_[static_cast<size_t>(token)]; };
    return place(query) + places_.back() - place(key);
  }

 private:
  // y (2w - 1) + x of every token: what two of them differ by, and that of the last token added, is
  // the number of their offset.
  std::vector<int64_t> places_;
};

/// The table's entry of the offset, as it is; table [offsets].
template <class T>
FillBiasRow<T> BiasByOffset(const Window& window, std::vector<T> table) {
  return [table = std::move(table), number = OffsetNumber(window)](const BiasRow<T>& row) {
    for (size_t j = 0; j < row.keys; ++j) {
      row.out[j] = table[static_cast<size_t>(number(row.query, row.key[j]))];
    }
  };
}

}  // namespace posgauge::fast
