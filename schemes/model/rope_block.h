#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// What the meaning of a rope block depends on, besides the block.
struct RopeContext {
  Section config;                       // the object that holds the block
  bool nested = false;                  // the block is one of several, a layer kind each
  const ModelType* type = nullptr;      // nullptr: not known
  std::optional<int64_t> max_position;  // tokens
  std::optional<int64_t> length;        // tokens, from the caller
};

/// The rope type that a block names, under its own word: rope_type, or type in older configs;
/// "default" for a block that scales nothing. Throws ParameterError when the two disagree, or a
/// block with scaling keys names none.
std::string RopeTypeOf(const Section& block);

/// Whether the rope type rotates the whole head, so that partial_rotary_factor is no width.
bool TurnsWholeHead(const std::optional<Section>& block);

/// The scheme that a block (rope_scaling, rope_parameters or one of its layer kinds) means, on the
/// given rotary layout; no block is the unscaled scheme. Appends to `notes` what a reader should
/// know. Throws ParameterError: a rope type that is not served, a value that is missing or
/// impossible, a key that is not understood.
Scheme ReadRopeBlock(const std::optional<Section>& block, const Rotary& rotary,
                     const RopeContext& context, std::vector<std::string>& notes);

}  // namespace posgauge
