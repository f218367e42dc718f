#pragma once

#include "posgauge/cli/dialect_table.h"

namespace posgauge::cli::dialect {

/// The scheme's parameters; the row's scheme has been asked for.
template <class Params>
const Params& As(const DialectContext& context) {
  return std::get<Params>(context.scheme);
}

/// Whether an object of the config, at any depth, has the key with a value that is not null.
bool ConfigHas(const nlohmann::json& config, std::string_view key);

/// Whether rope_parameters has a block for each kind of layer.
bool HasBlocks(const DialectContext& context);

// When a row applies.
bool Always(const DialectContext& context);
bool TruncateFalse(const DialectContext& context);
bool TruncateFalseInBlocks(const DialectContext& context);
bool MscaleAloneDeepseek(const DialectContext& context);
bool MscaleAloneHuggingface(const DialectContext& context);
bool DeepseekMagnitude(const DialectContext& context);
bool Telechat3(const DialectContext& context);
bool AttnFactor(const DialectContext& context);
bool ExtrapolationFactor(const DialectContext& context);
bool ApplyYarnScalingFalse(const DialectContext& context);
bool PartialPrefix(const DialectContext& context);
bool InterleavedTail(const DialectContext& context);
bool Dynamic(const DialectContext& context);
bool StaticAlpha(const DialectContext& context);
bool Regimes(const DialectContext& context);
bool Mscales(const DialectContext& context);
bool LinearOfGemma3(const DialectContext& context);
bool HalfPair(const DialectContext& context);
bool ProportionalFactor(const DialectContext& context);
bool Step(const DialectContext& context);
bool OtherBand(const DialectContext& context);
bool OtherDistance(const DialectContext& context);
bool VisionBlocks(const DialectContext& context);

// What a framework reads.
Scheme PaperRamp(const DialectContext& context);
Scheme Truncated(const DialectContext& context);
Scheme HuggingfaceMagnitude(const DialectContext& context);
Scheme DeepseekRatio(const DialectContext& context);
Scheme PureRotation(const DialectContext& context);
Scheme NoAttnFactor(const DialectContext& context);
Scheme NoExtrapolationFactor(const DialectContext& context);
Scheme FourthAxis(const DialectContext& context);
Scheme LongestLength(const DialectContext& context);
Scheme Unscaled(const DialectContext& context);
Scheme NaiveBase(const DialectContext& context);
Scheme EngineLength(const DialectContext& context);
Scheme AlwaysLong(const DialectContext& context);
Scheme NoMscales(const DialectContext& context);
Scheme CeilingOfPairs(const DialectContext& context);
Scheme NoFactor(const DialectContext& context);
Scheme Llama31Band(const DialectContext& context);
Scheme Distance128(const DialectContext& context);

}  // namespace posgauge::cli::dialect
