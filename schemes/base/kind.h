#pragma once

#include <concepts>
#include <cstdint>

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

// What a scheme does follows from what its parameters are. Every scheme is of one kind.

/// A rotation: pairs of channels of queries and keys turn by an angle.
template <class Params>
concept Rotates = requires(const Params& params) {
  { params.rotary } -> std::convertible_to<const Rotary&>;
};

/// A rotation by a position of several axes: pair i counts the one of axis AxisOf(i).
template <class Params>
concept CountsAxes = Rotates<Params> && requires(const Params& params) {
  { params.AxisCount() } -> std::convertible_to<int64_t>;
  { params.AxisOf(int64_t{}) } -> std::convertible_to<int64_t>;
};

/// An addition: rows [positions, width] that are added to embeddings.
template <class Params>
concept Adds = requires(const Params& params) {
  { params.width } -> std::convertible_to<int64_t>;
};

/// An addition whose rows are sines and cosines of angles: it has frequencies.
template <class Params>
concept AddsWaves = Adds<Params> && requires(const Params& params) {
  params.Waves();
};

/// Attention: what it adds to the scores of queries and keys, or does to the values.
template <class Params>
concept Attends = requires(const Params& params) {
  { params.attention } -> std::convertible_to<const Attention&>;
};

/// Weights whose zeros do not leave scores of scale <q, k>, or rows of zeros: a scheme says so by
/// `kOwnContent`. With weights of zero others are `none`, or add nothing.
template <class Params>
concept HasOwnContent = requires {
  requires Params::kOwnContent;
};

/// What is given by an equation for every element (reference/equation_rows.h) instead of angles:
/// attention, and additions of rows that are no waves.
template <class Params>
concept ByEquations = Attends<Params> ||(Adds<Params> && !AddsWaves<Params>);

}  // namespace posgauge
