#pragma once

#include <string_view>

#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// Throws ParameterError with the reason when a config is of a model that rotates nothing: ALiBi,
/// T5's and DeBERTa's biases, learned or sinusoidal positions, none at all.
void RequireRotary(const Section& config, std::string_view model_type);

}  // namespace posgauge
