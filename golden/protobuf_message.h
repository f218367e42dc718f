#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace posgauge::golden {

/// A message of Protocol Buffers, written field by field; its encoding is that of
/// https://protobuf.dev/programming-guides/encoding. The same fields give the same bytes.
class ProtobufMessage {
 public:
  /// An integer of two's complement (int32, int64, an enumeration): wire type 0.
  ProtobufMessage& Integer(uint32_t field, int64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(static_cast<uint64_t>(value));
    return *this;
  }

  /// Text, bytes, or a message within this one: wire type 2.
  ProtobufMessage& Bytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtobufMessage& Message(uint32_t field, const ProtobufMessage& message) {
    return Bytes(field, message.bytes_);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace posgauge::golden
