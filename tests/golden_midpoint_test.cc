// How near a value comes to where rounding turns.
#include "posgauge/golden/midpoint.h"

#include <gtest/gtest.h>

namespace posgauge::golden {
namespace {

// The output whose real numbers are value + distance / 2^16 ulp each.
std::optional<double> Smallest(const std::vector<double>& values,
                               const std::vector<double>& distances, Dtype dtype) {
  const std::vector<int64_t> shape = {static_cast<int64_t>(values.size())};
  std::map<Dtype, Rounding> output;
  output[Dtype::f64].values = Tensor::FromValues(Dtype::f64, shape, values);
  output[Dtype::f64].distances = Tensor::FromValues(Dtype::i32, shape, distances);
  if (dtype != Dtype::f64) output[dtype].values = Tensor::FromValues(dtype, shape, values);
  return SmallestMidpointDistance(output, dtype);
}

TEST(golden_midpoint, OfF64FollowsFromItsDistances) {
  EXPECT_EQ(Smallest({1.5}, {0}, Dtype::f64), 0.5);
  EXPECT_EQ(Smallest({1.5}, {32768}, Dtype::f64), 0);
  EXPECT_EQ(Smallest({1.5, -1.5, 1.75}, {100, -16384, 200}, Dtype::f64), 0.25);
  // Below a power of two the gap is half of an ulp, so that the midpoint is a quarter away.
  EXPECT_EQ(Smallest({1}, {0}, Dtype::f64), 0.25);
  EXPECT_EQ(Smallest({-1}, {8192}, Dtype::f64), 0.125);
  EXPECT_EQ(Smallest({1}, {16384}, Dtype::f64), 0.25);
  EXPECT_EQ(Smallest({0x1p-1022}, {0}, Dtype::f64), 0.5);  // subnormals are as coarse
  EXPECT_EQ(Smallest({0}, {0}, Dtype::f64), 0.5);
}

TEST(golden_midpoint, OfNarrowerDtypesFollowsFromF64) {
  // 1 + 2^-8 is the tie of bf16 between 1 and 1 + 2^-7; 2^-52 beside it is 2^-45 ulp.
  EXPECT_EQ(Smallest({1 + 0x1p-8}, {0}, Dtype::bf16), 0);
  EXPECT_EQ(Smallest({1 + 0x1p-8 + 0x1p-52}, {0}, Dtype::bf16), 0x1p-45);
  EXPECT_EQ(Smallest({1 + 0x1p-8}, {1}, Dtype::bf16), 0x1p-61);
  EXPECT_EQ(Smallest({-1 - 0x1p-8}, {1}, Dtype::bf16), 0x1p-61);
  EXPECT_EQ(Smallest({1}, {0}, Dtype::f32), 0.25);
  EXPECT_EQ(Smallest({0x1p-150}, {0}, Dtype::f32), 0);  // rounds to 0, half of the smallest
  EXPECT_EQ(Smallest({0x1p-152}, {0}, Dtype::f32), 0.375);
  EXPECT_EQ(Smallest({464}, {0}, Dtype::f8e4m3), 0);  // the tie of the largest
}

TEST(golden_midpoint, IsNothingWhereNothingCanBeSaid) {
  EXPECT_EQ(Smallest({INFINITY, NAN}, {0, 0}, Dtype::f32), std::nullopt);
  EXPECT_EQ(Smallest({1e300}, {0}, Dtype::f32), std::nullopt);
  std::map<Dtype, Rounding> alone;
  alone[Dtype::f32].values = Tensor(Dtype::f32, {1});
  EXPECT_EQ(SmallestMidpointDistance(alone, Dtype::f32), std::nullopt);
}

}  // namespace
}  // namespace posgauge::golden
