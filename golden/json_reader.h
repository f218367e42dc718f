#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge::golden {

/// A JSON value of a file and where it stands there. Its members throw FormatError that begins with
/// both: "path: cases[3].id must be a string, got 7". Refers to the value.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& value, std::string path)
      : JsonReader(value, std::move(path), "") {}

  const nlohmann::json& value() const { return value_; }

  /// Throws unless `holds`; the message says what the value must be or is.
  template <class... Args>
  void Demand(bool holds, fmt::format_string<Args...> message, Args&&... args) const {
    if (holds) return;
    throw FormatError(fmt::format("{}: {}{}{}", path_, place_, place_.empty() ? "" : " ",
                                  fmt::format(message, std::forward<Args>(args)...)));
  }

  /// Requires an object with all the keys and no others but the optional ones.
  void Keys(const std::vector<std::string>& keys,
            const std::vector<std::string>& optional = {}) const {
    Demand(value_.is_object(), "must be an object, got {}", Shown(value_));
    for (const auto& [key, unused] : value_.items()) {
      Demand(std::ranges::find(keys, key) != keys.end() ||
                 std::ranges::find(optional, key) != optional.end(),
             "must not have the key {}", Shown(key));
    }
    for (const std::string& key : keys) Demand(value_.contains(key), "must have the key {}", key);
  }

  bool Has(const std::string& key) const { return value_.contains(key); }

  /// A member that Keys has required.
  JsonReader operator[](const std::string& key) const {
    return {value_.at(key), path_, place_.empty() ? key : fmt::format("{}.{}", place_, key)};
  }

  std::vector<JsonReader> List() const {
    Demand(value_.is_array(), "must be a list, got {}", Shown(value_));
    std::vector<JsonReader> elements;
    for (size_t i = 0; i < value_.size(); ++i) {
      elements.push_back({value_[i], path_, fmt::format("{}[{}]", place_, i)});
    }
    return elements;
  }

  std::string Text() const {
    Demand(value_.is_string(), "must be a string, got {}", Shown(value_));
    return value_.get<std::string>();
  }

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const JsonReader& element : List()) texts.push_back(element.Text());
    return texts;
  }

  /// An integer in 0..2^53, exact in every reader of JSON.
  int64_t Count() const {
    Demand(value_.is_number_unsigned() && value_.get<uint64_t>() <= uint64_t{1} << 53,
           "must be an integer in 0..2^53, got {}", Shown(value_));
    return value_.get<int64_t>();
  }

  std::vector<int64_t> Counts() const {
    std::vector<int64_t> counts;
    for (const JsonReader& element : List()) counts.push_back(element.Count());
    return counts;
  }

  /// read(), whose ParameterError becomes a FormatError of this place.
  template <class Read>
  auto Located(const Read& read) const {
    try {
      return read();
    } catch (const ParameterError& error) {
      throw FormatError(
          fmt::format("{}: {}{}{}", path_, place_, place_.empty() ? "" : ": ", error.what()));
    }
  }

 private:
  JsonReader(const nlohmann::json& value, std::string path, std::string place)
      : value_(value), path_(std::move(path)), place_(std::move(place)) {}

  const nlohmann::json& value_;
  std::string path_, place_;
};

}  // namespace posgauge::golden
