#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "posgauge/verify/judge.h"
#include "posgauge/verify/judge_addition.h"

namespace posgauge {

/// Positions of one plan.
inline constexpr int64_t kMostPositions = int64_t{1} << 26;

/// Positions in tokens worth checking, ascending, without repeats, all in [0, largest]: 0..16,
/// every 2^k and 2^k +- 1, each of `lengths` and its neighbours, the last 16; then until there are
/// `count` log-spaced ones, and as many drawn evenly over the range from the seed. Everything when
/// largest < count. Throws ParameterError for none or more than kMostPositions.
std::vector<double> PlanPositions(int64_t count, int64_t largest, std::span<const int64_t> lengths,
                                  uint64_t seed);

/// Positions of several axes from planned ones, [positions, axes]: the farthest coordinate of each
/// is the planned one. By seed and position: the same on every axis, as text has it; one axis away
/// from 0 alone; or every axis drawn, evenly or by logarithm. Of one axis they are left as they
/// are.
std::vector<double> PlaceOnAxes(const Axes& axes, Positions planned, uint64_t seed);

/// Lengths in tokens at which a scheme's behaviour may change: its fields of that name.
std::vector<int64_t> LengthsOf(const Scheme& scheme);

/// Binades around 1 whose products and sums neither over- nor underflow in dtype: half of its
/// exponent range, and at most 60, which is enough for any.
int MiddleOctaves(Dtype dtype);

/// Vectors worth rotating, [tokens, heads, head_dim], exactly representable in dtype. Heads take
/// turns: generic values of both signs over seven octaves; pairs directed at cancellation, (sin,
/// cos) of their own angle; sparse ones, with zeros of both signs and single channels; magnitudes
/// over the dtype's middle range. Counter-based: a row depends on seed, position and head only.
Tensor PlanInput(const Rotary& layout, Positions positions, int64_t heads, Dtype dtype,
                 const TruthTable& truth, uint64_t seed, const Axes& axes = {});

/// Embeddings worth adding to, [positions, width], exactly representable in dtype. Rows are of one
/// kind each: generic values of both signs over seven octaves; directed at cancellation, the
/// negative of what is added; zeros of both signs and single channels; magnitudes over the dtype's
/// middle range. A row depends on seed and position only.
Tensor PlanEmbeddings(int64_t width, Positions positions, Dtype dtype, const RowTruth& truth,
                      uint64_t seed);

}  // namespace posgauge
