#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/rotary.h"
#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// The head's width and which of its channels rotate: head_dim or hidden_size/num_attention_heads;
/// rotary_dim, or int(head_dim * partial factor) with the product in binary64 (the factor in the
/// block wins), or the whole head for a rope type that turns it whole; with qk_rope_head_dim (MLA)
/// a suffix of [nope | rope]. Layers of `kind` full_attention have global_head_dim where that is
/// given; `kind` is empty where all layers share the block. Base and pairing are left at their
/// defaults. `type` may be nullptr. Throws ParameterError: a value that is missing, an odd width,
/// two keys that disagree.
Rotary ReadRotaryWidth(const Section& config, std::string_view kind,
                       const std::optional<Section>& block, const ModelType* type,
                       std::vector<std::string>& notes);

/// The base of a block. Flat: its own rope_theta, else the config's rope_theta or an alias of it,
/// else the model_type's; two that differ are refused, because frameworks disagree on which counts.
/// `nested`, a block of one layer kind: its own, which must be there.
double ReadBase(const Section& config, const std::optional<Section>& block, bool nested,
                const ModelType* type, std::vector<std::string>& notes);

/// The pairing and how it is known: `given` wins, then the config's own word (rope_interleave),
/// then the model_type. Throws ParameterError when none tells.
struct KnownPairing {
  Pairing pairing;
  std::string source;
};
KnownPairing ReadPairing(const Section& config, std::string_view model_type, const ModelType* type,
                         std::optional<Pairing> given, std::vector<std::string>& notes);

}  // namespace posgauge
