#pragma once

#include "posgauge/schemes/model/rope_block.h"

namespace posgauge {

/// The scheme that a block of rope type yarn means, under its own word (deepseek_yarn,
/// telechat3-yarn). As ReadRopeBlock.
Scheme ReadYarn(const Section& block, const std::string& word, const Rotary& rotary,
                const RopeContext& context, std::vector<std::string>& notes);

/// Of rope type dynamic-yarn: the factor follows from the current length.
Scheme ReadDynamicYarn(const Section& block, const Rotary& rotary, const RopeContext& context,
                       std::vector<std::string>& notes);

}  // namespace posgauge
