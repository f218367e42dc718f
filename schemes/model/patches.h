#pragma once

#include <string_view>

#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// A number in 1..kLargestWidth. Throws ParameterError.
int64_t GetPositive(const Section& config, std::string_view key);

/// Patches of a side of the square image that the config is for, image_size/patch_size, each one
/// number or [height, width]. Throws ParameterError: a size that is missing or impossible, an image
/// or a patch that is no square.
int64_t GridOf(const Section& config);

}  // namespace posgauge
