#include "posgauge/verify/safetensors.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "parse_refusal.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/atomic_file.h"
#include "temporary_folder.h"

namespace posgauge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string File(const std::string& header, const std::string& data, int64_t length = -1) {
  auto size = static_cast<uint64_t>(length < 0 ? static_cast<int64_t>(header.size()) : length);
  std::string bytes;
  for (int i = 0; i < 8; ++i, size >>= 8) bytes += static_cast<char>(size & 0xff);
  return bytes + header + data;
}

std::string Entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", "x", dtype, shape,
                     offsets);
}

std::string Refusal(const std::string& bytes) { return ParseRefusal(ParseSafetensors, bytes); }

Safetensors Sample() {
  Safetensors content;
  content.tensors["a.f64"] = Tensor::FromValues(Dtype::f64, {2}, std::array{-0.0, 0x1p-1074});
  content.tensors["b.f32"] = Tensor::FromValues(Dtype::f32, {1, 2}, std::array{1.5, -kInfinity});
  content.tensors["c.bf16"] = Tensor::FromValues(Dtype::bf16, {3}, std::array{1.0, 2.0, 0x1p-133});
  content.tensors["d.f16"] = Tensor::FromValues(Dtype::f16, {}, std::array{65504.0});
  content.tensors["e.i64"] = Tensor::FromValues(Dtype::i64, {1}, std::array{-0x1p53});
  content.tensors["f.i32"] = Tensor::FromValues(Dtype::i32, {2}, std::array{-0x1p31, 5.0});
  content.tensors["g.u8"] = Tensor::FromValues(Dtype::u8, {3}, std::array{0.0, 7.0, 255.0});
  content.tensors["h.f8e4m3"] =
      Tensor::FromValues(Dtype::f8e4m3, {3}, std::array{448.0, -0.0, 0x1p-9});
  content.tensors["i.f8e5m2"] =
      Tensor::FromValues(Dtype::f8e5m2, {2}, std::array{-kInfinity, 0x1p-16});
  content.tensors["j.empty"] = Tensor(Dtype::f32, {0, 4});
  content.metadata["made by"] = "a test";
  return content;
}

TEST(tensor, ValuesRoundOnceToTheDtype) {
  const std::array values = {1 + 0x1p-8, 1 + 0x1.8p-7, 0x1.ffp127};
  const Tensor tensor = Tensor::FromValues(Dtype::bf16, {3}, values);
  EXPECT_EQ(tensor.Values(), (std::vector<double>{1, 1 + 0x1p-6, kInfinity}));
  EXPECT_EQ(tensor.Bits(2), 0x7f80u);
}

