// Every law is broken by at least one faulty kernel and kept by the honest ones.
#include "posgauge/properties/laws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/unwrapped_frequency.h"
#include "posgauge/verify/library.h"

namespace posgauge {
namespace {

// One of every scheme and form, a part of the head rotating in the first.
const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"rope", {"rotary_dim=16", "head_dim=24", "rotary_offset=4"}},
    {"linear", {"head_dim=16", "factor=4"}},
    {"ntk", {"head_dim=16", "factor=4"}},
    {"ntk", {"head_dim=16", "factor=4", "form=naive"}},
    {"ntk", {"head_dim=16", "factor=4", "form=dynamic", "trained_length=4096", "length=16384"}},
    {"yarn", {"head_dim=16", "factor=16"}},
    {"llama3", {"head_dim=32"}},
    {"ntk", {"head_dim=16", "factor=4", "form=fixed"}},
    {"ntk", {"head_dim=16", "factor=4", "form=mixed", "mixed_exponent=0.625"}},
    {"ntk", {"head_dim=16", "form=qwen", "trained_length=4096", "length=16384"}},
    {"yarn", {"head_dim=16", "factor=16", "ramp=turns"}},
    {"yarn", {"head_dim=16", "length=65536"}},
    {"longrope",
     {"head_dim=16", "short_factor=[1,1.25,1.5,1.75,2,2.25,2.5,2.75]",
      "long_factor=[1,2,4,8,16,32,48,64]", "length=4097", "factor=32"}},
    {"proportional", {"head_dim=16", "proportion=0.5", "factor=2"}},
    {"sinusoidal",
     {"width=9", "layout=halves", "frequency_shift=1", "odd_width=zero", "start=2",
      "padding_index=1"}},
    {"alibi", {"heads=8", "head_dim=4", "max_bias=6"}},
    {"t5", {"heads=4", "head_dim=4", "num_buckets=16", "max_distance=64"}},
    {"t5", {"heads=4", "head_dim=4", "causal=true", "bidirectional=false", "max_distance=256"}},
    {"fire", {"heads=4", "head_dim=4", "mlp_width=8", "epsilon=0.5"}},
    {"kerple", {"heads=4", "head_dim=4"}},
    {"kerple", {"heads=4", "head_dim=4", "kernel=power"}},
    {"kerple", {"heads=4", "head_dim=4", "weighted=true"}},
    {"sandwich", {"heads=4", "head_dim=4", "sandwich_width=16"}},
    {"sandwich", {"heads=4", "head_dim=4", "sandwich_width=16", "first_index=1", "centred=true"}},
    {"none", {"heads=4", "head_dim=4"}},
    {"shaw", {"heads=4", "head_dim=4", "clip=20", "per_head=true", "index=query_minus_key"}},
    {"cope", {"heads=4", "head_dim=4", "num_positions=4", "placement=before_scale"}},
    {"transformer_xl", {"heads=4", "head_dim=4", "model_width=8", "clamp_length=5"}},
    {"mrope", {"head_dim=32", "section=[6,6,4]", "order=interleaved"}},
    {"axial", {"head_dim=24", "section=[2,4,6]"}},
    {"deberta",
     {"heads=4", "head_dim=4", "position_buckets=16", "max_position=64", "p2c_index=reversed"}},
    {"swin", {"heads=4", "head_dim=4", "window_h=3", "window_w=5"}},
    {"swin2",
     {"heads=4", "head_dim=4", "window_h=4", "window_w=6", "mlp_width=4", "pretrained_h=12",
      "pretrained_w=9"}},
    {"xpos", {"heads=4", "head_dim=8", "scale_base=8"}},
    {"rerope", {"heads=4", "head_dim=8", "window=5"}},
    {"rerope", {"heads=4", "head_dim=8", "window=5", "trained_length=64"}},
    {"dual_chunk", {"heads=4", "head_dim=8", "chunk_size=8", "local_size=3"}},
    {"dual_chunk", {"heads=4", "head_dim=8", "chunk_size=8", "local_size=3", "queries=critical"}},
    {"none", {"heads=4", "head_dim=4", "temperature_floor_scale=64", "temperature_scale=0.5"}},
    {"axial", {"head_dim=24", "section=[2,4,6]", "pairing=half_per_axis"}},
    {"mrope", {"head_dim=32", "section=[6,6,4]", "order=openpangu"}},
    {"mixed", {"heads=4", "head_dim=8", "window_h=5", "window_w=7"}},
};

// Which fault, in which kernel, breaks a law of which of the schemes above.
struct Red {
  std::string_view law;
  size_t scheme;
  std::string_view kernel;
};

constexpr size_t kRope = 0, kLinear = 1, kAware = 2, kNaive = 3, kDynamic = 4, kYarn = 5,
                 kLlama3 = 6, kFixed = 7, kMixed = 8, kQwen = 9, kTurns = 10, kDynamicYarn = 11,
                 kLongRope = 12, kProportional = 13, kSinusoidal = 14, kAlibi = 15, kT5 = 16,
                 kT5Causal = 17, kFire = 18, kKerple = 19, kKerplePower = 20, kKerpleWeighted = 21,
                 kSandwich = 22, kSandwichFromOne = 23, kNone = 24, kShaw = 25, kCope = 26,
                 kTransformerXl = 27, kMrope = 28, kAxial = 29, kDeberta = 30, kSwin = 31,
                 kSwin2 = 32, kXpos = 33, kRerope = 34, kReropeTrained = 35, kDualChunk = 36,
                 kCritical = 37, kTemperature = 38, kPerAxis = 39, kPangu = 40, kPatches = 41;

