#include "posgauge/schemes/yarn.h"

#include "posgauge/schemes/base/domain.h"

namespace posgauge::yarn {

void Params::Validate() const {
  rotary.Validate();
  Require(rotary.base > 1, "base must be above 1 for YaRN (it divides by ln base), got {}",
          rotary.base);
  RequireScale("factor", factor, 1);
  RequireLength("original_length", original_length);
  RequireScale("beta_slow", beta_slow, kSmallestScale);
  RequireScale("beta_fast", beta_fast, kSmallestScale);
  Require(beta_slow <= beta_fast, "beta_fast must be at least beta_slow {}, got {}", beta_slow,
          beta_fast);
  Require(extrapolation_factor >= 0 && extrapolation_factor <= 1,
          "extrapolation_factor must be in 0..1, got {}", extrapolation_factor);
  RequireScale("attention_multiplier", attention_multiplier, kSmallestScale);
  if (attention_factor) RequireScale("attention_factor", *attention_factor, kSmallestScale);
  if (mscale) RequireScale("mscale", *mscale, 0);
  if (mscale_all_dim) RequireScale("mscale_all_dim", *mscale_all_dim, 0);
}

}  // namespace posgauge::yarn
