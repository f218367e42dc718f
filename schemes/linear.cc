#include "posgauge/schemes/linear.h"

#include "posgauge/schemes/base/domain.h"

namespace posgauge::linear {

void Params::Validate() const {
  rotary.Validate();
  RequireScale("factor", factor, kSmallestScale);
}

}  // namespace posgauge::linear
