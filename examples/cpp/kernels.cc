// What the library offers, with the arithmetic that each kernel declares.
#include <array>

#include "alibi.h"
#include "rotate.h"

namespace {

constexpr std::array kKernels = {
    posgauge_kernel{
        .size = sizeof(posgauge_kernel),
        .name = "cpp.rotate.f32",
        .schemes = "*",
        .quantity = "rotate",
        .inputs = "x:f32 positions:i64 frequency:f64 magnitude:f64 axis?:i64",
        .outputs = "out:f32",
        .pairings = "half interleaved",
        .contract =
            "position=i64 angle=f64 trig=1ulp:f64 table=f32 rotate=f32 store=f32:rne flush=no",
        .invariances = "chunking batch alignment pairing axes",
        .in_place = 1,
        .largest_rotary_dim = 0,
        .largest_position = 0,
        .run = example::Rotate<float>},
    posgauge_kernel{
        .size = sizeof(posgauge_kernel),
        .name = "cpp.rotate.bf16",
        .schemes = "*",
        .quantity = "rotate",
        .inputs = "x:bf16 positions:i64 frequency:f64 magnitude:f64 axis?:i64",
        .outputs = "out:bf16",
        .pairings = "half interleaved",
        .contract =
            "position=i64 angle=f64 trig=1ulp:f64 table=f32 rotate=f32 store=bf16:rne flush=no",
        .invariances = "chunking batch alignment pairing axes",
        .in_place = 1,
        .largest_rotary_dim = 0,
        .largest_position = 0,
        .run = example::Rotate<example::Bf16>},
    posgauge_kernel{
        .size = sizeof(posgauge_kernel),
        .name = "cpp.alibi.f32",
        .schemes = "alibi",
        .quantity = "bias",
        .inputs = "query_positions:i64 key_positions:i64",
        .outputs = "bias:f32",
        .pairings = "",
        .contract =
            "position=i64 frequency=f64:exp trig=1ulp:f64 rotate=f64 store=f32:rne flush=no",
        .invariances = "chunking",
        .in_place = 0,
        .largest_rotary_dim = 0,
        .largest_position = 0,
        .run = example::AlibiBias},
};

}  // namespace

extern "C" const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = kKernels.size();
  return abi_version == POSGAUGE_ABI_VERSION ? kKernels.data() : nullptr;
}
