#include "posgauge/properties/mrope.h"

#include <rapidcheck.h>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"

namespace posgauge::mrope {

std::vector<Law> Laws(const Params&) { return {}; }

rc::Gen<Params> AnyParams() { return rc::gen::just(Params{}); }

}  // namespace posgauge::mrope
