#pragma once

#include "posgauge/properties/law.h"

namespace posgauge {

/// Of scores and attention of kernels that declare `grouped`: k and v with fewer heads than q, of
/// which query head h reads h kv_heads / heads, give what each group's key and value repeated for
/// every head of it give. Groups of the smallest size, then one of all heads.
Law GroupedHeadsLaw();

}  // namespace posgauge
