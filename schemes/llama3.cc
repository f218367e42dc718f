#include "posgauge/schemes/llama3.h"

#include "posgauge/schemes/base/domain.h"

namespace posgauge::llama3 {

void Params::Validate() const {
  rotary.Validate();
  RequireScale("factor", factor, 1);
  RequireScale("low_frequency_factor", low_frequency_factor, kSmallestScale);
  RequireScale("high_frequency_factor", high_frequency_factor, kSmallestScale);
  Require(low_frequency_factor <= high_frequency_factor,
          "high_frequency_factor must be at least low_frequency_factor {}, got {}",
          low_frequency_factor, high_frequency_factor);
  RequireLength("original_length", original_length);
}

}  // namespace posgauge::llama3
