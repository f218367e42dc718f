#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// The rows that a model_type adds to embeddings, learned or sinusoidal; empty for one that is not
/// known to. Throws ParameterError: a value that is missing or impossible.
std::vector<LayerGroup> ReadAddedRows(const Section& config, std::string_view model_type,
                                      std::vector<std::string>& notes);

/// A learned row a position. Of each fact the first key that is there counts.
learned::Params TableOf(const Section& config, std::initializer_list<std::string_view> width_keys,
                        std::initializer_list<std::string_view> rows_keys);

/// One group "all".
std::vector<LayerGroup> OneGroup(Scheme scheme);

/// Groups "encoder" and "decoder".
std::vector<LayerGroup> EncoderAndDecoder(Scheme encoder, Scheme decoder);

}  // namespace posgauge
