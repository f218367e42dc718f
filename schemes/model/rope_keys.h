#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/schemes/model/rope_block.h"

namespace posgauge {

// What several rope types read alike. All throw ParameterError and append to `notes`.

/// Every key of the block must be one that the type reads, or one known to have no effect on it,
/// which is noted.
void CheckKeys(const Section& block, const std::string& type,
               std::initializer_list<std::string_view> read,
               std::initializer_list<std::string_view> without_effect,
               std::vector<std::string>& notes);

/// The current length in tokens, which no config holds and the caller must give.
int64_t RequiredLength(const std::string& type, const RopeContext& context);

/// original_max_position_embeddings. A length beside the block wins over the one inside, but only
/// where the block is flat.
std::optional<int64_t> OriginalLength(const Section& block, const RopeContext& context,
                                      std::vector<std::string>& notes);

/// The factor; null or missing means max_position/original (transformers). One that says otherwise
/// is a known trap, and noted.
double FactorOrQuotient(const Section& block, int64_t original, const RopeContext& context,
                        std::vector<std::string>& notes);

}  // namespace posgauge
