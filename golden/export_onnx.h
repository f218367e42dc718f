#pragma once

#include <map>
#include <string>

#include "posgauge/golden/corpus.h"

namespace posgauge::golden {

/// The valid cases as ONNX backend tests, a folder for every case and dtype:
/// test_<scheme>_<manifest>_<case>_<dtype>/test_data_set_0/input_0.pb, ..., output_0.pb, each a
/// TensorProto. Inputs are double, outputs of the dtype.
///
/// Where the operator RotaryEmbedding (opset 23) computes the case (`rotate` in f32, f16 or bf16 of
/// inputs that the dtype holds, channels turning from the first on, halves or adjacent ones
/// paired), there is a model.onnx of that one node, and the inputs are its own: X [1, heads,
/// tokens, head_dim], cos_cache and sin_cache [1, tokens, pairs], proven too, all of the dtype. The
/// output is what real numbers give for the scheme, not what the operator makes of rounded caches.
std::map<std::string, std::string> OnnxTests(const PlacedManifest& placed);

}  // namespace posgauge::golden
