#pragma once

#include <string>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// The windows of a Swin model, a group "stage0", "stage1" and so on for the layers of each stage,
/// whose heads differ, and "patches" where a learned table is added. Throws ParameterError.
std::vector<LayerGroup> ReadSwin(const Section& config, std::vector<std::string>& notes);

/// The same of Swin v2.
std::vector<LayerGroup> ReadSwin2(const Section& config, std::vector<std::string>& notes);

}  // namespace posgauge