const std::vector<Red> kReds = {
    {"axes_apart", kMrope, "faulty.first_axis.rotate"},
    {"axes_apart", kMrope, "faulty.axes_reversed.table"},
    {"axes_apart", kMrope, "faulty.neighbours_axis.rotate_backward"},
    {"axes_apart", kAxial, "faulty.axes_reversed.rotate"},
    {"axes_apart", kAxial, "faulty.neighbours_axis.table"},
    {"equal_axes", kMrope, "faulty.axis_series.rotate"},
    {"equal_axes", kMrope, "faulty.axis_series.table"},
    {"blocks", kAxial, "faulty.first_axis.rotate"},
    {"blocks", kAxial, "faulty.axes_reversed.rotate_backward"},
    {"blocks", kAxial, "faulty.axis_series.table"},
    {"axes_apart", kPerAxis, "faulty.neighbours_axis.rotate"},
    {"axial_series", kPerAxis, "faulty.axis_series.frequencies"},
    {"blocks", kPerAxis, "faulty.pairing_swapped.rotate"},
    {"norm", kPerAxis, "faulty.pairing_swapped.rotate_with_table"},
    {"patch_translation", kPatches, "faulty.keys_still.scores"},
    {"own_patch", kPatches, "faulty.keys_still.scores"},
    {"one_axis_a_pair", kPatches, "faulty.pairing_swapped.scores"},
    {"scale", kPatches, "faulty.score_scale.scores"},
    {"one_axis_a_pair", kPatches, "faulty.axes_exchanged.scores"},
    {"one_axis_a_pair", kPatches, "faulty.rows_ignored.scores"},
    {"one_axis_a_pair", kPatches, "faulty.rows_reversed.scores"},
    {"axes_apart", kPangu, "faulty.axes_reversed.rotate"},
    {"equal_axes", kPangu, "faulty.axis_series.rotate"},
    {"geometric_series", kPangu, "faulty.axis_series.frequencies"},
    {"axial_series", kAxial, "faulty.axis_series.frequencies"},
    {"axial_series", kAxial, "faulty.axis_series.rotate"},
    {"geometric_series", kMrope, "faulty.axis_series.frequencies"},
    {"relative_invariance", kMrope, "faulty.position_bf16.rotate"},
    {"relative_invariance", kRope, "faulty.position_bf16.rotate"},
    {"relative_invariance", kRope, "faulty.table_bf16.rotate"},
    {"norm", kYarn, "faulty.magnitude_dropped.rotate"},
    {"norm", kRope, "faulty.table_interpolated.rotate"},
    {"norm", kRope, "faulty.pairing_swapped.rotate_with_table"},
    {"position_zero", kRope, "faulty.position_plus_one.rotate"},
    {"position_zero", kYarn, "faulty.magnitude_squared.rotate"},
    {"inverse", kRope, "faulty.position_absolute.rotate"},
    {"inverse", kYarn, "faulty.backward_divides.rotate_backward"},
    {"composition", kRope, "faulty.position_bf16.rotate"},
    {"composition", kRope, "faulty.position_plus_one.rotate"},
    {"linearity", kRope, "faulty.clamps.rotate"},
    {"linearity", kRope, "faulty.clamps.rotate_with_table"},
    {"adjoint", kRope, "faulty.backward_is_forward.rotate_backward"},
    {"adjoint", kRope, "faulty.sin_sign.rotate"},
    {"backward", kRope, "faulty.backward_is_forward.rotate_backward"},
    {"backward", kYarn, "faulty.backward_divides.rotate_backward"},
    {"one_frequency", kRope, "faulty.position_int16.table"},
    {"one_frequency", kRope, "faulty.position_bf16.rotate"},
    {"untouched_channels", kRope, "faulty.untouched_written.rotate"},
    {"pair_independence", kRope, "faulty.reads_neighbour.rotate_with_table"},
    {"nan_isolation", kRope, "faulty.nan_spreads.rotate"},
    {"nan_isolation", kRope, "faulty.nan_to_zero.rotate"},
    {"determinism", kRope, "faulty.unstable.rotate"},
    {"determinism", kRope, "faulty.unstable.table"},
    {"head_permutation", kRope, "faulty.heads_shifted.rotate"},
    {"token_permutation", kRope, "faulty.first_position.rotate"},
    {"chunking", kRope, "faulty.position_restarts.rotate"},
    {"in_place", kRope, "faulty.in_place_half.rotate"},
    {"placement", kRope, "faulty.strides_ignored.rotate"},
    {"pairing", kRope, "faulty.pairing_swapped.rotate"},
    {"table_norm", kYarn, "faulty.magnitude_dropped.table"},
    {"table_position_zero", kRope, "faulty.position_plus_one.table"},
    {"table_addition", kRope, "faulty.position_bf16.table"},
    {"table_parity", kRope, "faulty.position_absolute.table"},
    {"table_rows", kRope, "faulty.position_restarts.table"},
    {"geometric_series", kRope, "faulty.wrong_base.rotate"},
    {"geometric_series", kRope, "faulty.frequency_bf16.table"},
    {"geometric_series", kRope, "faulty.last_pair_still.rotate"},
    {"geometric_series", kRope, "faulty.sin_sign.rotate"},
    {"geometric_series", kRope, "faulty.base_bit.frequencies"},
    {"geometric_series", kRope, "faulty.frequency_bit.frequencies"},
    {"trained_angles", kLinear, "faulty.factor_missing.rotate"},
    {"divided_angles", kLinear, "faulty.factor_squared.rotate"},
    {"between", kAware, "faulty.factor_squared.rotate"},
    {"ends", kAware, "faulty.ntk_naive.rotate"},
    {"log_linear", kAware, "faulty.ntk_naive.frequencies"},
    {"leaving_pairs", kAware, "faulty.ntk_naive.rotate"},
    {"naive_ends", kNaive, "faulty.ntk_aware.rotate"},
    {"log_linear", kNaive, "faulty.ntk_aware.rotate"},
    {"between", kDynamic, "faulty.ntk_inverted.rotate"},
    {"ends", kDynamic, "faulty.ntk_ignores_length.rotate"},
    {"log_linear", kDynamic, "faulty.factor_missing.rotate"},
    {"trained_length", kDynamic, "faulty.ntk_unclamped.rotate"},
    {"trained_length", kDynamic, "faulty.ntk_ignores_length.frequencies"},
    {"growing_length", kDynamic, "faulty.ntk_inverted.rotate"},
    {"cached_keys", kDynamic, "faulty.ntk_ignores_length.rotate"},
    {"interpolated", kYarn, "faulty.factor_squared.rotate"},
    {"ends", kYarn, "faulty.yarn_ramp_inverted.rotate"},
    {"monotone", kYarn, "faulty.yarn_ramp_inverted.rotate"},
    {"continuous", kYarn, "faulty.blend_missing.rotate"},
    {"continuous", kYarn, "faulty.yarn_ramp_by_turns.rotate"},
    {"decreasing", kYarn, "faulty.yarn_ramp_inverted.frequencies"},
    {"identity", kYarn, "faulty.frequency_bf16.rotate"},
    {"magnitude", kYarn, "faulty.magnitude_squared.frequencies"},
    {"interpolated", kLlama3, "faulty.factor_squared.rotate"},
    {"ends", kLlama3, "faulty.llama3_swapped.rotate"},
    {"monotone", kLlama3, "faulty.llama3_swapped.rotate"},
    {"continuous", kLlama3, "faulty.blend_missing.rotate"},
    {"decreasing", kLlama3, "faulty.llama3_swapped.frequencies"},
    {"identity", kLlama3, "faulty.wrong_base.rotate"},
    {"between", kFixed, "faulty.factor_squared.rotate"},
    {"divided_ends", kFixed, "faulty.ntk_keeps_first.rotate"},
    {"stretch", kFixed, "faulty.ntk_keeps_first.rotate"},
    {"between", kMixed, "faulty.factor_squared.rotate"},
    {"divided_ends", kMixed, "faulty.ntk_keeps_first.rotate"},
    {"stretch", kMixed, "faulty.factor_missing.rotate"},
    {"between", kQwen, "faulty.ntk_inverted.rotate"},
    {"ends", kQwen, "faulty.ntk_ignores_length.rotate"},
    {"log_linear", kQwen, "faulty.ntk_steps_early.rotate"},
    {"trained_length", kQwen, "faulty.ntk_steps_early.rotate"},
    {"trained_length", kQwen, "faulty.ntk_unclamped.frequencies"},
    {"growing_length", kQwen, "faulty.ntk_inverted.rotate"},
    {"doublings", kQwen, "faulty.ntk_steps_early.rotate"},
    {"cached_keys", kQwen, "faulty.ntk_ignores_length.rotate"},
    {"interpolated", kTurns, "faulty.factor_squared.rotate"},
    {"ends", kTurns, "faulty.yarn_ramp_inverted.rotate"},
    {"monotone", kTurns, "faulty.yarn_ramp_inverted.rotate"},
    {"continuous", kTurns, "faulty.yarn_ramp_by_pairs.rotate"},
    {"decreasing", kTurns, "faulty.yarn_ramp_inverted.frequencies"},
    {"identity", kTurns, "faulty.frequency_bf16.rotate"},
    {"magnitude", kTurns, "faulty.magnitude_squared.frequencies"},
    {"interpolated", kDynamicYarn, "faulty.wrong_base.rotate"},
    {"ends", kDynamicYarn, "faulty.yarn_ramp_inverted.rotate"},
    {"monotone", kDynamicYarn, "faulty.yarn_ramp_inverted.rotate"},
    {"continuous", kDynamicYarn, "faulty.blend_missing.rotate"},
    {"decreasing", kDynamicYarn, "faulty.yarn_ramp_inverted.frequencies"},
    {"identity", kDynamicYarn, "faulty.frequency_bf16.rotate"},
    {"magnitude", kDynamicYarn, "faulty.magnitude_dropped.frequencies"},
    {"lengths", kDynamicYarn, "faulty.yarn_unclamped.rotate"},
    {"divided_pairs", kLongRope, "faulty.longrope_dropped.rotate"},
    {"switch", kLongRope, "faulty.longrope_switches_early.rotate"},
    {"switch", kLongRope, "faulty.longrope_always_long.rotate"},
    {"magnitude", kLongRope, "faulty.magnitude_dropped.frequencies"},
    {"turning_pairs", kProportional, "faulty.width_in_exponent.rotate"},
    {"turning_pairs", kProportional, "faulty.factor_missing.rotate"},
    {"still_pairs", kProportional, "faulty.all_pairs_turn.rotate"},
    {"determinism", kSinusoidal, "faulty.unstable.rows"},
    {"determinism", kSinusoidal, "faulty.unstable.embed"},
    {"rows", kSinusoidal, "faulty.position_restarts.rows"},
    {"rows", kSinusoidal, "faulty.position_restarts.embed"},
    {"placement", kSinusoidal, "faulty.strides_ignored.embed"},
    {"in_place", kSinusoidal, "faulty.in_place_reread.embed"},
    {"independence", kSinusoidal, "faulty.nan_spreads.embed"},
    {"independence", kSinusoidal, "faulty.nan_to_zero.embed_given"},
    {"same_row", kSinusoidal, "faulty.clamps.embed"},
    {"shift", kSinusoidal, "faulty.wrong_base.rows"},
    {"shift", kSinusoidal, "faulty.other_denominator.embed"},
    {"shift", kSinusoidal, "faulty.sin_sign.rows"},
    {"shift", kSinusoidal, "faulty.sin_and_cos_swapped.embed"},
    {"dot_product", kSinusoidal, "faulty.position_bf16.rows"},
    {"norm", kSinusoidal, "faulty.amplitude.rows"},
    {"norm", kSinusoidal, "faulty.added_twice.embed"},
    {"parity", kSinusoidal, "faulty.position_absolute.rows"},
    {"parity", kSinusoidal, "faulty.start_ignored.embed"},
    {"double_angle", kSinusoidal, "faulty.position_plus_one.rows"},
    {"double_angle", kSinusoidal, "faulty.start_ignored.rows"},
    {"geometric_series", kSinusoidal, "faulty.frequency_bit.frequencies"},
    {"zeros", kSinusoidal, "faulty.zeros_written.rows"},
    {"zeros", kSinusoidal, "faulty.zeros_written.embed"},
    {"determinism", kAlibi, "faulty.unstable.bias"},
    {"determinism", kAlibi, "faulty.unstable.attention"},
    {"rows", kAlibi, "faulty.queries_alike.bias"},
    {"rows", kAlibi, "faulty.queries_alike.scores"},
    {"heads", kAlibi, "faulty.head_leak.scores"},
    {"heads", kAlibi, "faulty.head_leak.attention"},
    {"prefix", kAlibi, "faulty.no_mask.attention"},
    {"masked_last", kAlibi, "faulty.no_mask.scores"},
    {"masked_last", kAlibi, "faulty.nan_spreads.attention"},
    {"geometric", kAlibi, "faulty.slopes_from_zero.slopes"},
    {"geometric", kAlibi, "faulty.max_bias_ignored.slopes"},
    {"geometric", kAlibi, "faulty.sign.slopes"},
    {"doubling", kAlibi, "faulty.slopes_from_zero.slopes"},
    {"monotone", kAlibi, "faulty.sign.bias"},
    {"monotone", kAlibi, "faulty.short_sighted.bias"},
    {"slice", kAlibi, "faulty.slice_ignored.slopes"},
    {"slice", kAlibi, "faulty.slice_ignored.scores"},
    {"forms", kAlibi, "faulty.key_form_falls.bias"},
    {"translation", kAlibi, "faulty.position_bf16.bias"},
    {"translation", kAlibi, "faulty.position_bf16.scores"},
    {"rising", kT5, "faulty.distance_int16.buckets"},
    {"exact_distances", kT5, "faulty.off_by_one.buckets"},
    {"saturation", kT5, "faulty.unclamped.buckets"},
    {"thresholds", kT5, "faulty.tie_lost.buckets"},
    {"thresholds", kT5, "faulty.off_by_one.buckets"},
    {"sides", kT5, "faulty.direction_swapped.buckets"},
    {"one_bias", kT5, "faulty.buckets_blended.bias"},
    {"entries", kT5, "faulty.table_transposed.bias"},
    {"entries", kT5, "faulty.unclamped.bias"},
    {"entries", kT5, "faulty.off_by_one.bias"},
    {"zero_weights", kT5, "faulty.score_scale.scores"},
    {"zero_weights", kT5, "faulty.score_scale.attention"},
    {"rising", kT5Causal, "faulty.distance_int16.buckets"},
    {"exact_distances", kT5Causal, "faulty.off_by_one.buckets"},
    {"saturation", kT5Causal, "faulty.unclamped.buckets"},
    {"thresholds", kT5Causal, "faulty.tie_lost.buckets"},
    {"thresholds", kT5Causal, "faulty.off_by_one.buckets"},
    {"sides", kT5Causal, "faulty.direction_swapped.buckets"},
    {"one_bias", kT5Causal, "faulty.buckets_blended.bias"},
    {"entries", kT5Causal, "faulty.table_transposed.bias"},
    {"entries", kT5Causal, "faulty.off_by_one.bias"},
    {"zero_weights", kT5Causal, "faulty.score_scale.scores"},
    {"zero_weights", kT5Causal, "faulty.score_scale.attention"},
    {"determinism", kT5, "faulty.unstable.buckets"},
    {"rows", kT5, "faulty.queries_alike.buckets"},
    {"translation", kT5, "faulty.position_bf16.buckets"},
    {"distance", kFire, "faulty.normalised_by_key.bias"},
    {"distance", kFire, "faulty.fire_missing_one.bias"},
    {"at_itself", kFire, "faulty.fire_missing_one.bias"},
    {"first_key", kFire, "faulty.epsilon_missing.bias"},
    {"scale", kFire, "faulty.threshold_ignored.bias"},
    {"near", kFire, "faulty.threshold_ignored.bias"},
    {"at_itself", kKerple, "faulty.missing_one.bias"},
    {"monotone", kKerple, "faulty.sign.bias"},
    {"symmetric", kKerple, "faulty.future_zero.bias"},
    {"at_itself", kKerplePower, "faulty.missing_one.bias"},
    {"monotone", kKerplePower, "faulty.sign.bias"},
    {"symmetric", kKerplePower, "faulty.future_zero.bias"},
    {"at_itself", kKerpleWeighted, "faulty.missing_one.bias"},
    {"monotone", kKerpleWeighted, "faulty.sign.bias"},
    {"symmetric", kKerpleWeighted, "faulty.future_zero.bias"},
    {"small_rates", kKerple, "faulty.log_base.bias"},
    {"rates", kKerple, "faulty.rate_ignored.bias"},
    {"small_rates", kKerpleWeighted, "faulty.log_base.bias"},
    {"rates", kKerpleWeighted, "faulty.rate_ignored.bias"},
    {"linear", kKerplePower, "faulty.exponent_doubled.bias"},
    {"doubling", kKerplePower, "faulty.exponent_doubled.bias"},
    {"doubling", kKerplePower, "faulty.rate_ignored.bias"},
    {"factor", kKerpleWeighted, "faulty.factor_on_bias.scores"},
    {"peak", kSandwich, "faulty.sines.bias"},
    {"peak", kSandwich, "faulty.no_cosine.bias"},
    {"head_ratio", kSandwich, "faulty.ratio_ignored.bias"},
    {"symmetric", kSandwich, "faulty.sines.bias"},
    {"peak", kSandwichFromOne, "faulty.sines.bias"},
    {"peak", kSandwichFromOne, "faulty.no_cosine.bias"},
    {"head_ratio", kSandwichFromOne, "faulty.ratio_ignored.bias"},
    {"symmetric", kSandwichFromOne, "faulty.sines.bias"},
    {"gram", kSandwich, "faulty.other_index.bias"},
    {"gram", kSandwich, "faulty.no_cosine.bias"},
    {"rows", kT5, "faulty.queries_alike.bias"},
    {"heads", kT5, "faulty.head_leak.scores"},
    {"translation", kT5, "faulty.position_bf16.bias"},
    {"rows", kT5Causal, "faulty.queries_alike.bias"},
    {"heads", kT5Causal, "faulty.head_leak.scores"},
    {"prefix", kT5Causal, "faulty.no_mask.attention"},
    {"masked_last", kT5Causal, "faulty.no_mask.scores"},
    {"translation", kT5Causal, "faulty.position_bf16.bias"},
    {"rows", kFire, "faulty.queries_alike.bias"},
    {"heads", kFire, "faulty.head_leak.scores"},
    {"prefix", kFire, "faulty.no_mask.attention"},
    {"masked_last", kFire, "faulty.no_mask.scores"},
    {"rows", kKerple, "faulty.queries_alike.bias"},
    {"heads", kKerple, "faulty.head_leak.scores"},
    {"prefix", kKerple, "faulty.no_mask.attention"},
    {"masked_last", kKerple, "faulty.no_mask.scores"},
    {"translation", kKerple, "faulty.position_bf16.bias"},
    {"rows", kKerplePower, "faulty.queries_alike.bias"},
    {"heads", kKerplePower, "faulty.head_leak.scores"},
    {"prefix", kKerplePower, "faulty.no_mask.attention"},
    {"masked_last", kKerplePower, "faulty.no_mask.scores"},
    {"translation", kKerplePower, "faulty.position_bf16.bias"},
    {"rows", kKerpleWeighted, "faulty.queries_alike.bias"},
    {"heads", kKerpleWeighted, "faulty.head_leak.scores"},
    {"prefix", kKerpleWeighted, "faulty.no_mask.attention"},
    {"masked_last", kKerpleWeighted, "faulty.no_mask.scores"},
    {"translation", kKerpleWeighted, "faulty.position_bf16.bias"},
    {"rows", kSandwich, "faulty.queries_alike.bias"},
    {"heads", kSandwich, "faulty.head_leak.scores"},
    {"prefix", kSandwich, "faulty.no_mask.attention"},
    {"masked_last", kSandwich, "faulty.no_mask.scores"},
    {"translation", kSandwich, "faulty.position_bf16.bias"},
    {"rows", kSandwichFromOne, "faulty.queries_alike.bias"},
    {"heads", kSandwichFromOne, "faulty.head_leak.scores"},
    {"prefix", kSandwichFromOne, "faulty.no_mask.attention"},
    {"masked_last", kSandwichFromOne, "faulty.no_mask.scores"},
    {"translation", kSandwichFromOne, "faulty.position_bf16.bias"},
    {"order", kNone, "faulty.bias_left.scores"},
    {"order", kNone, "faulty.bias_left.attention"},
    {"equal_scores", kNone, "faulty.bias_left.attention"},
    {"translation", kShaw, "faulty.position_uint8.scores"},
    {"beyond", kShaw, "faulty.index_wraps.scores"},
    {"beyond", kShaw, "faulty.index_wraps.attention"},
    {"reversal", kShaw, "faulty.index_ignored.scores"},
    {"reversal", kShaw, "faulty.index_ignored.attention"},
    {"wide_table", kShaw, "faulty.clip_short.scores"},
    {"wide_table", kShaw, "faulty.clip_short.attention"},
    {"constant_tables", kShaw, "faulty.scale_on_content.scores"},
    {"constant_tables", kShaw, "faulty.values_missing.attention"},
    {"scale", kShaw, "faulty.scale_on_content.scores"},
    {"zero_weights", kShaw, "faulty.no_mask.scores"},
    {"counts", kCope, "faulty.count_exclusive.scores"},
    {"counts", kCope, "faulty.count_from_start.scores"},
    {"counts", kCope, "faulty.count_unmasked.scores"},
    {"counts", kCope, "faulty.interpolation_swapped.scores"},
    {"counts", kCope, "faulty.placement_swapped.scores"},
    {"flat_table", kCope, "faulty.interpolation_unbalanced.scores"},
    {"open_gates", kCope, "faulty.count_exclusive.scores"},
    {"closed_gates", kCope, "faulty.interpolation_swapped.scores"},
    {"masked_last", kCope, "faulty.count_unmasked.attention"},
    {"zero_weights", kCope, "faulty.no_mask.scores"},
    {"translation", kTransformerXl, "faulty.position_uint8.scores"},
    {"rows", kTransformerXl, "faulty.queries_alike.scores"},
    {"biases_apart", kTransformerXl, "faulty.biases_swapped.scores"},
    {"own_key", kTransformerXl, "faulty.cosines_first.scores"},
    {"own_key", kTransformerXl, "faulty.late_queries.scores"},
    {"clamp", kTransformerXl, "faulty.clamp_ignored.scores"},
    {"clamp", kTransformerXl, "faulty.clamp_ignored.attention"},
    {"scale", kTransformerXl, "faulty.scale_on_content.scores"},
    {"rising", kDeberta, "faulty.rows_swapped.buckets"},
    {"exact_distances", kDeberta, "faulty.rows_swapped.buckets"},
    {"exact_distances", kDeberta, "faulty.after_short.buckets"},
    {"thresholds", kDeberta, "faulty.tie_raised.buckets"},
    {"thresholds", kDeberta, "faulty.far_unclamped.buckets"},
    {"sides", kDeberta, "faulty.after_short.buckets"},
    {"translation", kDeberta, "faulty.position_uint8.scores"},
    {"content", kDeberta, "faulty.terms_uncounted.scores"},
    {"linear", kDeberta, "faulty.table_normalised.scores"},
    {"reversal", kDeberta, "faulty.p2c_index_ignored.scores"},
    {"rows", kDeberta, "faulty.queries_alike.buckets"},
    {"offsets", kSwin, "faulty.wrong_side.buckets"},
    {"offsets", kSwin, "faulty.offsets_absolute.buckets"},
    {"flip", kSwin, "faulty.offsets_absolute.bias"},
    {"entries", kSwin, "faulty.axes_exchanged.bias"},
    {"entries", kSwin, "faulty.offsets_reversed.bias"},
    {"window_translation", kSwin, "faulty.wrong_side.buckets"},
    {"window_translation", kSwin, "faulty.wrong_side.bias"},
    {"zero_weights", kSwin, "faulty.score_scale.scores"},
    {"range", kSwin2, "faulty.sigmoid_missing.bias"},
    {"mirror", kSwin2, "faulty.coordinate_sign.bias"},
    {"increasing", kSwin2, "faulty.coordinate_sign.bias"},
    {"pretrained", kSwin2, "faulty.pretrained_whole.bias"},
    {"stretch", kSwin2, "faulty.pretrained_ignored.bias"},
    {"window_translation", kSwin2, "faulty.network_wrong_side.bias"},
    {"bounded", kSwin2, "faulty.tau_unclamped.scores"},
    {"scale_free", kSwin2, "faulty.norms_missing.scores"},
    {"translation", kXpos, "faulty.position_uint8.scores"},
    {"flat", kXpos, "faulty.pairing_swapped.scores"},
    {"own_key", kXpos, "faulty.centres_differ.scores"},
    {"envelope", kXpos, "faulty.fading_ignored.scores"},
    {"envelope", kXpos, "faulty.fading_rises.scores"},
    {"scale", kXpos, "faulty.score_scale.scores"},
    {"translation", kRerope, "faulty.position_uint8.scores"},
    {"near", kRerope, "faulty.window_short.scores"},
    {"near", kRerope, "faulty.pairing_swapped.scores"},
    {"beyond", kRerope, "faulty.window_ignored.scores"},
    {"beyond", kRerope, "faulty.window_ignored.attention"},
    {"scale", kRerope, "faulty.score_scale.scores"},
    {"near", kReropeTrained, "faulty.temperature_ignored.scores"},
    {"beyond", kReropeTrained, "faulty.window_ignored.scores"},
    {"scale", kReropeTrained, "faulty.score_scale.scores"},
    {"near", kDualChunk, "faulty.local_ignored.scores"},
    {"chunks", kDualChunk, "faulty.position_uint8.scores"},
    {"chunks", kDualChunk, "faulty.local_ignored.attention"},
    {"farthest", kDualChunk, "faulty.critical_queries.scores"},
    {"farthest", kDualChunk, "faulty.chunks_ignored.scores"},
    {"scale", kDualChunk, "faulty.score_scale.scores"},
    {"near", kCritical, "faulty.pairing_swapped.scores"},
    {"chunks", kCritical, "faulty.position_uint8.scores"},
    {"scale", kCritical, "faulty.score_scale.scores"},
    {"order", kTemperature, "faulty.bias_left.scores"},
    {"equal_scores", kTemperature, "faulty.bias_left.attention"},
    {"temperature", kTemperature, "faulty.temperature_ignored.scores"},
};

