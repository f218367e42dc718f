#include "posgauge/schemes/model/attention_heads.h"

namespace posgauge {

Attention ReadAttention(const Section& config, std::initializer_list<std::string_view> heads_keys,
                        std::initializer_list<std::string_view> width_keys) {
  const int64_t heads = config.Get<int64_t>(config.FirstOf(heads_keys)),
                width = config.Get<int64_t>(config.FirstOf(width_keys));
  Require(heads >= 1 && width >= 1 && width % heads == 0,
          "{} must be a multiple of {} heads, got {}", config.Name(config.FirstOf(width_keys)),
          heads, width);
  return {.heads = heads, .head_dim = width / heads};
}

}  // namespace posgauge
