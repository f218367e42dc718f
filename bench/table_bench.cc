// Tables of 64 pairs for consecutive positions, stored to memory, against memset of the same bytes
// and the C library's sines.

#include <cmath>
#include <cstring>

#include "plain_loops.h"
#include "race.h"

namespace posgauge::bench {
namespace {

constexpr int64_t kPairs = 64;

void Table(benchmark::State& state, Dtype dtype) {
  const int64_t tokens = state.range(0);
  const auto entries = static_cast<size_t>(tokens * kPairs);
  std::vector<int64_t> positions(static_cast<size_t>(tokens));
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  std::vector<double> high, low(kPairs);
  std::vector<float> frequency;
  for (int64_t i = 0; i < kPairs; ++i) {
    high.push_back(std::pow(10000.0, -static_cast<double>(i) / kPairs));
    frequency.push_back(static_cast<float>(high.back()));
  }
  double magnitude = 1;
  // Room for f64, whatever the dtype.
  std::vector<double> cos(entries), sin(entries);
  BoundKernel kernel(
      "fast.table." + std::string(Name(dtype)), 2 * kPairs,
      {{"positions", Dtype::i64, positions.data(), {tokens}},
       {"frequency", Dtype::f64, high.data(), {kPairs}},
       {"frequency_low", Dtype::f64, low.data(), {kPairs}},
       {"magnitude", Dtype::f64, &magnitude, {1}}},
      {{"cos", dtype, cos.data(), {tokens, kPairs}}, {"sin", dtype, sin.data(), {tokens, kPairs}}});
  std::vector<float> plain_cos(entries), plain_sin(entries);
  const std::vector<Contender> contenders = {
      {"memset",
       [&] {
         std::memset(cos.data(), 0, entries * SizeOf(dtype));
         std::memset(sin.data(), 0, entries * SizeOf(dtype));
       }},
      {"sincosf",
       [&] {
         for (size_t token = 0; token < positions.size(); ++token) {
           posgauge_plain_table_f32(static_cast<float>(positions[token]), frequency.data(),
                                    plain_cos.data() + token * kPairs,
                                    plain_sin.data() + token * kPairs, kPairs);
         }
       }},
      {"sincos",
       [&] {
         for (size_t token = 0; token < positions.size(); ++token) {
           posgauge_plain_table_f64(static_cast<double>(positions[token]), high.data(),
                                    plain_cos.data() + token * kPairs,
                                    plain_sin.data() + token * kPairs, kPairs);
         }
       }},
  };
  Race(state, std::ref(kernel), contenders, static_cast<int>(std::max<int64_t>(1, 64 / tokens)),
       2.0 * static_cast<double>(entries * SizeOf(dtype)));
  state.counters["values/s"] = state.counters["GB/s"] * 1e9 / static_cast<double>(SizeOf(dtype));
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("tokens")->Arg(1)->Arg(32)->Arg(16384)->UseManualTime()->Iterations(kTurns);
}

BENCHMARK_CAPTURE(Table, f64, Dtype::f64)->Apply(Sizes);
BENCHMARK_CAPTURE(Table, f32, Dtype::f32)->Apply(Sizes);
BENCHMARK_CAPTURE(Table, bf16, Dtype::bf16)->Apply(Sizes);
BENCHMARK_CAPTURE(Table, f16, Dtype::f16)->Apply(Sizes);

}  // namespace
}  // namespace posgauge::bench
