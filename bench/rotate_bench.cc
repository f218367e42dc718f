// Rotating Q, 32 heads of 128, against memory and against plain loops compiled for this machine.
//   posgauge_bench_rotate --benchmark_filter=f32

#include <cmath>
#include <cstring>

#include "plain_loops.h"
#include "race.h"

namespace posgauge::bench {
namespace {

constexpr int64_t kHeads = 32, kPairs = 64;

// Working sets of Q: first and second level of cache, and memory.
constexpr int64_t kTokensL1 = 1, kTokensL2 = 16, kTokensDram = 4096;

template <class Element>
struct Data {
  explicit Data(int64_t tokens)
      : x(static_cast<size_t>(tokens * kHeads * 2 * kPairs)),
        out(x.size()),
        cos(static_cast<size_t>(tokens * kPairs)),
        sin(cos.size()),
        positions(static_cast<size_t>(tokens)),
        high(kPairs),
        low(kPairs) {
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i < high.size(); ++i) {
      high[i] = std::pow(10000.0, -static_cast<double>(i) / kPairs);
      frequency.push_back(static_cast<float>(high[i]));
    }
    for (size_t i = 0; i < cos.size(); ++i) {
      const double angle = static_cast<double>(i / kPairs) * high[i % kPairs];
      cos[i] = static_cast<float>(std::cos(angle));
      sin[i] = static_cast<float>(std::sin(angle));
    }
    // 0.75 in f32, and in 16 bits a normal number of either dtype.
    for (Element& value : x) value = static_cast<Element>(sizeof(Element) == 4 ? 0.75 : 0x3a00);
  }
  std::vector<Element> x, out;
  std::vector<float> cos, sin, frequency;
  std::vector<int64_t> positions;
  std::vector<double> high, low;
  double magnitude = 1;
};

int RepeatsFor(int64_t tokens) { return static_cast<int>(std::max<int64_t>(1, 512 / tokens)); }

template <class Element>
std::vector<View> TableInputs(Data<Element>& data, Dtype io, int64_t tokens) {
  return {{"x", io, data.x.data(), {tokens, kHeads, 2 * kPairs}},
          {"cos", Dtype::f32, data.cos.data(), {tokens, kPairs}},
          {"sin", Dtype::f32, data.sin.data(), {tokens, kPairs}}};
}

// Calls loop(x, out, cos, sin) for every token.
template <class Element, class Loop>
std::function<void()> PlainLoop(Data<Element>& data, bool in_place, const Loop& loop) {
  return [&data, in_place, loop] {
    Element* const out = in_place ? data.x.data() : data.out.data();
    const size_t tokens = data.positions.size(), row = kHeads * 2 * kPairs;
    for (size_t token = 0; token < tokens; ++token) {
      loop(data.x.data() + token * row, out + token * row, data.cos.data() + token * kPairs,
           data.sin.data() + token * kPairs, size_t{kHeads}, size_t{kPairs});
    }
  };
}

template <class Element>
double BytesOf(const Data<Element>& data) {
  return 2.0 * static_cast<double>(data.x.size() * sizeof(Element));
}

template <class Element, class Loop>
void RotateWithTable(benchmark::State& state, Dtype io, Pairing pairing, bool in_place,
                     const Loop& loop) {
  const int64_t tokens = state.range(0);
  Data<Element> data(tokens);
  Element* const out = in_place ? data.x.data() : data.out.data();
  BoundKernel kernel("fast.rotate." + std::string(Name(io)), 2 * kPairs,
                     TableInputs(data, io, tokens),
                     {{"out", io, out, {tokens, kHeads, 2 * kPairs}}});
  kernel.SetPairing(pairing);
  std::vector<Contender> contenders;
  contenders.emplace_back("loop", PlainLoop(data, in_place, loop));
  if (in_place) {
    contenders.emplace_back("rmw", [&] {
      auto* const values = reinterpret_cast<float*>(data.x.data());
      posgauge_plain_scale_f32(values, data.x.size() * sizeof(Element) / sizeof(float));
    });
  } else {
    contenders.emplace_back("memcpy", [&] {
      std::memcpy(data.out.data(), data.x.data(), data.x.size() * sizeof(Element));
    });
  }
  Race(state, std::ref(kernel), contenders, RepeatsFor(tokens), BytesOf(data));
}

void RotateF32(benchmark::State& state, Pairing pairing, bool in_place) {
  RotateWithTable<float>(state, Dtype::f32, pairing, in_place, posgauge_plain_rotate_f32);
}
void RotateBf16(benchmark::State& state, Pairing pairing, bool in_place) {
  RotateWithTable<uint16_t>(state, Dtype::bf16, pairing, in_place, posgauge_plain_rotate_bf16);
}
void RotateF16(benchmark::State& state, Pairing pairing, bool in_place) {
  RotateWithTable<uint16_t>(state, Dtype::f16, pairing, in_place, posgauge_plain_rotate_f16);
}

// From positions: the table's row is made for every token, as the plain loop makes it with sincosf.
void RotatePositionsF32(benchmark::State& state) {
  const int64_t tokens = state.range(0);
  Data<float> data(tokens);
  const std::vector<int64_t> shape = {tokens, kHeads, 2 * kPairs};
  BoundKernel kernel("fast.rotate_positions.f32", 2 * kPairs,
                     {{"x", Dtype::f32, data.x.data(), shape},
                      {"positions", Dtype::i64, data.positions.data(), {tokens}},
                      {"frequency", Dtype::f64, data.high.data(), {kPairs}},
                      {"frequency_low", Dtype::f64, data.low.data(), {kPairs}},
                      {"magnitude", Dtype::f64, &data.magnitude, {1}}},
                     {{"out", Dtype::f32, data.out.data(), shape}});
  const auto plain = PlainLoop(
      data, false,
      [&](const float* x, float* out, float* cos, float* sin, size_t heads, size_t pairs) {
        const auto token = static_cast<size_t>(cos - data.cos.data()) / kPairs;
        posgauge_plain_table_f32(static_cast<float>(data.positions[token]), data.frequency.data(),
                                 cos, sin, pairs);
        posgauge_plain_rotate_f32(x, out, cos, sin, heads, pairs);
      });
  Race(state, std::ref(kernel), {{"sincosf_loop", plain}}, RepeatsFor(tokens), BytesOf(data));
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("tokens")->Arg(kTokensL1)->Arg(kTokensL2)->Arg(kTokensDram);
  bench->UseManualTime()->Iterations(kTurns);
}

BENCHMARK_CAPTURE(RotateF32, half, Pairing::half, false)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateF32, half_in_place, Pairing::half, true)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateF32, interleaved, Pairing::interleaved, false)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateF32, interleaved_in_place, Pairing::interleaved, true)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateBf16, half, Pairing::half, false)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateBf16, interleaved, Pairing::interleaved, false)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateF16, half, Pairing::half, false)->Apply(Sizes);
BENCHMARK_CAPTURE(RotateF16, interleaved, Pairing::interleaved, false)->Apply(Sizes);
BENCHMARK(RotatePositionsF32)->Apply(Sizes);

}  // namespace
}  // namespace posgauge::bench
