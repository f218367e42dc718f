#include "posgauge/schemes/model/rope_keys.h"

#include <algorithm>

#include "posgauge/schemes/base/domain.h"

namespace posgauge {

namespace {

using Keys = std::initializer_list<std::string_view>;
using Notes = std::vector<std::string>;

bool Contains(Keys keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

void CheckKeys(const Section& block, const std::string& type, Keys read, Keys without_effect,
               Notes& notes) {
  for (const auto& [key, value] : block.Json().items()) {
    const bool common = Contains({"type", "rope_type", "rope_theta", "partial_rotary_factor"}, key);
    if (value.is_null() || common || key.starts_with('_') || Contains(read, key)) continue;
    Require(Contains(without_effect, key),
            "{} is not understood for rope type '{}' and may change the rotation; it reads {}",
            block.Name(key), type, fmt::join(read, ", "));
    notes.push_back(fmt::format("{} has no effect on rope type '{}'", block.Name(key), type));
  }
}

int64_t RequiredLength(const std::string& type, const RopeContext& context) {
  Require(context.length.has_value(),
          "rope type '{}' depends on the current length in tokens: give --length N (largest "
          "position + 1)",
          type);
  RequireLength("--length", *context.length, 0);
  return *context.length;
}

std::optional<int64_t> OriginalLength(const Section& block, const RopeContext& context,
                                      Notes& notes) {
  constexpr std::string_view kKey = "original_max_position_embeddings";
  const auto inside = block.Find<int64_t>(kKey);
  if (context.nested || !context.config.Has(kKey)) return inside;
  const auto beside = context.config.Find<int64_t>(kKey);
  if (inside && inside != beside) {
    notes.push_back(fmt::format("{} {} overrides {} {}", context.config.Name(kKey), *beside,
                                block.Name(kKey), *inside));
  }
  return beside;
}

double FactorOrQuotient(const Section& block, int64_t original, const RopeContext& context,
                        Notes& notes) {
  const auto factor = block.Find<double>("factor");
  const double quotient = context.max_position ? static_cast<double>(*context.max_position) /
                                                     static_cast<double>(original)
                                               : 0;  // unknown
  if (!factor) {
    const std::string_view is = block.Json().contains("factor") ? "null" : "missing";
    Require(quotient != 0, "{} is {} and there is no {} to derive it from", block.Name("factor"),
            is, context.config.Name("max_position_embeddings"));
    notes.push_back(fmt::format(
        "{} is {}: {} is max_position_embeddings over the original length, as transformers "
        "fills it in",
        block.Name("factor"), is, quotient));
    return quotient;
  }
  if (quotient != 0 && quotient != *factor) {
    notes.push_back(
        fmt::format("{} is {}, max_position_embeddings over the original length is {}: some "
                    "releases of transformers use that quotient in place of the factor",
                    block.Name("factor"), *factor, quotient));
  }
  return *factor;
}

}  // namespace posgauge
