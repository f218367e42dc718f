#pragma once

#include <span>

#include "posgauge/verify/kernel.h"

namespace posgauge {

/// Plain scalar kernels of every scheme that acts in attention, each in f64, f32, bf16 and f16, in
/// the manner of faulty_kernels.h, which lists them too:
///
///   honest.slopes.f32  honest.bias.f32  honest.scores.f32  honest.attention.f32
///   honest.buckets.i32
///
/// They run the scheme's equations in binary64 (EmulateEquations) and round the results once; a
/// fault acts on the scheme, on the inputs or on the results. faulty.<fault>.<the same>.
std::span<const posgauge_kernel> FaultyAttention();

}  // namespace posgauge