TEST(tensor, IntegersAreExactOrRefused) {
  const Tensor tensor = Tensor::FromValues(Dtype::i64, {2}, std::array{-0x1p53, 3.0});
  EXPECT_EQ(tensor.Value(0), -0x1p53);
  EXPECT_EQ(tensor.Bits(0), static_cast<uint64_t>(-(int64_t{1} << 53)));
  for (double value : {0.5, 0x1p53 + 2, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(Tensor::FromValues(Dtype::i64, {1}, std::array{value}), Error) << value;
  }
  EXPECT_THROW(Tensor::FromValues(Dtype::i32, {1}, std::array{0x1p31}), Error);
  EXPECT_THROW(Tensor::FromValues(Dtype::u8, {1}, std::array{-1.0}), Error);
}

TEST(tensor, ImpossibleShapesAreRefused) {
  EXPECT_THROW(Tensor(Dtype::f32, {-1}), Error);
  EXPECT_THROW(Tensor(Dtype::f64, {int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_THROW(Tensor::FromValues(Dtype::f32, {2, 2}, std::array{1.0}), Error);
}

TEST(safetensors, RoundTripKeepsEveryBit) {
  const Safetensors content = Sample();
  const std::string bytes = SerializeSafetensors(content);
  const Safetensors read = ParseSafetensors(bytes, "x");
  EXPECT_EQ(read, content);
  EXPECT_EQ(SerializeSafetensors(read), bytes);
}

// Whatever a reader casts the bytes to, the addresses suit it.
TEST(safetensors, EveryTensorIsAligned) {
  const std::string bytes = SerializeSafetensors(Sample());
  const size_t header =
      static_cast<unsigned char>(bytes[0]) + 256u * static_cast<unsigned char>(bytes[1]);
  EXPECT_EQ(header % 8, 0u);
  const std::string text = bytes.substr(8, header);
  size_t last = std::string::npos;
  for (const char* name : {"a.f64", "e.i64", "b.f32", "f.i32", "j.empty", "c.bf16", "d.f16", "g.u8",
                           "h.f8e4m3", "i.f8e5m2"}) {  // wider first, then by name
    const size_t at = text.find(fmt::format("\"{}\"", name));
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_TRUE(last == std::string::npos || at > last) << name;
    last = at;
  }
}

TEST(safetensors, ReadsWhatTheFormatsOwnLibraryWrites) {
  // Bytes of safetensors.numpy.save({"x": np.array([1, 2], np.float32)}, {"format": "pt"}).
  const std::string bytes = File(
      R"({"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )",
      std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  const Safetensors read = ParseSafetensors(bytes, "x");
  EXPECT_EQ(read.tensors.at("x").Values(), (std::vector<double>{1, 2}));
  EXPECT_EQ(read.metadata.at("format"), "pt");
}

TEST(safetensors, EveryMalformationHasItsOwnMessage) {
  const std::string eight(8, '\0'), sixteen(16, '\0');
  const std::string good = "{" + Entry("F32", "[2]", "[0,8]") + "}";
  ASSERT_EQ(Refusal(File(good, eight)), "accepted");

  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "must begin with 8 bytes of header length, got 0 in all"},
      {"1234567", "must begin with 8 bytes of header length, got 7 in all"},
      {File(good, eight, 100'000'001), "the header must be at most 100000000 bytes"},
      {std::string(8, '\xff'), "the header must be at most 100000000 bytes"},
      {File(good, "", 1000), "truncated: the header should have 1000 bytes"},
      {File("", ""), "the header must begin with '{'"},
      {File(" " + good, eight), "the header must begin with '{'"},
      {File("[]", ""), "the header must begin with '{'"},
      {File("{", ""), "header:1:2: the JSON ends too early"},
      {File(good + "x", eight), "not JSON"},
      {File("{\"\xff\":1}", ""), "not JSON"},
      {File("{\"x\":1e999}", ""), "a number must fit in binary64"},
      {File(good + std::string(1, '\0'), eight), "a zero byte is not JSON"},
      {File("{" + Entry("F32", "[1]", "[0,4]") + "," + Entry("F32", "[1]", "[4,8]") + "}", eight),
       "header: the key \"x\" appears twice in one object"},
      {File(R"({"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", eight),
       "header: the key \"dtype\" appears twice in one object"},
      {File("{\"x\":" + std::string(70, '[') + std::string(70, ']') + "}", ""),
       "header: nested deeper than 64 levels"},
      {File(R"({"x":3})", eight), "tensor \"x\": must be an object, got 3"},
      {File(R"({"x":{"dtype":"F32","shape":[2]}})", eight), "data_offsets is missing"},
      {File(R"({"x":{"dtype":"F32","data_offsets":[0,8]}})", eight), "shape is missing"},
      {File(R"({"x":{"shape":[2],"data_offsets":[0,8]}})", eight), "dtype is missing"},
      {File(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"order":"C"}})", eight),
       "unknown key \"order\"; the keys are dtype, shape, data_offsets"},
      {File("{" + Entry("F33", "[2]", "[0,8]") + "}", eight),
       "dtype must be one of F64, F32, BF16, F16, I64, I32, U8, F8_E4M3, F8_E5M2, "
       "got \"F33\""},
      {File(R"({"x":{"dtype":4,"shape":[2],"data_offsets":[0,8]}})", eight),
       "dtype must be one of"},
      {File("{" + Entry("F32", "2", "[0,8]") + "}", eight),
       "shape must be a list of integers, got 2"},
      {File("{" + Entry("F32", "[-2]", "[0,8]") + "}", eight),
       "shape must hold integers in 0..2^63-1, got -2"},
      {File("{" + Entry("F32", "[2.0]", "[0,8]") + "}", eight),
       "shape must hold integers in 0..2^63-1, got 2.0"},
      {File("{" + Entry("F32", "[9223372036854775808]", "[0,8]") + "}", eight),
       "shape must hold integers in 0..2^63-1, got 9223372036854775808"},
      {File("{" + Entry("F32", "[99999999999999999999]", "[0,8]") + "}", eight),
       "shape must hold integers in 0..2^63-1, got 1e+20"},
      {File("{" + Entry("F32", "[4294967296,4294967296]", "[0,8]") + "}", eight),
       "shape [4294967296, 4294967296] overflows 64 bits"},
      {File("{" + Entry("F32", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]") + "}", eight),
       "shape must have at most 16 extents, got 17"},
      {File("{" + Entry("F32", "[2]", "8") + "}", eight),
       "data_offsets must be a list of integers, got 8"},
      {File("{" + Entry("F32", "[2]", "[0,8,8]") + "}", eight),
       "data_offsets must be two integers, got 3"},
      {File("{" + Entry("F32", "[2]", "[-8,0]") + "}", eight),
       "data_offsets must hold integers in 0..2^63-1, got -8"},
      {File("{" + Entry("F32", "[2]", "[8,0]") + "}", eight),
       "data_offsets must ascend, got [8, 0]"},
      {File("{" + Entry("F32", "[4]", "[0,16]") + "}", eight), "reach beyond the 8 bytes of data"},
      {File("{" + Entry("F32", "[4]", "[0,8]") + "}", eight),
       "F32 of shape [4] takes 16 bytes, but data_offsets [0, 8] hold 8"},
      {File(good, sixteen), "8 bytes after the last tensor belong to none"},
      {File("{" + Entry("F32", "[2]", "[8,16]") + "}", sixteen),
       "begins at byte 8 after a hole of 8 bytes"},
      {File(
           R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
           std::string(12, '\0')),
       "tensor \"y\": begins at byte 4 and overlaps the tensor before it, which ends at byte 8"},
      {File(R"({"__metadata__":[],)" + good.substr(1), eight),
       "__metadata__ must be an object, got a list"},
      {File(R"({"__metadata__":{"a":1},)" + good.substr(1), eight),
       "__metadata__: \"a\" must be a string, got 1"},
  };
  for (const auto& [bytes, expected] : cases) {
    const std::string refusal = Refusal(bytes);
    EXPECT_NE(refusal.find(expected), std::string::npos)
        << "got:    " << refusal << "\nwanted: " << expected;
  }
}

TEST(safetensors, EveryTruncationIsRefused) {
  const std::string bytes = SerializeSafetensors(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(Refusal(bytes.substr(0, size)), "accepted") << size;
  }
}

// A flip in the data changes a value; one in the header either changes a name, a text or a dtype of
// the same width, or is refused. Nothing else may happen.
TEST(safetensors, EveryBitFlipIsSeenOrRefused) {
  const Safetensors content = Sample();
  const std::string bytes = SerializeSafetensors(content);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      try {
        EXPECT_FALSE(ParseSafetensors(flipped, "x") == content) << "byte " << i << ", bit " << bit;
      } catch (const FormatError&) {
      }
    }
  }
}

