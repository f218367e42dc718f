#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "posgauge/verify/subject.h"

namespace posgauge {

/// A named way to be wrong.
struct KernelFault {
  std::string_view name;  // "sin_sign"
  std::string_view what;  // "sin is negated"
};

/// All of them.
std::span<const KernelFault> KernelFaults();

/// Plain scalar kernels through the C interface, each in f64, f32, bf16 and f16:
///
///   honest.rotate.f32             x and positions in, everything else computed
///   honest.rotate_with_table.f32  x, cos and sin in
///   honest.rotate_backward.f32    as rotate
///   honest.table.f32
///   honest.frequencies.f64        (f64 only)
///
/// and of added rows those of faulty_additions.h, of attention those of faulty_attention.h;
///
/// and faulty.<fault>.<the same> wherever the fault has something to act on. They form frequencies
/// in long double and angles in binary64, and say so in their contracts; the faulty ones say what
/// the honest ones say.
std::span<const posgauge_kernel> FaultyKernels();

/// One of them by name. Throws ParameterError if there is none.
KernelInfo FaultyKernel(std::string_view name);

}  // namespace posgauge
