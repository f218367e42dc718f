#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

/// Numbers as a framework holds them, each one of its dtype.
struct HeldNumbers {
  Dtype dtype = Dtype::f32;
  std::vector<double> values;
  bool operator==(const HeldNumbers&) const = default;
};

/// What a framework really uses in a layer; what is not set was not said.
struct Effective {
  std::optional<std::string> scheme;       // a scheme's word; "none" where nothing rotates
  std::optional<HeldNumbers> inv_freq;     // radians per token, one a pair; empty: nothing rotates
  std::optional<double> attention_factor;  // on cos and sin
  std::optional<double> softmax_multiplier;  // on the logits besides 1/sqrt(head_dim)
  std::optional<double> logit_scale;         // on <q, k>, all in all
  std::optional<int64_t> rotary_dim, rotary_offset;
  std::optional<Pairing> pairing;
  std::optional<HeldNumbers> slopes;  // ALiBi, one a head
  std::optional<int64_t> num_buckets, max_distance;
  std::optional<bool> bidirectional;

  /// Nothing was said.
  bool IsEmpty() const { return *this == Effective{}; }

  /// What `own` says, and what it leaves open as this says it, unless it is that nothing rotates.
  Effective With(const Effective& own) const;
  bool operator==(const Effective&) const = default;
};

/// The effective parameters of a model.
struct EffectiveFile {
  std::string path, source;
  Effective everywhere;                     // in every layer that says nothing of its own
  std::map<std::string, Effective> layers;  // by "3", an index from 0, or a kind: "full_attention"
};

/// Reads a file of effective parameters: .safetensors, any other ending JSON
/// (docs/effective-parameters.md). Throws FileError and FormatError or ParameterError that begins
/// with the path.
EffectiveFile ReadEffective(const std::filesystem::path& path);

}  // namespace posgauge
