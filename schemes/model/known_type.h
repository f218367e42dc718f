#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// A model_type whose code is known, and how its configs are read.
struct KnownType {
  std::string_view model_type;
  std::vector<LayerGroup> (*read)(const Section& config, std::vector<std::string>& notes);
  std::string_view layers_key = "num_hidden_layers";  // of a vision part
};

/// nullptr for a model_type that is not among them.
template <size_t N>
const KnownType* FindKnown(const std::array<KnownType, N>& known, std::string_view model_type) {
  const auto at = std::find_if(known.begin(), known.end(), [&](const KnownType& type) {
    return type.model_type == model_type;
  });
  return at == known.end() ? nullptr : &*at;
}

}  // namespace posgauge
