#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/axial.h"
#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

// The rotary part of vision towers. All throw ParameterError, and note what frameworks read
// differently.

/// Half of the pairs of a head count rows, half columns, each with frequencies of its own.
axial::Params AxialOf(const Section& config, std::string_view width_key, std::string_view heads_key,
                      Pairing pairing);

/// The base, which newer configs have in a block that scales nothing: its rope type is default, or
/// `other_word`.
double TowerBaseOf(const Section& config, const ModelType& type, std::vector<std::string>& notes,
                   std::string_view other_word = "default");

/// Those of a model_type, from its whole vision part.
axial::Params PixtralAxial(const Section& config, std::vector<std::string>& notes);
axial::Params Gemma4Axial(const Section& config, std::vector<std::string>& notes);
axial::Params FluxAxial(const Section& config, std::vector<std::string>& notes);

}  // namespace posgauge
