#pragma once

#include <string>

#include "posgauge/golden/corpus.h"

namespace posgauge::golden {

/// "rope_llama_2_7b": the name of a manifest's file and the first part of every name in C.
std::string SourceName(const PlacedManifest& placed);

/// Arrays for a test that wants no file at run time, each named for its case and tensor:
/// rope_llama_2_7b_q_out_f64, rope_llama_2_7b_q_out_f64_distance, rope_llama_2_7b_q_x, and
/// rope_llama_2_7b_q_out_shape. f64 and f32 as hex floats, in Rust as bits; narrower dtypes as
/// bits.
std::string CSource(const PlacedManifest& placed);
/// In namespace posgauge_golden::rope_llama_2_7b.
std::string CppSource(const PlacedManifest& placed);
/// A module; names in upper case.
std::string RustSource(const PlacedManifest& placed);

}  // namespace posgauge::golden
