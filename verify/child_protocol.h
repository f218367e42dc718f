#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// What posgauge and the process in which a kernel library runs say to each other. Nothing else of
/// posgauge is in that process: a library's own dependencies meet no others there.
///
/// posgauge sends calls, the process first a Loaded with its descriptors and then an Answer to each
/// call, all as packets of one socket. Tensors lie in shared memory, of which a call names slots.
namespace posgauge::child {

// Descriptors that the process inherits, beside the three standard ones.
inline constexpr int kSocket = 3, kMemory = 4;

inline constexpr size_t kLargestMessage = 1 << 17;  // bytes, of a packet
inline constexpr size_t kMostSlots = 256;

// Bytes of address space on either side of a slot that nobody may touch. A page would do for the
// next element; the next row or token is farther.
inline constexpr size_t kGuard = 1 << 20;

/// A message that is shorter than what it should hold.
class MalformedMessage : public std::runtime_error {
 public:
  MalformedMessage() : std::runtime_error("malformed message") {}
};

/// Fields of a message, one after the other.
class Writer {
 public:
  template <class Number>
  void Put(Number number) {
    static_assert(std::is_arithmetic_v<Number> || std::is_enum_v<Number>);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void PutText(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads them back. Throws MalformedMessage at the end of the bytes, whatever they hold.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  Number Take() {
    Number number;
    std::memcpy(&number, TakeBytes(sizeof number).data(), sizeof number);
    return number;
  }
  std::string TakeText() { return std::string(TakeBytes(Take<uint32_t>())); }

 private:
  std::string_view TakeBytes(size_t count) {
    if (count > bytes_.size()) throw MalformedMessage();
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  std::string_view bytes_;
};

/// What came of loading the library; of `kernels`, count descriptors follow, a packet each.
enum class LoadResult : uint32_t { kernels, no_library, no_symbol, no_kernel, threw };
struct Loaded {
  LoadResult result = LoadResult::kernels;
  uint32_t count = 0;
  std::string text;  // of the loader or the exception

  std::string Bytes() const {
    Writer writer;
    writer.Put(result);
    writer.Put(count);
    writer.PutText(text);
    return writer.bytes();
  }
  static Loaded From(std::string_view bytes) {
    Reader reader(bytes);
    const auto result = reader.Take<LoadResult>();
    const auto count = reader.Take<uint32_t>();
    return {result, count, reader.TakeText()};
  }
};

/// A part of the shared memory, whole pages; the process sees it between two guards.
struct Slot {
  uint32_t index = 0;     // below kMostSlots; takes the place of what had it before
  bool writable = false;  // to the process; posgauge always writes
  uint64_t offset = 0;    // bytes, in the memory's file
  uint64_t bytes = 0;

  bool operator==(const Slot&) const = default;
};

struct Tensor {
  std::string name;
  int32_t dtype = 0;           // POSGAUGE_F32, ...
  uint8_t code = 0, bits = 0;  // DLPack's
  Slot slot;
  uint64_t data = 0, byte_offset = 0;  // data in bytes from the slot's beginning
  std::vector<int64_t> shape, strides;
};

/// What lies in memory that was not yet written: another byte for each of two runs.
enum class Poison : uint32_t { first, second };

struct Call {
  uint64_t number = 0;  // of this process; its Answer has the same
  uint32_t kernel = 0;  // in the order of descriptors
  Poison poison = Poison::first;
  std::string scheme;
  std::vector<std::pair<std::string, double>> scalars;
  std::vector<Tensor> inputs, outputs;

  std::string Bytes() const {
    Writer writer;
    writer.Put(number);
    writer.Put(kernel);
    writer.Put(poison);
    writer.PutText(scheme);
    writer.Put(static_cast<uint32_t>(scalars.size()));
    for (const auto& [name, value] : scalars) {
      writer.PutText(name);
      writer.Put(value);
    }
    Put(writer, inputs);
    Put(writer, outputs);
    return writer.bytes();
  }
  static Call From(std::string_view bytes) {
    Reader reader(bytes);
    Call call;
    call.number = reader.Take<uint64_t>();
    call.kernel = reader.Take<uint32_t>();
    call.poison = reader.Take<Poison>();
    call.scheme = reader.TakeText();
    const auto count = reader.Take<uint32_t>();
    for (uint32_t i = 0; i < count; ++i) {
      std::string name = reader.TakeText();
      call.scalars.emplace_back(std::move(name), reader.Take<double>());
    }
    call.inputs = TakeTensors(reader);
    call.outputs = TakeTensors(reader);
    return call;
  }

 private:
  static void Put(Writer& writer, const std::vector<Tensor>& tensors) {
    writer.Put(static_cast<uint32_t>(tensors.size()));
    for (const Tensor& tensor : tensors) {
      writer.PutText(tensor.name);
      writer.Put(tensor.dtype);
      writer.Put(tensor.code);
      writer.Put(tensor.bits);
      writer.Put(tensor.slot.index);
      writer.Put(tensor.slot.writable);
      writer.Put(tensor.slot.offset);
      writer.Put(tensor.slot.bytes);
      writer.Put(tensor.data);
      writer.Put(tensor.byte_offset);
      writer.Put(static_cast<uint32_t>(tensor.shape.size()));
      for (const int64_t extent : tensor.shape) writer.Put(extent);
      for (const int64_t stride : tensor.strides) writer.Put(stride);
    }
  }
  static std::vector<Tensor> TakeTensors(Reader& reader) {
    std::vector<Tensor> tensors;
    const auto count = reader.Take<uint32_t>();
    for (uint32_t i = 0; i < count; ++i) {
      Tensor& tensor = tensors.emplace_back();
      tensor.name = reader.TakeText();
      tensor.dtype = reader.Take<int32_t>();
      tensor.code = reader.Take<uint8_t>();
      tensor.bits = reader.Take<uint8_t>();
      tensor.slot.index = reader.Take<uint32_t>();
      tensor.slot.writable = reader.Take<bool>();
      tensor.slot.offset = reader.Take<uint64_t>();
      tensor.slot.bytes = reader.Take<uint64_t>();
      tensor.data = reader.Take<uint64_t>();
      tensor.byte_offset = reader.Take<uint64_t>();
      const auto axes = reader.Take<uint32_t>();
      for (uint32_t axis = 0; axis < axes; ++axis) tensor.shape.push_back(reader.Take<int64_t>());
      for (uint32_t axis = 0; axis < axes; ++axis) tensor.strides.push_back(reader.Take<int64_t>());
    }
    return tensors;
  }
};

/// How a call ended, as far as the process itself can tell.
enum class Ending : uint32_t {
  none,
  returned,
  threw,             // a C++ exception, through the C interface
  lost_descriptors,  // kSocket or kMemory is not what it was
  faulted            // a signal that an instruction raised
};

struct Answer {
  uint64_t number = 0;
  Ending ending = Ending::returned;
  int32_t status = 0;  // POSGAUGE_OK, ...
  std::string why;     // the kernel's, or the exception's

  std::string Bytes() const {
    Writer writer;
    writer.Put(number);
    writer.Put(ending);
    writer.Put(status);
    writer.PutText(why);
    return writer.bytes();
  }
  static Answer From(std::string_view bytes) {
    Reader reader(bytes);
    const auto number = reader.Take<uint64_t>();
    const auto ending = reader.Take<Ending>();
    const auto status = reader.Take<int32_t>();
    return {number, ending, status, reader.TakeText()};
  }
};

/// The first page of the shared memory: what a process says that can send no more.
struct LastWords {
  static constexpr uint32_t kNowhere = ~0u;
  enum class Access : uint32_t { unknown, read, write };

  Ending ending = Ending::none;
  // Of a fault:
  uint32_t slot = kNowhere;  // in or beside which the address lies
  int64_t offset = 0;        // bytes from the slot's beginning
  uint64_t address = 0;
  Access access = Access::unknown;
  uint32_t address_is_known = 0;
};

}  // namespace posgauge::child
