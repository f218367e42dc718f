#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// What every kernel that adds rows to embeddings must do, whatever the rows are.
std::vector<Law> AdditionLaws();

}  // namespace posgauge
