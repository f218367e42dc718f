// Biases [heads, queries, keys] for consecutive positions, stored to memory, against memset of the
// same bytes.

#include <cstring>

#include "posgauge/schemes/base/scheme.h"
#include "race.h"

namespace posgauge::bench {
namespace {

constexpr int64_t kHeads = 8;

void Bias(benchmark::State& state, const char* scheme, Dtype dtype) {
  const int64_t keys = state.range(0);
  std::vector<int64_t> positions(static_cast<size_t>(keys));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  const size_t bytes = static_cast<size_t>(kHeads * keys * keys) * SizeOf(dtype);
  std::vector<double> bias(bytes / sizeof(double) + 1);
  const Scheme parameters = ParseScheme(scheme, {fmt::format("heads={}", kHeads)});
  BoundKernel kernel(fmt::format("fast.bias.{}.{}", scheme, Name(dtype)), scheme,
                     ScalarsOf(parameters),
                     {{"query_positions", Dtype::i64, positions.data(), {keys}},
                      {"key_positions", Dtype::i64, positions.data(), {keys}}},
                     {{"bias", dtype, bias.data(), {kHeads, keys, keys}}});
  Race(state, std::ref(kernel), {{"memset", [&] { std::memset(bias.data(), 0, bytes); }}},
       static_cast<int>(std::max<int64_t>(1, 256 / keys)), static_cast<double>(bytes));
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("keys")->Arg(64)->Arg(256)->Arg(2048)->UseManualTime()->Iterations(kTurns);
}

BENCHMARK_CAPTURE(Bias, alibi_f64, "alibi", Dtype::f64)->Apply(Sizes);
BENCHMARK_CAPTURE(Bias, alibi_f32, "alibi", Dtype::f32)->Apply(Sizes);
BENCHMARK_CAPTURE(Bias, alibi_bf16, "alibi", Dtype::bf16)->Apply(Sizes);
BENCHMARK_CAPTURE(Bias, alibi_f16, "alibi", Dtype::f16)->Apply(Sizes);
BENCHMARK_CAPTURE(Bias, sandwich_f32, "sandwich", Dtype::f32)->Apply(Sizes);
BENCHMARK_CAPTURE(Bias, sandwich_bf16, "sandwich", Dtype::bf16)->Apply(Sizes);

}  // namespace
}  // namespace posgauge::bench
