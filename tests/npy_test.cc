#include "posgauge/verify/npy.h"

#include <array>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "parse_refusal.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/tensor_file.h"
#include "temporary_folder.h"

namespace posgauge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string File(const std::string& header, const std::string& data, char major = 1,
                 int64_t length = -1) {
  auto size = static_cast<uint64_t>(length < 0 ? static_cast<int64_t>(header.size()) : length);
  std::string bytes = "\x93NUMPY";
  bytes += {major, '\0'};
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, size >>= 8) {
    bytes += static_cast<char>(size & 0xff);
  }
  return bytes + header + data;
}

std::string Header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}  \n", descr, order,
                     shape);
}

std::string Refusal(const std::string& bytes) { return ParseRefusal(ParseNpy, bytes); }

std::vector<Tensor> Samples() {
  return {Tensor::FromValues(Dtype::f64, {2}, std::array{-0.0, 0x1p-1074}),
          Tensor::FromValues(Dtype::f32, {1, 2}, std::array{1.5, -kInfinity}),
          Tensor::FromValues(Dtype::bf16, {3}, std::array{1.0, 2.0, 0x1p-133}),
          Tensor::FromValues(Dtype::f16, {}, std::array{65504.0}),
          Tensor::FromValues(Dtype::i64, {1}, std::array{-0x1p53}),
          Tensor::FromValues(Dtype::i32, {2, 1, 1}, std::array{-0x1p31, 5.0}),
          Tensor::FromValues(Dtype::u8, {3}, std::array{0.0, 7.0, 255.0}),
          Tensor::FromValues(Dtype::f8e4m3, {3}, std::array{448.0, -0.0, 0x1p-9}),
          Tensor::FromValues(Dtype::f8e5m2, {2}, std::array{-kInfinity, 0x1p-16}),
          Tensor(Dtype::f32, {0, 4})};
}

TEST(npy, RoundTripKeepsEveryBit) {
  for (const Tensor& tensor : Samples()) {
    const std::string bytes = SerializeNpy(tensor);
    EXPECT_EQ(ParseNpy(bytes, "x"), tensor);
    EXPECT_EQ((bytes.size() - tensor.bytes().size()) % 64, 0u);
  }
}

// Bytes of numpy.save (1.24.2) of [1, 2] as float32; its own reader gives the same for all
// versions.
TEST(npy, ReadsWhatNumpyWrites) {
  const std::string header = Header("'<f4'", "(2,)");
  const std::string data("\0\0\x80\x3f\0\0\0\x40", 8);
  const Tensor expected = Tensor::FromValues(Dtype::f32, {2}, std::array{1.0, 2.0});
  EXPECT_EQ(ParseNpy(File(header, data), "x"), expected);
  EXPECT_EQ(ParseNpy(File(header, data, 2), "x"), expected);
  EXPECT_EQ(ParseNpy(File(header, data, 3), "x"), expected);
  const std::string written = SerializeNpy(expected);
  EXPECT_EQ(written, File("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" +
                              std::string(60, ' ') + "\n",
                          data));
}

