// The certified reference: proven tables for 2^20 consecutive positions x 64 pairs on one thread,
// set-up included, against memset of the same bytes, SLEEF, Highway and the C library computing a
// float table of as many entries, all blocks reused so that none waits for memory more than
// another. Also prints how many values each way left to the next one.

#include <cmath>
#include <cstring>
#include <tuple>

#include "peers.h"
#include "plain_loops.h"
#include "posgauge/reference/table_stream.h"
#include "race.h"

namespace posgauge::bench {
namespace {

constexpr int64_t kPairs = 64, kPositions = 1 << 20, kBlock = 2048;

void Certified(benchmark::State& state, const char* base, std::vector<Dtype> dtypes,
               StreamPath path) {
  std::vector<double> frequency;
  std::vector<float> narrow;
  for (int64_t i = 0; i < kPairs; ++i) {
    frequency.push_back(std::pow(std::stod(base), -static_cast<double>(i) / kPairs));
    narrow.push_back(static_cast<float>(frequency.back()));
  }
  const Scheme scheme = ParseScheme("rope", {"rotary_dim=128", std::string("base=") + base});
  std::vector<StreamCounts> counts;
  size_t bytes_a_value = 0;
  for (Dtype dtype : dtypes) bytes_a_value += SizeOf(dtype);
  std::vector<double> cos(kBlock * kPairs), sin(kBlock * kPairs), row(kPairs);
  std::vector<float> cos_f32(kBlock * kPairs), sin_f32(kBlock * kPairs);
  std::vector<char> bytes(2 * kBlock * kPairs * bytes_a_value);
  const auto each_row = [](const auto& compute) {
    for (int64_t position = 0; position < kPositions; ++position) {
      compute(static_cast<double>(position), static_cast<size_t>(position % kBlock * kPairs));
    }
  };
  const auto f32_row = [&](auto library) {
    return [&, library] {
      each_row([&](double position, size_t at) {
        library(static_cast<float>(position), narrow.data(), cos_f32.data() + at,
                sin_f32.data() + at, kPairs);
      });
    };
  };
  const auto f64_row = [&](auto library) {
    return [&, library] {
      each_row([&](double position, size_t at) {
        library(position, frequency.data(), cos.data() + at, sin.data() + at, kPairs);
      });
    };
  };
  const std::vector<Contender> contenders = {
      {"memset",
       [&] {
         for (int64_t block = 0; block < kPositions / kBlock; ++block) {
           std::memset(bytes.data(), static_cast<int>(block), bytes.size());
           benchmark::ClobberMemory();
         }
       }},
      {"sleef_f32_u10", f32_row(posgauge_sleef_row_f32_u10)},
      {"sleef_f32_u35", f32_row(posgauge_sleef_row_f32_u35)},
      {"sleef_f64_u10", f64_row(posgauge_sleef_row_f64_u10)},
      {"highway_f64", f64_row(posgauge_highway_row_f64)},
      {"sincosf", f32_row(posgauge_plain_table_f32)},
  };
  Race(
      state,
      [&] {
        const ExactRotation rotation(scheme);
        counts = StreamTable(rotation, 0, kPositions, dtypes, path, 1, [](const TableBlock& block) {
          benchmark::DoNotOptimize(block.values[0].cos.data());
        });
      },
      contenders, 1,
      static_cast<double>(2 * kPositions * kPairs) * static_cast<double>(bytes_a_value));
  for (const StreamCounts& one : counts) {
    state.counters[std::string(Name(one.dtype)) + "_by_mpfr"] = static_cast<double>(one.by_mpfr);
    state.counters[std::string(Name(one.dtype)) + "_undecided"] =
        static_cast<double>(one.undecided);
  }
}

// Our fast f32 table against the certified one, every entry of 2^20 positions from `first`: the
// share that is correctly rounded, and the largest absolute error, of which the f64 truth hides
// 2^-54.
void FastTableAccuracy(benchmark::State& state, const char* base, int64_t first) {
  const Scheme scheme = ParseScheme("rope", {"rotary_dim=128", std::string("base=") + base});
  const ExactRotation rotation(scheme);
  const EnclosedValues frequencies = rotation.EncloseFrequencies();
  std::vector<double> high, low;
  for (DoubleDouble frequency : frequencies.values) {
    high.push_back(frequency.high);
    low.push_back(frequency.low);
  }
  double magnitude = 1;
  std::vector<int64_t> positions(1);
  std::vector<float> cos(kPairs), sin(kPairs);
  const BoundKernel kernel(
      "fast.table.f32", 2 * kPairs,
      {{"positions", Dtype::i64, positions.data(), {1}},
       {"frequency", Dtype::f64, high.data(), {kPairs}},
       {"frequency_low", Dtype::f64, low.data(), {kPairs}},
       {"magnitude", Dtype::f64, &magnitude, {1}}},
      {{"cos", Dtype::f32, cos.data(), {1, kPairs}}, {"sin", Dtype::f32, sin.data(), {1, kPairs}}});
  int64_t wrong = 0, entries = 0;
  double worst = 0;
  const std::vector<Dtype> dtypes = {Dtype::f64, Dtype::f32};
  for (auto _ : state) {
    StreamTable(rotation, first, first + kPositions, dtypes, StreamPath::rows, 1,
                [&](const TableBlock& block) {
                  for (int64_t token = 0; token < block.tokens; ++token) {
                    positions[0] = block.first + token;
                    kernel();
                    for (const auto& [own, exact, rounded] :
                         {std::tuple(&cos, block.values[0].cos, block.values[1].cos),
                          std::tuple(&sin, block.values[0].sin, block.values[1].sin)}) {
                      for (size_t pair = 0; pair < kPairs; ++pair) {
                        const size_t at = static_cast<size_t>(token * kPairs) + pair;
                        double truth = 0;
                        float right = 0;
                        std::memcpy(&truth, exact.data() + at * sizeof truth, sizeof truth);
                        std::memcpy(&right, rounded.data() + at * sizeof right, sizeof right);
                        ++entries;
                        if ((*own)[pair] != right) ++wrong;
                        worst =
                            std::max(worst, std::fabs(static_cast<double>((*own)[pair]) - truth));
                      }
                    }
                  }
                });
  }
  state.counters["entries"] = static_cast<double>(entries);
  state.counters["not_correctly_rounded"] = static_cast<double>(wrong);
  state.counters["correctly_rounded_share"] =
      1 - static_cast<double>(wrong) / static_cast<double>(entries);
  state.counters["largest_error"] = worst;
}

BENCHMARK_CAPTURE(FastTableAccuracy, base_10000, "10000", int64_t{0})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(FastTableAccuracy, base_500000, "500000", int64_t{0})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(FastTableAccuracy, base_500000_far, "500000", (int64_t{1} << 31) - kPositions)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

const std::vector<Dtype> kF32 = {Dtype::f32}, kF64 = {Dtype::f64},
                         kAll(kFloatDtypes.begin(), kFloatDtypes.end());

void Once(benchmark::internal::Benchmark* benchmark) {
  benchmark->Iterations(3)->UseManualTime()->Unit(benchmark::kSecond);
}

BENCHMARK_CAPTURE(Certified, f32_base_10000, "10000", kF32, StreamPath::rows)->Apply(Once);
BENCHMARK_CAPTURE(Certified, f32_base_500000, "500000", kF32, StreamPath::rows)->Apply(Once);
BENCHMARK_CAPTURE(Certified, f64_base_10000, "10000", kF64, StreamPath::rows)->Apply(Once);
BENCHMARK_CAPTURE(Certified, f64_base_500000, "500000", kF64, StreamPath::rows)->Apply(Once);
BENCHMARK_CAPTURE(Certified, all_base_500000, "500000", kAll, StreamPath::rows)->Apply(Once);
BENCHMARK_CAPTURE(Certified, direct_f32_base_500000, "500000", kF32, StreamPath::direct)
    ->Apply(Once);

}  // namespace
}  // namespace posgauge::bench
