#pragma once

#include <initializer_list>
#include <string_view>

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// Heads of equal width, all of one width together. Of each fact the first key that is there
/// counts. Throws ParameterError: a value that is missing, a width that is no multiple.
Attention ReadAttention(const Section& config, std::initializer_list<std::string_view> heads_keys,
                        std::initializer_list<std::string_view> width_keys);

}  // namespace posgauge
