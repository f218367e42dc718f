#pragma once

#include <vector>

#include "posgauge/properties/law.h"
#include "posgauge/schemes/base/window.h"

namespace posgauge {

// Of schemes that act within a window of tokens.

/// Moving two tokens by as many rows and columns, within the window, changes nothing; of `buckets`
/// and `bias`.
Law WindowTranslationLaw();

/// At most `most` tokens of a window, the first and the last among them, spread by the seed;
/// ascending.
std::vector<double> SomeTokens(const Window& window, size_t most, uint64_t seed);

/// Biases or buckets of these tokens with one another; tensors of the case that go by queries and
/// keys are left out.
NamedInputs AmongTokens(const NamedInputs& inputs, const std::vector<double>& tokens);

}  // namespace posgauge
