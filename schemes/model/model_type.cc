#include "posgauge/schemes/model/model_type.h"

#include <algorithm>
#include <array>

namespace posgauge {

namespace {

constexpr Pairing kHalf = Pairing::half;
constexpr Pairing kInterleaved = Pairing::interleaved;

// Sources: the model code in huggingface/transformers (class defaults of the configs, rotate_half
// or its interleaved form), the remote code on the hub for internlm, baichuan, minicpm, orion, qwen
// and kimi_k2, deepseek-ai/DeepSeek-V3 inference/model.py, openai/gpt-oss torch/model.py.
constexpr auto kModelTypes = std::to_array<ModelType>({
    {.name = "baichuan", .pairing = kHalf},
    {.name = "codegen", .pairing = kInterleaved, .fraction = 0},
    {.name = "cohere", .pairing = kInterleaved},
    {.name = "cohere2", .pairing = kInterleaved, .rule = LayerRule::global_without, .interval = 4},
    {.name = "deepseek", .pairing = kHalf},
    {.name = "deepseek_v2", .pairing = kInterleaved, .fraction = 0, .deepseek = true},
    {.name = "deepseek_v3", .pairing = kInterleaved, .fraction = 0, .deepseek = true},
    {.name = "ernie4_5", .pairing = kInterleaved, .base = 0},
    {.name = "ernie4_5_moe", .pairing = kInterleaved, .base = 0},
    {.name = "falcon", .pairing = kHalf},
    {.name = "gemma", .pairing = kHalf, .head_dim = 256},
    {.name = "gemma2", .pairing = kHalf, .head_dim = 256},
    {.name = "gemma3_text",
     .pairing = kHalf,
     .base = 1e6,
     .head_dim = 256,
     .rule = LayerRule::local_base,
     .interval = 6,
     .local_base = 10000,
     .max_position = 131072},
    {.name = "gemma4_text", .pairing = kHalf, .base = 0, .head_dim = 256, .global_head_dim = 512},
    {.name = "gemma4_unified_text",
     .pairing = kHalf,
     .base = 0,
     .head_dim = 256,
     .global_head_dim = 512},
    {.name = "glm", .pairing = kInterleaved, .fraction = 0.5, .head_dim = 128},
    {.name = "glm4", .pairing = kInterleaved, .fraction = 0.5, .head_dim = 128},
    {.name = "gpt_neox", .pairing = kHalf, .fraction = 0.25},
    {.name = "gpt_oss", .pairing = kHalf, .base = 150000, .head_dim = 64},
    {.name = "gptj", .pairing = kInterleaved, .fraction = 0},
    {.name = "granite", .pairing = kHalf},
    {.name = "hunyuan", .pairing = kHalf},
    {.name = "hunyuan_v1_dense", .pairing = kHalf},
    {.name = "hunyuan_v1_moe", .pairing = kHalf},
    {.name = "internlm", .pairing = kHalf},
    {.name = "internlm2", .pairing = kHalf},
    {.name = "kimi_k2", .pairing = kInterleaved, .base = 0, .fraction = 0, .deepseek = true},
    {.name = "llama", .pairing = kHalf},
    {.name = "llama4_text",
     .pairing = kInterleaved,
     .base = 500000,
     .head_dim = 128,
     .rule = LayerRule::every_nth_without,
     .interval = 4},
    {.name = "minicpm", .pairing = kHalf},
    {.name = "ministral3", .pairing = kHalf, .base = 0},
    {.name = "mistral", .pairing = kHalf},
    {.name = "mixtral", .pairing = kHalf, .base = 0},
    {.name = "modernbert",
     .pairing = kHalf,
     .base = 160000,
     .rule = LayerRule::local_base,
     .interval = 3,
     .global = GlobalLayer::first,
     .local_base = 10000},
    {.name = "nemotron", .pairing = kHalf, .fraction = 0.5},
    {.name = "olmo", .pairing = kHalf},
    {.name = "olmo2", .pairing = kHalf},
    {.name = "olmoe", .pairing = kHalf},
    {.name = "orion", .pairing = kHalf},
    {.name = "persimmon", .pairing = kHalf, .base = 25000, .fraction = 0.5},
    {.name = "phi", .pairing = kHalf, .fraction = 0.5},
    {.name = "phi3", .pairing = kHalf},
    {.name = "phimoe", .pairing = kHalf, .base = 0},
    {.name = "qwen", .pairing = kHalf},
    {.name = "qwen2", .pairing = kHalf},
    {.name = "qwen2_moe", .pairing = kHalf},
    {.name = "qwen3", .pairing = kHalf, .head_dim = 128},
    {.name = "qwen3_moe", .pairing = kHalf, .base = 0},
    {.name = "roformer", .pairing = kInterleaved},
    {.name = "smollm3",
     .pairing = kHalf,
     .base = 2e6,
     .rule = LayerRule::every_nth_without,
     .interval = 4},
    {.name = "stablelm", .pairing = kHalf, .fraction = 0.25},
    {.name = "starcoder2", .pairing = kHalf},
});

}  // namespace

const ModelType* FindModelType(std::string_view name) {
  const auto* at = std::find_if(kModelTypes.begin(), kModelTypes.end(),
                                [&](const ModelType& type) { return type.name == name; });
  return at == kModelTypes.end() ? nullptr : at;
}

}  // namespace posgauge