TEST(safetensors, WriterRefusesWhatTheReaderWould) {
  Safetensors content;
  content.tensors["__metadata__"] = Tensor(Dtype::f32, {1});
  EXPECT_THROW(SerializeSafetensors(content), ParameterError);
  content.tensors.clear();
  content.tensors["\xff"] = Tensor(Dtype::f32, {1});
  EXPECT_THROW(SerializeSafetensors(content), ParameterError);
  content.tensors.clear();
  content.tensors["deep"] = Tensor(Dtype::f32, std::vector<int64_t>(17, 1));
  EXPECT_THROW(SerializeSafetensors(content), ParameterError);
}

TEST(atomic_file, WritesWholeAndReplaces) {
  TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "first");
  WriteFileAtomically(folder / "a", std::string("se\0cond", 7));
  EXPECT_EQ(ReadFile(folder / "a", 7), std::string("se\0cond", 7));
  EXPECT_EQ(folder.Entries(), 1u);
}

TEST(atomic_file, ReadingIsLimitedAndNamesTheReason) {
  TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "12345678");
  const auto reason = [](const std::filesystem::path& path, uint64_t limit) -> std::string {
    try {
      ReadFile(path, limit);
    } catch (const FileError& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_EQ(reason(folder / "a", 8), "read");
  EXPECT_NE(reason(folder / "a", 7).find("longer than 7 bytes"), std::string::npos);
  EXPECT_NE(reason("/dev/zero", 1 << 20).find("neither a regular file nor a pipe"),
            std::string::npos);
  EXPECT_NE(reason(folder / "b", 7).find("No such file"), std::string::npos);
  EXPECT_NE(reason(folder / "", 7).find("Is a directory"), std::string::npos);
}

TEST(atomic_file, DevicesAndFoldersAreNotReplaced) {
  TemporaryFolder folder;
  EXPECT_THROW(WriteFileAtomically("/dev/full", "x"), FileError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_THROW(WriteFileAtomically(folder / "", "x"), FileError);
  EXPECT_THROW(WriteFileAtomically(folder / "missing/a", "x"), FileError);
  EXPECT_EQ(folder.Entries(), 0u);
}

// A child with a file-size limit stands for a disk that is full half-way through the write.
TEST(atomic_file, AFullDiskLeavesTheOldFileAndNothingElse) {
  TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      WriteFileAtomically(folder / "a", std::string(1 << 16, 'x'));
    } catch (const FileError& error) {
      const std::string message = error.what();
      _exit(message.find((folder / "a").string() + ": cannot write: ") == 0 ? 0 : 2);
    } catch (...) {
      _exit(3);
    }
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(ReadFile(folder / "a", 100), "old");
  EXPECT_EQ(folder.Entries(), 1u);
}

}  // namespace
}  // namespace posgauge
