#include "posgauge/verify/contract_file.h"

#include <algorithm>
#include <optional>

#include <toml++/toml.h>

#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/contract_presets.h"

namespace posgauge {

namespace {

constexpr size_t kLargestFile = 1 << 16;

std::string Place(const std::string& path, const toml::source_region& region) {
  return fmt::format("{}:{}:{}", path, region.begin.line, region.begin.column);
}

// Whether it stays one part of a line's words.
bool IsPlain(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != '='; });
}

std::string WordOf(std::string_view key, const toml::node& value, const std::string& place) {
  if (!IsPlain(key)) throw FormatError(fmt::format("{}: unknown key {}", place, Shown(key)));
  if (const auto text = value.value_exact<std::string_view>()) {
    if (IsPlain(*text))
      return key == "preset" ? std::string(*text) : fmt::format("{}={}", key, *text);
  }
  const auto flag = value.value_exact<bool>();
  if (flag && key == "flush") return *flag ? "flush=yes" : "flush=no";
  throw FormatError(
      fmt::format("{}: {} must be {}", place, Shown(key),
                  key == "flush" ? "true or false" : "one word in quotes, such as \"f32\""));
}

}  // namespace

std::string ContractLineFromToml(std::string_view text, const std::string& path) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    // The parser quotes what it saw, line feeds too.
    std::string why(error.description());
    std::ranges::replace_if(
        why, [](char c) { return c >= 0 && c < ' '; }, ' ');
    throw FormatError(fmt::format("{}: not TOML: {}", Place(path, error.source()), why));
  }
  std::string preset, words;
  for (const auto& [key, value] : table) {
    const std::string place = Place(path, key.source());
    const std::string word = WordOf(key.str(), value, place);
    try {
      Contract::Parse(word, Dtype::f32);
    } catch (const ParameterError& error) {
      throw FormatError(fmt::format("{}: {}", place, error.what()));
    }
    (key.str() == "preset" ? preset : words) += word + " ";
  }
  return preset + words;
}

std::string ReadContractLine(const std::string& given) {
  if (!given.ends_with(".toml")) return given;
  return ContractLineFromToml(ReadFile(given, kLargestFile), given);
}

}  // namespace posgauge
