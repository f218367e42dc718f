#pragma once

#include <span>

#include "posgauge/verify/kernel.h"

namespace posgauge {

/// Plain scalar kernels of every scheme that adds rows which are no waves, each in f64, f32, bf16
/// and f16, in the manner of faulty_attention.h; faulty_kernels.h lists them too:
///
///   honest.given_rows.f32  honest.given_embed.f32
///
/// faulty.<fault>.<the same>, which serve the schemes that the fault concerns.
std::span<const posgauge_kernel> FaultyRows();

}  // namespace posgauge
