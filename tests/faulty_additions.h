#pragma once

#include <span>

#include "posgauge/verify/kernel.h"

namespace posgauge {

/// Plain scalar kernels of sinusoidal rows, each in f64, f32, bf16 and f16, in the manner of
/// faulty_kernels.h, which lists them too:
///
///   honest.rows.f32           positions in, everything else computed
///   honest.embed.f32          x and positions in
///   honest.embed_given.f32    x and rows in
///
/// and faulty.<fault>.<the same> wherever the fault has something to act on.
std::span<const posgauge_kernel> FaultyAdditions();

}  // namespace posgauge
