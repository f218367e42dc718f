#pragma once

#include "posgauge/schemes/model/config.h"
#include "posgauge/schemes/model/layers.h"
#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// Whether a config asks for the NTK scaling that Qwen-1's own code has (use_dynamic_ntk).
bool HasQwenNtk(const Section& config);

/// Adds to a model that rotates its groups of layers, each with its scheme, its notes, and how its
/// pairing is known. The model's sizes must have been read. `type` may be nullptr. Throws
/// ParameterError.
void ReadRotating(const Section& config, const ModelType* type, const ConfigOverrides& overrides,
                  const Layers& layers, ModelConfig& model);

}  // namespace posgauge
