#pragma once

#include <string>

#include "posgauge/golden/json_reader.h"
#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// A case of a hand-written plan for the manifest's scheme, its outputs still empty;
/// docs/golden-format.md describes it. What the plan does not give is generated from `manifest_key`
/// and the case's id. A case `of` another takes the quantity and the inputs of that one, which the
/// manifest must hold already. Flags must be defined in the manifest's notes. Throws FormatError.
Case CaseFromPlan(const JsonReader& reader, const Manifest& manifest,
                  const std::string& manifest_key);

}  // namespace posgauge::golden
