#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// What the layers of a model have that rotates nothing: ALiBi, T5's buckets, Transformer-XL's
/// offsets, sinusoidal or learned rows, nothing at all. Empty for a rotary model. Appends notes as
/// ModelConfig has them. Throws ParameterError: an encoding that is not served, a value that is
/// missing or impossible.
std::vector<LayerGroup> ReadUnrotated(const Section& config, std::string_view model_type,
                                      std::vector<std::string>& notes);

}  // namespace posgauge
