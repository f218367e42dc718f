#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// What a vision model, or the vision part of a multimodal one, has: the kind "vision" turns or
/// adds in every layer's attention, or to the patches; "vision_table" is a learned table of a model
/// that also rotates. Empty for a model_type whose code is not known. Positions are (row, column)
/// of patches unless a note says otherwise. Throws ParameterError: a value that is missing or
/// impossible.
std::vector<LayerGroup> ReadVision(const Section& config, std::string_view model_type,
                                   std::vector<std::string>& notes);

/// An open_clip config, {"text_cfg": ..., "vision_cfg": ...}: a table of the text, and of the
/// vision tower a table and, in EVA-02, a rotation. Throws ParameterError.
std::vector<LayerGroup> ReadOpenClip(const Section& config, std::vector<std::string>& notes);

}  // namespace posgauge
