#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/base/fields.h"

namespace posgauge {

/// An object of a config, with its place ("text_config.rope_scaling."), so that messages name keys
/// in full. A key that is null counts as absent, as published configs mean it. Refers to the JSON.
class Section {
 public:
  /// Throws ParameterError if `object` is no object; `place` is empty for the whole file.
  Section(const nlohmann::json& object, std::string place)
      : object_(&object), place_(std::move(place)) {
    Require(object.is_object(), "{} must be a JSON object, got {}",
            place_.empty() ? "a config" : place_.substr(0, place_.size() - 1), Shown(object));
  }

  const nlohmann::json& Json() const { return *object_; }

  /// The key's full name for messages, escaped so that it stays on one line.
  std::string Name(std::string_view key) const {
    const std::string quoted = Shown(std::string(key));
    return place_ + quoted.substr(1, quoted.size() - 2);
  }

  bool Has(std::string_view key) const {
    const auto at = object_->find(key);
    return at != object_->end() && !at->is_null();
  }

  /// Throws ParameterError when the value is of the wrong type.
  template <class Value>
  std::optional<Value> Find(std::string_view key) const {
    if (!Has(key)) return std::nullopt;
    Value value{};
    FromJson(Name(key), *object_->find(key), value);
    return value;
  }

  /// As Find, but throws ParameterError when the key is absent.
  template <class Value>
  Value Get(std::string_view key) const {
    std::optional<Value> value = Find<Value>(key);
    Require(value.has_value(), "{} is missing", Name(key));
    return *value;
  }

  /// The first of the keys that is there, which are old and new names of one fact; the first of all
  /// where none is.
  std::string_view FirstOf(std::initializer_list<std::string_view> keys) const {
    for (std::string_view key : keys) {
      if (Has(key)) return key;
    }
    return *keys.begin();
  }

  /// The first of the keys that is there. Throws ParameterError unless it is in 1..most.
  std::optional<int64_t> FindCount(std::initializer_list<std::string_view> keys,
                                   int64_t most) const {
    const std::string_view key = FirstOf(keys);
    const auto count = Find<int64_t>(key);
    Require(!count || (*count >= 1 && *count <= most), "{} must be in 1..{}, got {}", Name(key),
            most, count.value_or(0));
    return count;
  }

  std::optional<Section> FindSection(std::string_view key) const {
    if (!Has(key)) return std::nullopt;
    return Section(*object_->find(key), Name(key) + ".");
  }

  /// As FindSection, but throws ParameterError when the key is absent.
  Section GetSection(std::string_view key) const {
    std::optional<Section> section = FindSection(key);
    Require(section.has_value(), "{} is missing", Name(key));
    return *section;
  }

 private:
  const nlohmann::json* object_;
  std::string place_;
};

}  // namespace posgauge