Scheme SchemeAt(size_t index) { return ParseScheme(kSchemes[index].first, kSchemes[index].second); }

CasePlan SmallPlan() { return {.cases = 4, .rows = 8, .heads = 4}; }

Verdict Of(const std::vector<Verdict>& verdicts, std::string_view law) {
  const auto found = std::ranges::find(verdicts, law, &Verdict::check);
  if (found == verdicts.end()) throw ParameterError(fmt::format("no verdict of {}", law));
  return *found;
}

TEST(laws, EachIsBrokenByAFault) {
  for (const Red& red : kReds) {
    // Frequencies are exported in f64 only; a fault of the table that is smaller than the store's
    // rounding shows in the wider dtypes only.
    const auto has = [&](std::string_view word) {
      return red.kernel.find(word) != red.kernel.npos;
    };
    std::vector<Dtype> dtypes = {Dtype::f64};
    if (!has(".frequencies")) dtypes.push_back(Dtype::f32);
    if (!has(".frequencies") && !has(".table_")) {
      dtypes.insert(dtypes.end(), {Dtype::bf16, Dtype::f16});
    }
    if (red.kernel.ends_with(".buckets")) dtypes = {Dtype::i32};
    for (const Dtype dtype : dtypes) {
      const Subject subject(FaultyKernel(fmt::format("{}.{}", red.kernel, Name(dtype))),
                            SchemeAt(red.scheme));
      const Verdict verdict = CheckStandardLaw(red.law, subject, SmallPlan());
      EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
      // What is written outside a tensor is at no position.
      EXPECT_EQ(verdict.first_failure.has_value(), !has("strides_ignored")) << Line(verdict);
    }
  }
}

