#include "posgauge/verify/npz.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "parse_refusal.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge {
namespace {

using Tensors = std::map<std::string, Tensor>;

std::string Refusal(const std::string& bytes) { return ParseRefusal(ParseNpz, bytes); }

Tensors Sample() {
  return {{"cos", Tensor::FromValues(Dtype::f32, {2}, std::array{1.0, 0.5})},
          {"sin", Tensor::FromValues(Dtype::bf16, {1, 2}, std::array{0.0, -0.0})}};
}

// What numpy.savez_compressed (1.24.2, with Python 3.11.2) writes of x = zeros of float32, 64
// times: a deflated member, its sizes again in a ZIP64 extra field.
std::string Deflated() {
  constexpr std::array<unsigned char, 200> kBytes = {
      0x50, 0x4b, 0x3,  0x4,  0x14, 0x0,  0x0,  0x0,  0x8,  0x0,  0x0,  0x0,  0x21, 0x0,  0x45,
      0x23, 0x6d, 0xbf, 0x48, 0x0,  0x0,  0x0,  0x80, 0x1,  0x0,  0x0,  0x5,  0x0,  0x14, 0x0,
      0x78, 0x2e, 0x6e, 0x70, 0x79, 0x1,  0x0,  0x10, 0x0,  0x80, 0x1,  0x0,  0x0,  0x0,  0x0,
      0x0,  0x0,  0x48, 0x0,  0x0,  0x0,  0x0,  0x0,  0x0,  0x0,  0x9b, 0xec, 0x17, 0xea, 0x1b,
      0x10, 0xc9, 0xc8, 0x50, 0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5,
      0xa0, 0x6e, 0x93, 0x66, 0xa2, 0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98,
      0x17, 0x9f, 0x5f, 0x94, 0x92, 0xa,  0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x5,  0x8a, 0x17,
      0x67, 0x24, 0x16, 0xa4, 0x2,  0xf9, 0x1a, 0x66, 0x26, 0x3a, 0x9a, 0x3a, 0xa,  0xb5, 0xa,
      0xe4, 0x3,  0x2e, 0x86, 0x11, 0xe,  0x0,  0x50, 0x4b, 0x1,  0x2,  0x14, 0x3,  0x14, 0x0,
      0x0,  0x0,  0x8,  0x0,  0x0,  0x0,  0x21, 0x0,  0x45, 0x23, 0x6d, 0xbf, 0x48, 0x0,  0x0,
      0x0,  0x80, 0x1,  0x0,  0x0,  0x5,  0x0,  0x0,  0x0,  0x0,  0x0,  0x0,  0x0,  0x0,  0x0,
      0x0,  0x0,  0x80, 0x1,  0x0,  0x0,  0x0,  0x0,  0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b,
      0x5,  0x6,  0x0,  0x0,  0x0,  0x0,  0x1,  0x0,  0x1,  0x0,  0x33, 0x0,  0x0,  0x0,  0x7f,
      0x0,  0x0,  0x0,  0x0,  0x0};
  return {reinterpret_cast<const char*>(kBytes.data()), kBytes.size()};
}

TEST(npz, RoundTripKeepsEveryBit) {
  const std::string bytes = SerializeNpz(Sample());
  EXPECT_EQ(ParseNpz(bytes, "x"), Sample());
  EXPECT_EQ(SerializeNpz(ParseNpz(bytes, "x")), bytes);
  EXPECT_EQ(ParseNpz(SerializeNpz({}), "x"), Tensors{});
}

TEST(npz, ReadsWhatNumpyDeflates) {
  EXPECT_EQ(ParseNpz(Deflated(), "x"), (Tensors{{"x", Tensor(Dtype::f32, {64})}}));
}

TEST(npz, EveryTruncationIsRefused) {
  for (const std::string& bytes : {SerializeNpz(Sample()), Deflated()}) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_NE(Refusal(bytes.substr(0, size)), "accepted") << size;
    }
  }
}

// Bytes of a directory entry that say nothing of the tensor: who made it, and its attributes.
bool SaysNothing(const std::string& bytes, size_t at) {
  for (size_t entry = bytes.find("PK\1\2"); entry != std::string::npos;
       entry = bytes.find("PK\1\2", entry + 1)) {
    const size_t field = at - entry;
    if (at >= entry && ((field >= 4 && field < 6) || (field >= 36 && field < 42))) return true;
  }
  return false;
}

