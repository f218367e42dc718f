// Tensors between guard zones.
#include "posgauge/verify/placed_tensor.h"

#include <cstring>

#include <gtest/gtest.h>

namespace posgauge {
namespace {

constexpr uint16_t kPattern = 0x7FFF;

Tensor Counting(Dtype dtype, const std::vector<int64_t>& shape) {
  Tensor tensor(dtype, shape);
  for (size_t i = 0; i < tensor.size(); ++i) tensor.Set(i, static_cast<double>(i));
  return tensor;
}

// The byte `at` elements from the one with this index.
std::byte* Byte(const posgauge_tensor& argument, std::vector<int64_t> index, int64_t at) {
  int64_t element = at;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    element += index[axis] * argument.tensor.strides[axis];
  }
  return static_cast<std::byte*>(argument.tensor.data) + argument.tensor.byte_offset +
         element * argument.tensor.dtype.bits / 8;
}

TEST(placed_tensor, HoldsTheElementsWhereTheStridesSay) {
  for (const Spacing spacing : {Spacing::compact, Spacing::spread, Spacing::packed}) {
    for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::i64, Dtype::f8e4m3}) {
      const Tensor tensor = Counting(dtype, {2, 3, 2});
      PlacedTensor placed(tensor, spacing, kPattern);
      const posgauge_tensor argument = placed.Argument("x");
      EXPECT_EQ(placed.Read(), tensor);
      EXPECT_EQ(placed.Overrun(), "");
      const size_t size = SizeOf(dtype);
      EXPECT_EQ(std::memcmp(Byte(argument, {1, 2, 1}, 0), tensor.bytes().data() + 11 * size, size),
                0);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(argument.tensor.data) % 64, 0u);
      const bool spread = spacing == Spacing::spread, packed = spacing == Spacing::packed;
      EXPECT_EQ(argument.tensor.byte_offset, spread ? 3 * size : packed ? 6 * size : 0);
      EXPECT_EQ(argument.tensor.strides[1], spread ? 7 : 2);
      EXPECT_EQ(argument.tensor.strides[0], spread ? 21 : packed ? 18 : 6);
    }
  }
}

TEST(placed_tensor, EveryByteOutsideIsWatched) {
  struct Wrong {
    Spacing spacing;
    std::vector<int64_t> index;
    int64_t at;
    std::string where;
  };
  const std::vector<Wrong> cases = {
      {Spacing::compact, {0, 0, 0}, -1, "before its beginning"},
      {Spacing::compact, {0, 0, 0}, -256, "before its beginning"},
      {Spacing::compact, {1, 2, 1}, 1, "after its end"},
      {Spacing::compact, {1, 2, 1}, 256, "after its end"},
      {Spacing::compact, {1, 2, 1}, 0, ""},
      {Spacing::packed, {0, 0, 0}, -1, "before its beginning"},
      {Spacing::packed, {0, 0, 0}, 6, "between its rows"},
      {Spacing::packed, {1, 0, 0}, -1, "between its rows"},
      {Spacing::packed, {1, 2, 1}, 1, "after its end"},
      {Spacing::packed, {1, 2, 1}, 0, ""},
      {Spacing::spread, {0, 0, 0}, -1, "before its beginning"},
      {Spacing::spread, {0, 0, 1}, 1, "between its rows"},
      {Spacing::spread, {1, 2, 0}, -1, "between its rows"},
      {Spacing::spread, {1, 2, 1}, 1, "after its end"},
      {Spacing::spread, {1, 2, 1}, 0, ""},
  };
  for (const Wrong& wrong : cases) {
    PlacedTensor placed(Counting(Dtype::f32, {2, 3, 2}), wrong.spacing, kPattern);
    *Byte(placed.Argument("x"), wrong.index, wrong.at) ^= std::byte{1};
    EXPECT_EQ(placed.Overrun(), wrong.where) << wrong.at;
  }
}

TEST(placed_tensor, TouchesAnEdgeOfGivenMemory) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f8e4m3}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 3, 5}, {7}, {1, 1}, {}}) {
      for (const Spacing spacing : {Spacing::compact, Spacing::spread}) {
        const Tensor tensor = Counting(dtype, shape);
        std::vector<std::byte> memory(PlacedTensor::RoomFor(tensor, spacing) + 4096);
        const std::byte *begin = memory.data(), *end = begin + memory.size();
        PlacedTensor first(tensor, spacing, kPattern, memory, Edge::begin);
        EXPECT_EQ(first.Read(), tensor);
        EXPECT_EQ(first.Overrun(), "");
        const posgauge_tensor argument = first.Argument("x");
        EXPECT_EQ(argument.tensor.data, begin);
        EXPECT_EQ(first.elements().data(), begin + argument.tensor.byte_offset);
        memory[first.elements().size() + argument.tensor.byte_offset] ^= std::byte{1};
        EXPECT_EQ(first.Overrun(), "after its end");
        const PlacedTensor last(tensor, spacing, kPattern, memory, Edge::end);
        EXPECT_EQ(last.Read(), tensor);
        EXPECT_EQ(last.Overrun(), "");
        EXPECT_EQ(last.elements().data() + last.elements().size(), end);
        memory[memory.size() - last.elements().size() - 1] ^= std::byte{1};
        EXPECT_EQ(last.Overrun(), "before its beginning");
      }
    }
  }
}

TEST(placed_tensor, EmptyOnesAndScalarRows) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{0, 4, 8}, {3, 0}, {5}, {1}}) {
    const Tensor tensor = Counting(Dtype::f64, shape);
    PlacedTensor placed(tensor, Spacing::spread, kPattern);
    EXPECT_EQ(placed.Read(), tensor);
    EXPECT_EQ(placed.Overrun(), "");
  }
}

}  // namespace
}  // namespace posgauge
