#include "posgauge/verify/contract_presets.h"

#include <algorithm>
#include <array>

#include "posgauge/schemes/base/fields.h"

namespace posgauge {

namespace {

// Sines of a library in f32 are taken to be within 2 ulp: CUDA's sinf and cosf are (CUDA C++
// Programming Guide, mathematical functions), those of glibc and SLEEF are within 1.
constexpr auto kPresets = std::to_array<ContractPreset>({
    {"exact-angle",
     "position=i64 frequency=exact:rn angle=exact trig=0.5ulp:f32 table=f32 rotate=f32 "
     "accumulate=f32 store={io}:rne flush=no",
     "angles as if exact, f32 afterwards: what is held against when nothing is declared"},
    {"f32",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=f32 rotate=f32 accumulate=f32 "
     "store={io}:rne flush=no",
     "everything in f32, angles too"},
    {"bf16",
     "position=bf16 frequency=bf16:pow angle=bf16 trig=1ulp:bf16 table=bf16 rotate=bf16 "
     "accumulate=bf16 store={io}:rne flush=no",
     "everything in bf16, positions too: a module that was cast as a whole"},
    {"hf-eager",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table={io} rotate={io} "
     "accumulate={io} store={io}:rne flush=no",
     "transformers' eager models: angles in f32 with autocast off, cos and sin cast to the dtype "
     "of "
     "the activations before the products"},
    {"vllm-cache",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table={io} rotate={io} "
     "accumulate=f32 store={io}:rne flush=no",
     "vLLM's cos_sin_cache: built in f32, cast to the model's dtype, products in that dtype"},
    {"flashinfer",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=f32 rotate=f32:fma "
     "accumulate=f32 store={io}:rne flush=no",
     "FlashInfer on the fly, as if its __powf and __sincosf were powf and sincosf: no bound is "
     "published for those beyond a turn, and a kernel that uses them may break this one"},
    {"flashinfer-cache",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=f32 rotate=f32:fma "
     "accumulate=f32 store={io}:rne flush=no",
     "FlashInfer with its cos_sin_cache, which is f32"},
    {"ggml",
     "position=i32 frequency=f32:recurrence angle=f32 trig=2ulp:f32 table=f32 rotate=f32 "
     "accumulate=f32 store={io}:rne flush=no",
     "ggml's CPU code: the angle of a pair is that of the one before times a rounded ratio"},
    {"megatron",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table={io} rotate={io} "
     "accumulate=f32 store={io}:rne flush=no",
     "Megatron's unfused code: cos and sin cast to the dtype of the activations"},
    {"transformer-engine",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=f32 rotate=f32:fma "
     "accumulate=f32 store={io}:rne flush=no",
     "TransformerEngine's fused kernel: sines of f32 angles and all products in f32"},
    {"mlx",
     "position=i32 frequency=f32:exp angle=f32 trig=2ulp:f32 table=f32 rotate=f32 accumulate=f32 "
     "store={io}:rne flush=no",
     "MLX's fast.rope, as if Metal's fast::sin were sin: its bound holds within a turn only"},
    {"onnx",
     "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table={io} rotate={io} "
     "accumulate={io} store={io}:rne flush=no",
     "ONNX RotaryEmbedding with caches of the vectors' dtype, made in f32"},
});

}  // namespace

std::span<const ContractPreset> ContractPresets() { return kPresets; }

std::string PresetLine(std::string_view name, Dtype io) {
  const auto* preset = std::ranges::find(kPresets, name, &ContractPreset::name);
  if (preset == kPresets.end()) {
    std::array<std::string_view, kPresets.size()> names;
    std::ranges::transform(kPresets, names.begin(), &ContractPreset::name);
    throw ParameterError(fmt::format("contract: expected key=value or a preset ({}), got {}",
                                     fmt::join(names, ", "), Shown(name)));
  }
  std::string line(preset->line);
  constexpr std::string_view kIo = "{io}";
  for (size_t at; (at = line.find(kIo)) != line.npos;) line.replace(at, kIo.size(), Name(io));
  return line;
}

}  // namespace posgauge
