#include "posgauge/schemes/model/patches.h"

#include "posgauge/schemes/base/domain.h"

namespace posgauge {

namespace {

int64_t RequirePositive(const std::string& name, int64_t value) {
  Require(value >= 1 && value <= kLargestWidth, "{} must be in 1..{}, got {}", name, kLargestWidth,
          value);
  return value;
}

// One side of a square that configs write as a number or as [height, width].
int64_t GetSide(const Section& config, std::string_view key) {
  const auto at = config.Json().find(key);
  const bool listed = at != config.Json().end() && at->is_array();
  if (!listed) return GetPositive(config, key);
  Require(at->size() == 2 && at->front().is_number_integer() && at->front() == at->back(),
          "{} must be one number or two that are equal, got {}", config.Name(key), Shown(*at));
  return RequirePositive(config.Name(key), at->front().get<int64_t>());
}

}  // namespace

int64_t GetPositive(const Section& config, std::string_view key) {
  return RequirePositive(config.Name(key), config.Get<int64_t>(key));
}

int64_t GridOf(const Section& config) {
  const int64_t image = GetSide(config, "image_size"), patch = GetSide(config, "patch_size");
  Require(image >= patch, "{} must be at least {} {}, got {}", config.Name("image_size"),
          config.Name("patch_size"), patch, image);
  return image / patch;
}

}  // namespace posgauge