// The checksum sees what the structure does not.
TEST(npz, EveryBitFlipIsSeenOrRefused) {
  for (const std::string& bytes : {SerializeNpz(Sample()), Deflated()}) {
    const Tensors content = ParseNpz(bytes, "x");
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (SaysNothing(bytes, i)) continue;
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        try {
          EXPECT_FALSE(ParseNpz(flipped, "x") == content) << "byte " << i << ", bit " << bit;
        } catch (const FormatError&) {
        }
      }
    }
  }
}

TEST(npz, EveryMalformationHasItsOwnMessage) {
  const std::string good = SerializeNpz(Sample());
  const size_t entry = good.find("PK\1\2"), end = good.find("PK\5\6");
  const size_t second = good.find("PK\3\4", 4), local = 0;
  const auto with = [&](size_t at, const std::string& bytes, size_t again = std::string::npos) {
    std::string changed = good;
    changed.replace(at, bytes.size(), bytes);
    if (again != std::string::npos) changed.replace(again, bytes.size(), bytes);
    return changed;
  };
  const std::string one("\1\0", 2);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not npz: a ZIP archive must begin with PK"},
      {"PK", "truncated: a ZIP archive has at least 22 bytes, got 2"},
      {good + "x", "truncated, or followed by other bytes"},
      {with(end + 20, one), "one archive on one disk without a comment"},
      {with(end + 4, one), "one archive on one disk without a comment"},
      {with(end + 8, "\xff\xff\xff\xff"), "is of ZIP64"},
      {with(end + 8, std::string("\1\0\1\0", 4)), "its directory has 2 entries, its end says 1"},
      {with(end + 16, "\xff"), "its directory must lie in bytes"},
      {with(entry, "PK\3\3"), "entries that begin with PK\\1\\2"},
      {with(entry + 8, one), "is encrypted"},
      {with(entry + 8, std::string("\10\0", 2)), "was written to a pipe"},
      {with(entry + 8, std::string("\0\10", 2)), "has flags 0x800"},
      {with(entry + 10, std::string("\16\0", 2)),
       "must be stored (0) or deflated (8), got method 14"},
      {with(entry + 32, one), "no extra field, comment or disk number"},
      {with(entry + 24, one), "is stored in"},
      {with(entry + 10, std::string("\10\0", 2), local + 8), "must be one whole stream"},
      {with(entry + 46, "../.."), "must be named NAME.npy"},
      {with(entry + 46, "d"), "its header must say what the directory says"},
      {with(entry + 46, "\n"), "must be named NAME.npy, in printable ASCII"},
      {with(local + 14, "abc"), "its header must say what the directory says"},
      {with(entry + 16, "abcd", local + 14), "is written"},
      {with(second, "PK\4\4"), "its header must begin with PK\\3\\4"},
      {with(good.find("NUMPY"), "numpy"), "its bytes have the CRC-32"},
  };
  for (const auto& [bytes, says] : cases) {
    EXPECT_NE(Refusal(bytes).find(says), std::string::npos) << says << "\n" << Refusal(bytes);
  }
}

// Whatever a member claims, no memory is taken for more than its deflated bytes can hold.
TEST(npz, SizesThatDeflationCannotReachAreRefused) {
  std::string bytes = Deflated();
  const size_t entry = bytes.find("PK\1\2");
  bytes.replace(entry + 24, 4, "\xf0\xff\xff\xff");
  EXPECT_NE(Refusal(bytes).find("cannot be deflated to"), std::string::npos) << Refusal(bytes);
}

// Names are never paths: nothing is written, and any printable name is a name.
TEST(npz, NamesAreNames) {
  const Tensors odd = {{"../a b", Tensor(Dtype::f32, {1})}};
  EXPECT_EQ(ParseNpz(SerializeNpz(odd), "x"), odd);
  EXPECT_THROW(SerializeNpz({{"", Tensor(Dtype::f32, {1})}}), ParameterError);
  EXPECT_THROW(SerializeNpz({{"a\n", Tensor(Dtype::f32, {1})}}), ParameterError);
}

TEST(npz, AMemberThatAppearsTwiceIsRefused) {
  std::string bytes =
      SerializeNpz({{"a", Tensor(Dtype::f32, {1})}, {"b", Tensor(Dtype::f32, {1})}});
  for (size_t at = bytes.find("b.npy"); at != std::string::npos; at = bytes.find("b.npy")) {
    bytes[at] = 'a';
  }
  EXPECT_NE(Refusal(bytes).find("appears twice"), std::string::npos) << Refusal(bytes);
}

}  // namespace
}  // namespace posgauge
