#include <bit>
#include <cmath>
#include <random>

#include "kernel_call.h"

namespace posgauge {
namespace {

class FastConversion : public testing::TestWithParam<Dtype> {};

bool IsNan(Dtype dtype, uint64_t bits) { return std::isnan(Decode(dtype, bits)); }

TEST_P(FastConversion, WidensEveryValueExactly) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  OnEveryTarget([&] {
    std::vector<float> wide(all.size());
    fast::Widen(GetParam(), all.data(), wide.data(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      const double want = Decode(GetParam(), i);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(wide[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), Encode(Dtype::f32, want)) << i;
      }
    }
  });
}

// Every value, every midpoint and their neighbours: all places where rounding can decide
// differently; and f32 bit patterns at large.
std::vector<float> NarrowingInputs(Dtype dtype) {
  std::vector<float> inputs;
  const auto with_neighbours = [&](float value) {
    inputs.insert(inputs.end(),
                  {value, std::nextafterf(value, INFINITY), std::nextafterf(value, -INFINITY)});
  };
  for (uint64_t bits = 0; bits < 65536; ++bits) {
    const double value = Decode(dtype, bits);
    inputs.push_back(static_cast<float>(value));
    if (!std::isfinite(value)) continue;
    with_neighbours(static_cast<float>(value));
    const double spacing = Ulp(FormatOf(dtype), value);
    with_neighbours(static_cast<float>(value + std::copysign(spacing / 2, value)));
  }
  std::mt19937 random(20240501);
  for (int i = 0; i < 100000; ++i)
    inputs.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return inputs;
}

TEST_P(FastConversion, NarrowsToNearestEven) {
  const std::vector<float> inputs = NarrowingInputs(GetParam());
  std::vector<uint64_t> want;
  for (float value : inputs) want.push_back(Encode(GetParam(), double{value}));
  OnEveryTarget([&] {
    std::vector<uint16_t> narrow(inputs.size());
    fast::Narrow(GetParam(), inputs.data(), narrow.data(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (std::isnan(inputs[i])) {
        ASSERT_TRUE(IsNan(GetParam(), narrow[i])) << i;
      } else {
        ASSERT_EQ(narrow[i], want[i]) << std::hexfloat << inputs[i];
      }
    }
  });
}

// All lengths up to several vectors: tails convert like bodies, and nothing beyond is written.
TEST_P(FastConversion, TailsConvertLikeBodies) {
  std::mt19937 random(7);
  std::vector<float> inputs(67);
  for (float& value : inputs)
    value = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0xbfffffff);
  OnEveryTarget([&] {
    std::vector<uint16_t> whole(inputs.size());
    fast::Narrow(GetParam(), inputs.data(), whole.data(), inputs.size());
    for (size_t count = 0; count < inputs.size(); ++count) {
      std::vector<uint16_t> part(inputs.size(), 0xA5A5);
      fast::Narrow(GetParam(), inputs.data(), part.data(), count);
      for (size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(part[i], i < count ? whole[i] : 0xA5A5) << count << ' ' << i;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(fast, FastConversion, testing::Values(Dtype::bf16, Dtype::f16),
                         [](const auto& dtype) { return std::string(Name(dtype.param)); });

}  // namespace
}  // namespace posgauge