TEST(laws, NoneLacksItsFault) {
  std::set<std::pair<std::string_view, size_t>> red;
  for (const Red& row : kReds) red.emplace(row.law, row.scheme);
  for (size_t scheme = 0; scheme < kSchemes.size(); ++scheme) {
    for (const Law& law : Laws(SchemeAt(scheme))) {
      // Laws of every rotation, and of all attention, are broken once, a scheme's own in each of
      // its forms.
      const bool shared =
          (FindLaw(SchemeAt(kRope), law.name).has_value() &&
           FindLaw(SchemeAt(kLinear), law.name).has_value()) ||
          (ActsInAttention(SchemeAt(scheme)) &&
           std::ranges::count(AttentionLaws(SchemeAt(scheme)), law.name, &Law::name) > 0);
      const bool broken = std::ranges::any_of(red, [&](const auto& entry) {
        return entry.first == law.name && (shared || entry.second == scheme);
      });
      EXPECT_TRUE(broken) << kSchemes[scheme].first << " " << law.name;
    }
  }
}

class EveryLaw : public testing::TestWithParam<size_t> {};

TEST_P(EveryLaw, IsKeptByHonestAndFastKernels) {
  const Scheme scheme = SchemeAt(GetParam());
  for (const std::string& name : GoodKernels()) {
    const KernelInfo info = AnyKernel(name);
    if (!info.Serves(scheme)) continue;
    const Subject subject(info, scheme);
    size_t passed = 0;
    for (const Verdict& verdict : CheckStandardLaws(subject, {.cases = 2, .rows = 6, .heads = 4})) {
      EXPECT_TRUE(verdict.outcome == Outcome::pass || verdict.outcome == Outcome::unsupported)
          << Line(verdict);
      if (verdict.outcome == Outcome::pass) ++passed;
    }
    EXPECT_GE(passed, 1u) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(laws, EveryLaw, testing::Range(size_t{0}, kSchemes.size()),
                         [](const auto& test) {
                           return fmt::format("{}_{}", kSchemes[test.param].first, test.param);
                         });

// What few laws or none can see is listed, so that nobody counts on it: these need the absolute
// check.
TEST(laws, FaultsThatOnlyTheAbsoluteCheckSees) {
  const auto broken = [](std::string_view kernel) {
    std::vector<std::string> laws;
    for (const Verdict& verdict :
         CheckStandardLaws(Subject(FaultyKernel(kernel), SchemeAt(kRope)), SmallPlan())) {
      if (verdict.outcome == Outcome::fail) laws.push_back(verdict.check);
    }
    return laws;
  };
  // One bit of the base moves an angle by less than a bf16 output shows.
  EXPECT_EQ(broken("faulty.base_bit.rotate.bf16"), std::vector<std::string>{});
  // A rotation with the table's sine negated, and the table's owner not at hand.
  EXPECT_EQ(broken("faulty.sin_sign.table.f32"), std::vector<std::string>{"geometric_series"});
}

TEST(laws, HaveNamesOfTheirOwnAndOneSentence) {
  for (size_t scheme = 0; scheme < kSchemes.size(); ++scheme) {
    std::set<std::string_view> names;
    for (const Law& law : Laws(SchemeAt(scheme))) {
      EXPECT_TRUE(names.insert(law.name).second) << law.name;
      EXPECT_GT(law.statement.size(), 10u) << law.name;
      EXPECT_EQ(law.statement.find('\n'), std::string_view::npos) << law.name;
      EXPECT_FALSE(law.quantities.empty()) << law.name;
      EXPECT_EQ(FindLaw(SchemeAt(scheme), law.name)->check, law.check);
    }
  }
  EXPECT_FALSE(FindLaw(SchemeAt(kRope), "trained_angles").has_value());
}

TEST(laws, WithoutAPartnerOrRoomAreUnsupported) {
  const Subject subject(FaultyKernel("honest.rotate.f32"), SchemeAt(kLinear));
  const std::vector<Verdict> verdicts =
      CheckLaws(subject, StandardCases(subject, {.cases = 1, .rows = 1, .heads = 1}, 1));
  for (const std::string_view law :
       {"adjoint", "backward", "head_permutation", "token_permutation", "chunking"}) {
    const Verdict verdict = Of(verdicts, law);
    EXPECT_EQ(verdict.outcome, Outcome::unsupported) << Line(verdict);
    EXPECT_FALSE(verdict.note.empty()) << law;
  }
  // Every channel rotates: there is none to leave alone.
  EXPECT_FALSE(FindLaw(subject.scheme(), "untouched_channels").has_value());
  // A law of another quantity is not among them; asked for by name it says so.
  const Law table = FindLaw(subject.scheme(), "table_norm").value();
  EXPECT_TRUE(std::ranges::find(verdicts, "table_norm", &Verdict::check) == verdicts.end());
  EXPECT_EQ(CheckLaw(table, subject, StandardCases(subject, {.cases = 1}, 1)).note,
            "a law of table, the kernel yields rotate");
}

TEST(laws, FrequenciesThatWereHandedOverAreNotJudged) {
  const Subject subject(AnyKernel("fast.rotate_positions.f32"), SchemeAt(kLinear));
  const Verdict verdict = CheckStandardLaw("divided_angles", subject, SmallPlan());
  EXPECT_EQ(verdict.outcome, Outcome::unsupported);
  EXPECT_EQ(verdict.note, "the kernel is handed its frequencies");
}

int32_t Refuses(const posgauge_call*, char* why, size_t size) {
  std::snprintf(why, size, "no negative positions");
  return POSGAUGE_UNSUPPORTED;
}

int32_t Breaks(const posgauge_call*, char* why, size_t size) {
  std::snprintf(why, size, "out of memory");
  return POSGAUGE_FAILED;
}

TEST(laws, AKernelThatRefusesIsUnsupportedAndOneThatBreaksFails) {
  posgauge_kernel kernel = *FaultyKernel("honest.rotate.f32").kernel;
  const auto check = [&](auto run) {
    kernel.run = run;
    const Subject subject(KernelInfo(kernel), SchemeAt(kLinear));
    return CheckLaws(subject, StandardCases(subject, {.cases = 1}, 1));
  };
  for (const Verdict& verdict : check(Refuses)) {
    EXPECT_EQ(verdict.outcome, Outcome::unsupported) << Line(verdict);
  }
  const Verdict norm = Of(check(Breaks), "norm");
  EXPECT_EQ(norm.outcome, Outcome::fail);
  EXPECT_NE(norm.note.find("out of memory"), std::string::npos) << norm.note;
}

TEST(laws, BitsCountOnlyWhereTheKernelDeclaresThem) {
  // In chunks, off by less than the contract allows: unlawful only if the same bits are promised.
  static const posgauge_kernel honest = *FaultyKernel("honest.rotate.bf16").kernel;
  posgauge_kernel kernel = honest;
  kernel.run = [](const posgauge_call* call, char* why, size_t size) {
    const int32_t status = honest.run(call, why, size);
    const posgauge_tensor& out = call->outputs[0];
    if (out.tensor.shape[0] == 6) return status;  // the one pass
    // The last bit of channels below 2^-7: less than the pair's bound, which its norm sets.
    auto* bits = static_cast<uint16_t*>(out.tensor.data);
    for (int64_t i = 0; i < out.tensor.shape[0] * out.tensor.shape[1] * out.tensor.shape[2]; ++i) {
      const uint16_t exponent = (bits[i] >> 7) & 0xFF;
      if (exponent > 0 && exponent < 120) bits[i] ^= 1;
    }
    return status;
  };
  const auto chunking = [&](const char* invariances) {
    kernel.invariances = invariances;
    const Subject subject(KernelInfo(kernel), SchemeAt(kLinear));
    return Of(CheckLaws(subject, StandardCases(subject, {.cases = 1, .rows = 6}, 1)), "chunking")
        .outcome;
  };
  EXPECT_EQ(chunking(""), Outcome::pass);
  EXPECT_EQ(chunking("chunking"), Outcome::fail);
}

TEST(laws, AContractThatAllowsAnythingIsBlind) {
  posgauge_kernel kernel = *FaultyKernel("honest.rotate.f32").kernel;
  kernel.contract = "position=f16 frequency=bf16:recurrence angle=bf16 trig=1000ulp:bf16";
  const Subject subject(KernelInfo(kernel), SchemeAt(kLinear));
  const std::vector<Verdict> verdicts = CheckLaws(subject, StandardCases(subject, {.cases = 1}, 1));
  EXPECT_EQ(Of(verdicts, "norm").outcome, Outcome::blind) << Line(Of(verdicts, "norm"));
  EXPECT_EQ(Of(verdicts, "composition").outcome, Outcome::blind);
}

TEST(law_bounds, LeaveOutOnlyWhatTheLawCancels) {
  posgauge_kernel kernel = *FaultyKernel("honest.rotate.bf16").kernel;
  kernel.contract =
      "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=f32 rotate=f32 store=bf16:rne "
      "flush=no";
  const Subject subject(KernelInfo(kernel), SchemeAt(kYarn));
  const RotaryBound frequency = FixedFrequencyBound(subject), angle = FixedAngleBound(subject),
                    table = FixedTableBound(subject);
  for (const double position : {1.0, 1000.0, 131071.0}) {
    for (int64_t pair = 0; pair < subject.layout().Pairs(); ++pair) {
      const double whole = subject.bound().Pair(position, pair, 1);
      EXPECT_LT(frequency.Pair(position, pair, 1), whole);
      EXPECT_LT(angle.Pair(position, pair, 1), frequency.Pair(position, pair, 1));
      EXPECT_LT(table.Pair(position, pair, 1), angle.Pair(position, pair, 1));
      EXPECT_EQ(angle.Pair(position, pair, 1), angle.Pair(0, pair, 1));
    }
  }
}

TEST(faulty_kernels, LoadAsALibrary) {
  const std::vector<KernelInfo> loaded = LoadKernels(POSGAUGE_FAULTY_KERNELS);
  ASSERT_EQ(loaded.size(), FaultyKernels().size());
  const auto found = std::ranges::find(loaded, "faulty.sin_sign.rotate.f32", &KernelInfo::name);
  ASSERT_TRUE(found != loaded.end());
  const Subject subject(*found, SchemeAt(kRope));
  EXPECT_EQ(CheckStandardLaw("geometric_series", subject, SmallPlan()).outcome, Outcome::fail);
}

Witness Nothing() { return {}; }

TEST(comparisons, FailOnNanAndKeepTheFirstInPositionOrder) {
  Comparisons comparisons;
  comparisons.Add(7, 3, 1, 100, [] { return Witness{.where = "seven"}; });
  comparisons.Add(-5, 2, 1, 100, [] { return Witness{.where = "five"}; });
  comparisons.Add(6, NAN, 1, 100, [] { return Witness{.where = "six"}; });
  const Verdict verdict = comparisons.Take("not shown");
  EXPECT_EQ(verdict.outcome, Outcome::fail);
  EXPECT_EQ(verdict.first_failure->where, "five");
  EXPECT_EQ(verdict.first_failure->position, -5);
  EXPECT_EQ(verdict.worst->where, "six");
  EXPECT_EQ(verdict.use.over(), 3u);
  EXPECT_EQ(verdict.note, "");
}

TEST(comparisons, ABoundOfZeroAllowsNoErrorAndNoBoundAllowsAny) {
  Comparisons exact;
  exact.Add(0, 0, 0, 1, Nothing);
  EXPECT_EQ(exact.Take().outcome, Outcome::pass);
  Comparisons broken;
  broken.Add(0, 0x1p-1074, 0, 1, Nothing);
  EXPECT_EQ(broken.Take().outcome, Outcome::fail);
  Comparisons unbound;
  unbound.Add(0, NAN, HUGE_VAL, 1, Nothing);
  EXPECT_EQ(unbound.Take().outcome, Outcome::blind);
}

TEST(comparisons, AreBlindOnlyIfAllAre) {
  Comparisons comparisons;
  comparisons.Add(0, 0, 0.2, 1, Nothing);
  EXPECT_EQ(Comparisons(comparisons).Take().outcome, Outcome::blind);
  comparisons.AddExact(0, true, Nothing);
  EXPECT_EQ(comparisons.Take().outcome, Outcome::pass);
  EXPECT_EQ(Comparisons().Take().outcome, Outcome::unsupported);
}

TEST(unwrapped_frequency, EnclosesTheProvenFrequencies) {
  for (const std::string& name : GoodKernels()) {
    for (size_t scheme : {kRope, kYarn}) {
      const KernelInfo info = AnyKernel(name);
      if (!info.Serves(SchemeAt(scheme)) || info.quantity == "frequencies") continue;
      const Subject subject(info, SchemeAt(scheme));
      const UnwrappedFrequencies unwrapped = UnwrapFrequencies(subject, 131071);
      for (size_t i = 0; i < unwrapped.frequencies.size(); ++i) {
        const auto [middle, radius] = unwrapped.frequencies[i];
        const double proven = subject.frequencies()[i];
        const double allowed = subject.bound().Frequency(static_cast<int64_t>(i)) * proven;
        EXPECT_LE(std::fabs(middle - proven), radius + allowed + 0x1p-52 * proven) << name;
        // Half a turn, the first guess, has shrunk by the largest power of two.
        EXPECT_LE(radius * 65536, std::numbers::pi) << name;
      }
    }
  }
}

TEST(unwrapped_frequency, SeesOneBitOfABase) {
  const Subject subject(FaultyKernel("faulty.base_bit.rotate.f32"), SchemeAt(kRope));
  const auto measured = MeasureFrequencies(subject, 131071);
  const double proven = subject.frequencies()[4];
  EXPECT_GT(std::fabs(measured[4].middle - proven), measured[4].radius);
}

TEST(unwrapped_frequency, TakesTheDirectionOut) {
  const Scheme clockwise = ParseScheme("rope", {"head_dim=16", "direction=clockwise"});
  for (const std::string_view kernel :
       {"honest.rotate.f32", "honest.rotate_backward.f32", "honest.table.f32"}) {
    const Subject subject(FaultyKernel(kernel), clockwise);
    for (const FrequencyInterval& interval : MeasureFrequencies(subject, 4095)) {
      EXPECT_GT(interval.middle, interval.radius) << kernel;
    }
  }
}

TEST(standard_cases, StayInRangeAndRepeat) {
  for (const int64_t largest : {int64_t{0}, int64_t{1}, int64_t{100}, int64_t{131071}}) {
    const Subject subject(FaultyKernel("honest.rotate.f16"), SchemeAt(kDynamic));
    const CasePlan plan{.cases = 3, .largest_position = largest};
    const std::vector<LawCase> cases = StandardCases(subject, plan, 7);
    const std::vector<LawCase> again = StandardCases(subject, plan, 7);
    ASSERT_EQ(cases.size(), 3u);
    EXPECT_EQ(cases[0].positions[0], static_cast<double>(largest));
    for (size_t i = 0; i < cases.size(); ++i) {
      const LawCase& c = cases[i];
      EXPECT_EQ(c.x, again[i].x);
      EXPECT_EQ(c.positions, again[i].positions);
      // A case does not depend on how many there are.
      EXPECT_EQ(c.y, DrawCase(subject, plan, 7, static_cast<int64_t>(i)).y);
      for (size_t row = 0; row < c.positions.size(); ++row) {
        for (const double position :
             {c.positions[row], c.others[row], c.positions[row] + c.others[row],
              c.positions[row] + c.shifts[row], c.others[row] + c.shifts[row]}) {
          EXPECT_GE(position, 0);
          EXPECT_LE(position, static_cast<double>(largest));
          EXPECT_EQ(position, std::trunc(position));
        }
      }
    }
    EXPECT_NE(StandardCases(subject, plan, 8)[0].x, cases[0].x);
  }
}

TEST(standard_cases, HoldNoNanUnlessAskedTo) {
  const Subject subject(FaultyKernel("honest.rotate.bf16"), SchemeAt(kRope));
  const auto finite = [&](bool any_bits) {
    const auto values = DrawCase(subject, {.heads = 5, .any_bits = any_bits}, 1, 0).x.Values();
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
  };
  EXPECT_TRUE(finite(false));
  EXPECT_FALSE(finite(true));
}

}  // namespace
}  // namespace posgauge