TEST(npy, FortranOrderIsTransposed) {
  const std::string data("\1\2\3\4\5\6", 6);
  const Tensor read = ParseNpy(File(Header("'|u1'", "(2, 3)", "True"), data), "x");
  EXPECT_EQ(read.Values(), (std::vector<double>{1, 3, 5, 2, 4, 6}));
  const Tensor deep = ParseNpy(File(Header("'|u1'", "(1, 3, 2)", "True"), data), "x");
  EXPECT_EQ(deep.Values(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(npy, EveryMalformationHasItsOwnMessage) {
  const std::string eight(8, '\0');
  const std::string good = Header("'<f4'", "(2,)");
  ASSERT_EQ(Refusal(File(good, eight)), "accepted");
  ASSERT_EQ(Refusal(File("{\"shape\":(2 ,),'fortran_order':False,'descr':'<f4'}\n", eight)),
            "accepted");

  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "must begin with the byte 0x93 and NUMPY"},
      {"\x93NUMPZ", "must begin with the byte 0x93 and NUMPY"},
      {"\x93NUMPY\1", "truncated: ends before its version"},
      {std::string("\x93NUMPY\1\0\1", 9), "truncated: ends before the length of its header"},
      {File(good, eight, 4), "version must be 1.0, 2.0 or 3.0, got 4.0"},
      {File(good, eight, 0), "version must be 1.0, 2.0 or 3.0, got 0.0"},
      {File(good, eight, 2, 10'001), "the header must be at most 10000 bytes"},
      {File(good, "", 1, 1000), "truncated: the header should have 1000 bytes"},
      {File("", ""), "header: must end with a line feed"},
      {File("{}  ", ""), "header: must end with a line feed"},
      {File("\n", ""), "header: expected '{', got its end"},
      {File("{}\n", ""), "header: descr is missing"},
      {File("{'descr': '<f4'}\n", ""), "header: fortran_order is missing"},
      {File("{'descr': '<f4', 'fortran_order': False}\n", ""), "header: shape is missing"},
      {File("{'descr': '<f4', 'descr': '<f4'}\n", ""), "the key descr appears twice"},
      {File("{'desc': '<f4'}\n", ""), "unknown key \"desc\"; the keys are descr, fortran_order"},
      {File("{'descr' '<f4'}\n", ""), "expected ':', got \" '<f4'}\""},
      {File("{'descr': <f4}\n", ""), "expected a string in quotes"},
      {File("{'descr': '<f4}\n", ""), "expected a string in quotes"},
      {File("{'descr': '\\x3cf4'}\n", ""), "must have no escapes"},
      {File(good.substr(0, good.size() - 1) + "x\n", eight), "must end with blanks"},
      {File(Header("'<f4'", "(2,)") + "\n", eight), "must end with blanks"},
      {File(Header("'>f4'", "(2,)"), eight), "\">f4\" is big-endian: save it as \"<f4\""},
      {File(Header("'=f4'", "(2,)"), eight), "descr must be one of <f8, <f4"},
      {File(Header("'<f3'", "(2,)"), eight), "descr must be one of <f8, <f4"},
      {File(Header("'|O'", "(2,)"), eight), "got \"|O\""},
      {File(Header("'|b1'", "(2,)"), eight), "got \"|b1\""},
      {File(Header("'<c8'", "(2,)"), eight), "got \"<c8\""},
      {File(Header("[('a', '<f4')]", "(2,)"), eight), "descr is of a structure"},
      {File(Header("'<f4'", "(2,)", "false"), eight), "fortran_order must be True or False"},
      {File(Header("'<f4'", "(2,)", "0"), eight), "fortran_order must be True or False"},
      {File(Header("'<f4'", "[2]"), eight), "shape must be a tuple"},
      {File(Header("'<f4'", "2"), eight), "shape must be a tuple"},
      {File(Header("'<f4'", "(2)"), eight), "shape must be a tuple, such as (2,)"},
      {File(Header("'<f4'", "(2, 1 1)"), eight), "expected ',' or ')' in shape"},
      {File(Header("'<f4'", "(, )"), eight), "shape must hold integers in 0..2^63-1"},
      {File(Header("'<f4'", "(-2,)"), eight), "shape must hold integers in 0..2^63-1"},
      {File(Header("'<f4'", "(02,)"), eight), "shape must hold integers in 0..2^63-1"},
      {File(Header("'<f4'", "(2L,)"), eight), "expected ',' or ')' in shape"},
      {File(Header("'<f4'", "(9223372036854775808,)"), eight), "shape must hold integers"},
      {File(Header("'<f4'", "(4294967296, 4294967296)"), eight), "overflows 64 bits"},
      {File(Header("'<f4'", "(4611686018427387903,)"), eight), "takes 18446744073709551612 bytes"},
      {File(Header("'<f4'", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)"), eight),
       "shape must have at most 16 extents, got 17"},
      {File(good, eight + "x"), "takes 8 bytes, but 9 follow the header"},
  };
  for (const auto& [bytes, says] : cases) {
    EXPECT_NE(Refusal(bytes).find(says), std::string::npos) << says << "\n" << Refusal(bytes);
  }
}

TEST(npy, EveryTruncationIsRefused) {
  for (const Tensor& tensor : Samples()) {
    const std::string bytes = SerializeNpy(tensor);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_NE(Refusal(bytes.substr(0, size)), "accepted") << size;
    }
  }
}

// A flip in the data changes a value; one in the header changes the dtype or the shape to another
// of as many bytes, or is refused. Of bf16 and fp8 the two spellings '<V2' and '|V2', which
// versions of ml_dtypes write, are one bit apart: that flip alone does nothing.
TEST(npy, EveryBitFlipIsSeenOrRefused) {
  for (const Tensor& tensor : Samples()) {
    const std::string bytes = SerializeNpy(tensor);
    const size_t order = bytes.find("'<V") + 1;
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        if (order != 0 && i == order && ('<' ^ (1 << bit)) == '|') continue;
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        try {
          EXPECT_FALSE(ParseNpy(flipped, "x") == tensor) << "byte " << i << ", bit " << bit;
        } catch (const FormatError&) {
        }
      }
    }
  }
}

TEST(npy, TheEndingOfAFileSaysWhatItIs) {
  TemporaryFolder folder;
  const Tensor tensor = Tensor::FromValues(Dtype::f32, {2}, std::array{1.0, 2.0});
  WriteNpy(folder / "a.npy", tensor);
  EXPECT_EQ(ReadTensorFile(folder / "a.npy").tensors.at(""), tensor);
  const Safetensors content{{{"x", tensor}}, {{"key", "value"}}};
  WriteTensorFile(folder / "a.safetensors", content);
  EXPECT_EQ(ReadTensorFile(folder / "a.safetensors"), content);
  WriteTensorFile(folder / "a.npz", content);
  const Safetensors read = ReadTensorFile(folder / "a.npz");
  EXPECT_EQ(read.tensors.at("x"), tensor);
  EXPECT_EQ(read.tensors.at("key").Values(), (std::vector<double>{'v', 'a', 'l', 'u', 'e'}));
  EXPECT_THROW(ReadTensorFile(folder / "none.npy"), FileError);
}

}  // namespace
}  // namespace posgauge
