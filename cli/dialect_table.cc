#include "posgauge/cli/dialect_table.h"

#include <array>

#include "posgauge/cli/dialect_readings.h"

namespace posgauge::cli {

namespace {

constexpr std::string_view kUnrecorded = "commit not recorded";

// Where it was read.
constexpr std::string_view kPaper = "https://arxiv.org/abs/2309.00071";
constexpr std::string_view kTransformers =
    "https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_rope_utils.py";
constexpr std::string_view kVllm =
    "https://github.com/vllm-project/vllm/tree/main/vllm/model_executor/layers/rotary_embedding";
constexpr std::string_view kMlxLm =
    "https://github.com/ml-explore/mlx-lm/blob/d78bf58e/mlx_lm/models/rope_utils.py";
constexpr std::string_view kGgml =
    "https://github.com/ggml-org/ggml/blob/d99724f2/src/ggml-cpu/ops.cpp";
constexpr std::string_view kMegatron =
    "https://github.com/NVIDIA/Megatron-LM/tree/d98e8a64/megatron/core/models/common/embeddings";
constexpr std::string_view kLitgpt =
    "https://github.com/Lightning-AI/litgpt/blob/26857050/litgpt/model.py";

using namespace dialect;

// id, framework, version, scheme, parameter, reads, when, link, applies, read.
constexpr auto kDialects = std::to_array<Dialect>({
    {"truncate", "mlx", "mlx-lm d78bf58e", "yarn", "truncate", "rounds the ramp's ends always",
     "truncate is false", kMlxLm, TruncateFalse, Truncated},
    {"truncate", "llama.cpp", "ggml d99724f2", "yarn", "truncate", "rounds the ramp's ends always",
     "truncate is false", kGgml, TruncateFalse, Truncated},
    {"truncate_in_blocks", "transformers", "two revisions, one at 26892c16 of a fork", "yarn",
     "truncate", "looks for it beside the blocks of layer kinds, so rounds the ramp's ends",
     "truncate is false in a block of one kind of layers", kTransformers, TruncateFalseInBlocks,
     Truncated},
    {"megatron_width", "megatron", "Megatron-LM d98e8a64", "yarn", "rotary_percent",
     "ignores it and turns the whole head", "part of the head turns, from the first channel on",
     kMegatron, PartialPrefix, nullptr},
    {"inverted_ramp", "litgpt", "litgpt 26857050", "yarn", "ramp",
     "swaps the two sides of the blend and clamps the upper end to d/2 - 1", "every yarn config",
     kLitgpt, Always, nullptr},
    {"attn_factor", "transformers", kUnrecorded, "yarn", "attn_factor", "ignores it",
     "attn_factor is given", kTransformers, AttnFactor, NoAttnFactor},
    {"extrapolation_factor", "transformers", kUnrecorded, "yarn", "extrapolation_factor",
     "ignores it", "extrapolation_factor is not 1", kTransformers, ExtrapolationFactor,
     NoExtrapolationFactor},
    {"mscale_alone", "transformers", kUnrecorded, "yarn", "mscale",
     "ignores it without mscale_all_dim: 0.1 ln s + 1",
     "mscale without mscale_all_dim, in DeepSeek's form", kTransformers, MscaleAloneDeepseek,
     HuggingfaceMagnitude},
    {"mscale_alone", "vllm", kUnrecorded, "yarn", "mscale",
     "takes it without mscale_all_dim: 0.1 mscale ln s + 1 (deepseek_yarn)",
     "mscale without mscale_all_dim, in the common form", kVllm, MscaleAloneHuggingface,
     DeepseekRatio},
    {"mscale_alone", "mlx", "mlx-lm d78bf58e", "yarn", "mscale",
     "takes it without mscale_all_dim: 0.1 mscale ln s + 1",
     "mscale without mscale_all_dim, in the common form", kMlxLm, MscaleAloneHuggingface,
     DeepseekRatio},
    {"mscale_alone", "megatron", "Megatron-LM d98e8a64", "yarn", "mscale",
     "takes it without mscale_all_dim: 0.1 mscale ln s + 1",
     "mscale without mscale_all_dim, in the common form", kMegatron, MscaleAloneHuggingface,
     DeepseekRatio},
    {"deepseek_magnitude", "deepseek", "DeepSeek-V3 9b4e978", "yarn", "magnitude",
     "leaves cos and sin pure and multiplies logits by (0.1 mscale ln s + 1)^2, all of YaRN only "
     "where max_seq_len is above the original length",
     "DeepSeek's form of magnitude",
     "https://github.com/deepseek-ai/DeepSeek-V3/blob/9b4e978/inference/model.py",
     DeepseekMagnitude, PureRotation},
    {"telechat3", "mlx", "mlx-lm d78bf58e", "yarn", "magnitude", "0.1 ln s + 1 for 0.07 ln s + 1",
     "rope type telechat3-yarn", kMlxLm, Telechat3, HuggingfaceMagnitude},
    {"apply_yarn_scaling", "vllm", kUnrecorded, "yarn", "apply_yarn_scaling",
     "reads it, alone: the magnitude is attn_factor, as posgauge has it; others use their rule",
     "apply_yarn_scaling is false", kVllm, ApplyYarnScalingFalse, nullptr},
    {"magnitude_in_kernel", "llama.cpp", "ggml d99724f2", "yarn", "magnitude",
     "multiplies by 0.1 ln s + 1 in the kernel whenever YaRN is on: rotating a cached key again "
     "multiplies it again unless that is divided out before",
     "every yarn config", kGgml, Always, nullptr},
    {"ramp_over", "papers", "arXiv:2309.00071, eqs. 17-18", "yarn", "ramp",
     "linear in turns over the original length; code, the authors' too, has it linear in the pair",
     "every yarn config", kPaper, Always, PaperRamp},
    {"imrope_tail", "llama.cpp", "ggml d99724f2", "mrope", "section",
     "turns pairs beyond the sections' pattern by a fourth position, 0 for text: they stand still",
     "interleaved sections that leave pairs to time", kGgml, InterleavedTail, FourthAxis},
    {"mrope_as_rope", "mlx", "mlx-lm d78bf58e", "mrope", "section",
     "checks that there are three and turns by one position: right for text alone",
     "every mrope config", kMlxLm, Always, nullptr},
    {"vision_sections", "llama.cpp", "ggml d99724f2", "axial", "section",
     "counts sections in pairs, where its header's example counts channels; CUDA cycles over two "
     "sections, the CPU over four",
     "a vision tower of two axes", kGgml, VisionBlocks, nullptr},
    {"static_alpha", "transformers", kUnrecorded, "ntk", "alpha",
     "ignores it: dynamic by factor, which up to max_position_embeddings scales nothing",
     "rope type dynamic with alpha", kTransformers, StaticAlpha, Unscaled},
    {"naive_ntk", "diffusers", "diffusers 58eb52c0", "ntk", "ntk_factor",
     "multiplies the base by alpha itself, without the power d/(d-2)", "NTK by a fixed alpha",
     "https://github.com/huggingface/diffusers/blob/58eb52c0/src/diffusers/models/embeddings.py",
     StaticAlpha, NaiveBase},
    {"dynamic_length", "vllm", kUnrecorded, "ntk", "length",
     "forms frequencies once, for a length of factor max_position_embeddings",
     "rope type dynamic without alpha", "https://github.com/vllm-project/vllm/issues/41236",
     Dynamic, LongestLength},
    {"dynamic_unscaled", "vllm", "dynamic_ntk_scaling_rope.py at 3cfbaf33", "ntk", "length",
     "drops the inner factor, so that nothing is scaled", "rope type dynamic without alpha", kVllm,
     Dynamic, Unscaled},
    {"dynamic_state", "transformers", "two revisions, one at 26892c16 of a fork", "ntk", "length",
     "keeps the frequencies of the longest call until a call is shorter than the trained length, "
     "and in one revision for good",
     "rope type dynamic without alpha", kTransformers, Dynamic, nullptr},
    {"longrope_regime", "vllm", kUnrecorded, "longrope", "length",
     "chooses the factors once, by the engine's longest length", "two lists of factors",
     "https://github.com/vllm-project/vllm/pull/27431", Regimes, EngineLength},
    {"longrope_regime", "llama.cpp", "2026-06-19", "longrope", "length",
     "chooses the factors by the size of the context, not by how much of it is used",
     "two lists of factors", "https://github.com/ggml-org/llama.cpp/issues/24823", Regimes,
     EngineLength},
    {"longrope_regime", "mlx", "mlx-lm d78bf58e", "longrope", "short_factor",
     "never uses it: always long_factor", "two lists of factors", kMlxLm, Regimes, AlwaysLong},
    {"longrope_mscale", "transformers", kUnrecorded, "longrope", "short_mscale, long_mscale",
     "ignores both: sqrt(1 + ln s/ln L)", "short_mscale or long_mscale is given", kTransformers,
     Mscales, NoMscales},
    {"longrope_mscale", "mlx", "mlx-lm d78bf58e", "longrope", "short_mscale, long_mscale",
     "never passes them on: sqrt(1 + ln s/ln L)", "short_mscale or long_mscale is given", kMlxLm,
     Mscales, NoMscales},
    {"gemma3_factor", "gemma.cpp", "gemma.cpp 3ed403e2", "linear", "factor",
     "has none on global layers", "model_type gemma3",
     "https://github.com/google/gemma.cpp/blob/3ed403e2/gemma/activations.h", LinearOfGemma3,
     NoFactor},
    {"proportional_factor", "vllm", kUnrecorded, "proportional", "factor", "ignores it",
     "factor is not 1",
     "https://github.com/vllm-project/vllm/blob/main/vllm/model_executor/layers/rotary_embedding/"
     "gemma4_rope.py",
     ProportionalFactor, NoFactor},
    {"proportional_half_pair", "mlx", "mlx-lm d78bf58e", "proportional", "partial_rotary_factor",
     "rounds half a pair up", "the share ends within a pair", kMlxLm, HalfPair, CeilingOfPairs},
    {"llama3_step", "flashinfer", "flashinfer fb28d724", "llama3", "high_freq_factor",
     "divides by high - low = 0; its clamp makes 1 of NaN: nothing is scaled",
     "low_freq_factor equals high_freq_factor",
     "https://github.com/flashinfer-ai/flashinfer/blob/fb28d724/include/flashinfer/pos_enc.cuh",
     Step, Unscaled},
    {"llama3_step", "litgpt", "litgpt 26857050", "llama3", "high_freq_factor",
     "divides by high - low = 0: NaN", "low_freq_factor equals high_freq_factor", kLitgpt, Step,
     nullptr},
    {"llama3_constants", "megatron", "Megatron-LM d98e8a64", "llama3",
     "low_freq_factor, high_freq_factor, original length", "fixes them at 1, 4 and 8192",
     "they are other than 1, 4 and 8192", kMegatron, OtherBand, Llama31Band},
    {"t5_distance", "llama.cpp", kUnrecorded, "t5", "max_distance", "fixes it at 128",
     "max_distance is not 128", "https://github.com/ggml-org/llama.cpp", OtherDistance,
     Distance128},
    {"deberta_clamp", "transformers", "commit 0038a3c", "deberta", "relative position",
     "does not clamp it to the largest distance before the buckets: far keys behind come into row "
     "0 "
     "instead of 1",
     "every deberta config", "https://github.com/huggingface/transformers/tree/0038a3c", Always,
     nullptr},
    {"sinusoid_denominator", "fairseq", kUnrecorded, "sinusoidal", "denominator",
     "the last frequency is 1/base (K - 1), rows begin after the padding index, its own row is 0",
     "every sinusoidal config",
     "https://github.com/facebookresearch/fairseq/blob/main/fairseq/modules/"
     "sinusoidal_positional_embedding.py",
     Always, nullptr},
    {"sinusoid_order", "llama.cpp", "ggml d99724f2", "sinusoidal", "layout",
     "cosines first, in its embedding of time steps", "every sinusoidal config", kGgml, Always,
     nullptr},
    {"xpos_centre", "torchscale", "torchscale 4d1e0e8", "xpos", "centre",
     "ceil(N/2), floor(N/2) in flash-attention and x-transformers: it cancels within one call only",
     "every xpos config", "https://github.com/microsoft/torchscale/tree/4d1e0e8", Always, nullptr},
});

constexpr auto kFrameworks = std::to_array<std::string_view>(
    {"deepseek", "diffusers", "fairseq", "flashinfer", "gemma.cpp", "litgpt", "llama.cpp",
     "megatron", "mlx", "onnx", "torchscale", "transformers", "vllm", "papers"});

}  // namespace

std::span<const Dialect> Dialects() { return kDialects; }

std::span<const std::string_view> DialectFrameworks() { return kFrameworks; }

}  // namespace posgauge::cli
