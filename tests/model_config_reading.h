// What the tests of model configs share: reading from text, and asking what a reading means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/model/config.h"

namespace posgauge::config_test {

using nlohmann::json;

inline std::filesystem::path ModelPath(const std::string& name) {
  return std::filesystem::path(POSGAUGE_SOURCE_DIR) / "golden/models" / (name + ".json");
}

inline ModelConfig Model(const std::string& name, const ConfigOverrides& overrides = {}) {
  return ReadModelConfig(ModelPath(name), overrides);
}

inline ModelConfig Read(const std::string& text, const ConfigOverrides& overrides = {}) {
  return ModelConfigFromJson(ParseJson(text, "config.json"), "config.json", overrides);
}

// The message of a refusal, or what was read instead.
inline std::string Refusal(const std::string& text, const ConfigOverrides& overrides = {}) {
  try {
    return "read as " + ToJson(Read(text, overrides).groups.at(0).scheme).dump();
  } catch (const Error& error) {
    return error.what();
  }
}

// A Llama config of head width 128 with some keys set; null removes nothing, as in published files.
inline json Llama(const json& changes) {
  json config = {{"model_type", "llama"},     {"hidden_size", 4096},
                 {"num_attention_heads", 32}, {"num_hidden_layers", 4},
                 {"rope_theta", 10000.0},     {"max_position_embeddings", 8192}};
  config.update(changes);
  return config;
}

inline ModelConfig ReadLlama(const json& changes, const ConfigOverrides& overrides = {}) {
  return Read(Llama(changes).dump(), overrides);
}

inline std::string LlamaRefusal(const json& changes, const ConfigOverrides& overrides = {}) {
  return Refusal(Llama(changes).dump(), overrides);
}

inline const Scheme& Only(const ModelConfig& model) {
  EXPECT_EQ(model.groups.size(), 1u);
  return model.groups.at(0).scheme;
}

inline bool HasNote(const ModelConfig& model, const std::string& part) {
  for (const std::string& note : model.notes) {
    if (note.find(part) != note.npos) return true;
  }
  return false;
}

inline double MagnitudeOf(const ModelConfig& model) {
  return ExactRotation(Only(model)).Magnitude(Dtype::f64).values.at(0);
}

inline double SoftmaxOf(const ModelConfig& model) {
  return ExactRotation(Only(model)).SoftmaxMultiplier(Dtype::f64).values.at(0);
}

inline std::vector<double> FrequenciesOf(const Scheme& scheme) {
  return ExactRotation(scheme).Frequencies(Dtype::f64).values;
}

// Changes to Llama() that scale it by YaRN, with some keys of the block changed.
inline json Yarn(const json& changes) {
  json block = {{"rope_type", "yarn"}, {"factor", 40}, {"original_max_position_embeddings", 4096}};
  block.update(changes);
  return {{"rope_scaling", block}, {"max_position_embeddings", nullptr}};
}

}  // namespace posgauge::config_test
