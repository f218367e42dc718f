#pragma once

#include <vector>

#include "posgauge/properties/generator.h"
#include "posgauge/properties/law.h"
#include "posgauge/schemes/mixed.h"

namespace posgauge::mixed {

/// The scheme's own laws, those that these parameters come under.
std::vector<Law> Laws(const Params& params);

/// Valid parameters, small ones simplest. Includes <rapidcheck/Gen.h> where it is called.
rc::Gen<Params> AnyParams();

}  // namespace posgauge::mixed
