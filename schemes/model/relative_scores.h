#pragma once

#include <string>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

// Models whose scores have products with vectors of distances. All append notes as ModelConfig has
// them and throw ParameterError.

/// DeBERTa's, of either version, and the table "embeddings" where one is added besides.
std::vector<LayerGroup> ReadDeberta(const Section& config, std::vector<std::string>& notes);

/// Transformer-XL's.
std::vector<LayerGroup> ReadTransformerXl(const Section& config, std::vector<std::string>& notes);

/// XLNet's, which are Transformer-XL's to one side or both.
std::vector<LayerGroup> ReadXlnet(const Section& config, std::vector<std::string>& notes);

}  // namespace posgauge
