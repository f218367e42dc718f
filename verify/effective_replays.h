#pragma once

#include <functional>
#include <optional>

#include "posgauge/verify/effective_cause.h"

namespace posgauge::replay {

using Readings = std::vector<Reading>;

/// The scheme's own factor: of linear, ntk, yarn, llama3, proportional. Null for others, and for
/// longrope, where it is no factor on frequencies.
double* FactorOf(Scheme& scheme);

/// The frequencies of plain RoPE in the same rotary block.
std::vector<double> PlainFrequenciesOf(const ReplayContext& context);

/// Adds what the scheme means, with what is different said in words; nothing where the scheme is
/// invalid or the one that the config means.
void AddScheme(Readings& readings, const ReplayContext& context, const Scheme& scheme,
               std::string difference);

/// What the config means with other frequencies, formed in binary64 by at most 24 operations from
/// proven ones.
Readings WithFrequencies(const ReplayContext& context, std::vector<double> frequencies,
                         std::string difference);

// Base, width, direction, layers: frequency_replays.cc.
Readings BaseIgnored(const ReplayContext& context);
Readings BaseOther(const ReplayContext& context);
Readings RotaryDimIgnored(const ReplayContext& context);
Readings RotaryOffsetIgnored(const ReplayContext& context);
Readings ExponentOverHead(const ReplayContext& context);
Readings ExponentEndsAtBase(const ReplayContext& context);
Readings ExponentWithoutTwo(const ReplayContext& context);
Readings FrequencyInverted(const ReplayContext& context);
Readings FrequenciesReversed(const ReplayContext& context);
Readings DirectionReversed(const ReplayContext& context);
Readings PairingOther(const ReplayContext& context);
Readings OtherKindUsed(const ReplayContext& context);
Readings FactorOfOtherKind(const ReplayContext& context);
Readings RotationMissing(const ReplayContext& context);
Readings RotationUnasked(const ReplayContext& context);

// Scaling: schedule_replays.cc.
Readings ScalingIgnored(const ReplayContext& context);
Readings FactorIgnored(const ReplayContext& context);
Readings FactorInverted(const ReplayContext& context);
Readings FactorTwice(const ReplayContext& context);
Readings FactorOther(const ReplayContext& context);
Readings OriginalLengthOther(const ReplayContext& context);
Readings ScaleInsidePower(const ReplayContext& context);
Readings LinearForAll(const ReplayContext& context);
Readings NtkForLinear(const ReplayContext& context);
Readings NtkExponent(const ReplayContext& context);
Readings NtkNaive(const ReplayContext& context);
Readings LengthIgnored(const ReplayContext& context);
Readings LengthFixed(const ReplayContext& context);
Readings OtherFactorList(const ReplayContext& context);
Readings ProportionIgnored(const ReplayContext& context);
Readings ProportionAsPrefix(const ReplayContext& context);
Readings ProportionCeiling(const ReplayContext& context);

// Ramps: ramp_replays.cc.
Readings RampTruncated(const ReplayContext& context);
Readings RampNotTruncated(const ReplayContext& context);
Readings RampOverTurns(const ReplayContext& context);
Readings RampInverted(const ReplayContext& context);
Readings BetasSwapped(const ReplayContext& context);
Readings RampClampHalf(const ReplayContext& context);
Readings Llama3FactorsSwapped(const ReplayContext& context);
Readings Llama3FactorsDefault(const ReplayContext& context);
Readings Llama3BlendOnPeriod(const ReplayContext& context);
Readings Llama3BlendReversed(const ReplayContext& context);

// Attention: attention_replays.cc.
Readings AttentionFactorIgnored(const ReplayContext& context);
Readings AttentionFactorSquared(const ReplayContext& context);
Readings AttentionFactorInverted(const ReplayContext& context);
Readings AttentionFactorTimesRule(const ReplayContext& context);
Readings AttentionFactorByRule(const ReplayContext& context);
Readings AttnFactorIgnored(const ReplayContext& context);
Readings AttentionFactorLoggedTwice(const ReplayContext& context);
Readings MscaleRaw(const ReplayContext& context);
Readings MscaleAlone(const ReplayContext& context);
Readings MscalesIgnored(const ReplayContext& context);
Readings SoftmaxMultiplierIgnored(const ReplayContext& context);
Readings SoftmaxMultiplierRoot(const ReplayContext& context);
Readings SoftmaxMultiplierSquared(const ReplayContext& context);
Readings LogitScaleOther(const ReplayContext& context);
Readings SlopesPowerOfTwoRule(const ReplayContext& context);
Readings SlopesFirstOfNextPower(const ReplayContext& context);
Readings SlopesOfSlice(const ReplayContext& context);
Readings SlopesNegated(const ReplayContext& context);
Readings MaxBiasIgnored(const ReplayContext& context);
Readings BucketsOther(const ReplayContext& context);

}  // namespace posgauge::replay
