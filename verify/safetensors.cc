#include "posgauge/verify/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

// In the order of Dtype.
constexpr std::array<std::string_view, 9> kDtypeNames = {"F64", "F32", "BF16",    "F16",    "I64",
                                                         "I32", "U8",  "F8_E4M3", "F8_E5M2"};

std::string_view DtypeName(Dtype dtype) { return kDtypeNames[static_cast<size_t>(dtype)]; }

template <class... Args>
void Demand(bool holds, const std::string& where, fmt::format_string<Args...> message,
            Args&&... args) {
  if (holds) return;
  throw FormatError(
      fmt::format("{}: {}", where, fmt::format(message, std::forward<Args>(args)...)));
}

// A tensor's place as the header gives it.
struct Entry {
  std::string name;
  std::string where;  // the beginning of a message about it
  Dtype dtype = Dtype::f64;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes from the start of the data
};

uint64_t LoadLength(std::string_view bytes) {
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return length;
}

std::string StoreLength(uint64_t length) {
  std::string bytes(kLengthBytes, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(length & 0xff);
    length >>= 8;
  }
  return bytes;
}

// Numbers beyond 64 bits parse as floating-point ones, so that they are refused here.
std::vector<int64_t> Integers(const json& list, std::string_view key, const std::string& where) {
  Demand(list.is_array(), where, "{} must be a list of integers, got {}", key, Shown(list));
  std::vector<int64_t> integers;
  for (const json& element : list) {
    Demand(element.is_number_unsigned() &&
               element.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
           where, "{} must hold integers in 0..2^63-1, got {}", key, Shown(element));
    integers.push_back(element.get<int64_t>());
  }
  return integers;
}

// Bytes that a tensor of the entry's dtype and shape takes.
uint64_t ByteCount(const Entry& entry) {
  uint64_t bytes = SizeOf(entry.dtype);
  for (int64_t extent : entry.shape) {
    const auto count = static_cast<uint64_t>(extent);
    Demand(count == 0 || bytes <= std::numeric_limits<uint64_t>::max() / count, entry.where,
           "shape [{}] overflows 64 bits", fmt::join(entry.shape, ", "));
    bytes *= count;
  }
  return bytes;
}

Entry ParseEntry(const std::string& name, const json& fields, uint64_t data_size,
                 const std::string& path) {
  Entry entry{name, fmt::format("{}: tensor {}", path, Shown(name)), {}, {}};
  const std::string& where = entry.where;
  Demand(fields.is_object(), where, "must be an object, got {}", Shown(fields));
  for (const auto& [key, value] : fields.items()) {
    Demand(key == "dtype" || key == "shape" || key == "data_offsets", where,
           "unknown key {}; the keys are dtype, shape, data_offsets", Shown(key));
  }
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    Demand(fields.contains(key), where, "{} is missing", key);
  }

  const json& dtype = fields["dtype"];
  const auto* known = dtype.is_string() ? std::ranges::find(kDtypeNames, dtype.get<std::string>())
                                        : kDtypeNames.end();
  Demand(known != kDtypeNames.end(), where, "dtype must be one of {}, got {}",
         fmt::join(kDtypeNames, ", "), Shown(dtype));
  entry.dtype = static_cast<Dtype>(known - kDtypeNames.begin());

  entry.shape = Integers(fields["shape"], "shape", where);
  Demand(entry.shape.size() <= kMaxTensorRank, where, "shape must have at most {} extents, got {}",
         kMaxTensorRank, entry.shape.size());

  const auto offsets = Integers(fields["data_offsets"], "data_offsets", where);
  Demand(offsets.size() == 2, where, "data_offsets must be two integers, got {}", offsets.size());
  entry.begin = static_cast<uint64_t>(offsets[0]);
  entry.end = static_cast<uint64_t>(offsets[1]);
  Demand(entry.begin <= entry.end, where, "data_offsets must ascend, got [{}, {}]", entry.begin,
         entry.end);
  Demand(entry.end <= data_size, where, "data_offsets [{}, {}] reach beyond the {} bytes of data",
         entry.begin, entry.end, data_size);
  const uint64_t bytes = ByteCount(entry);
  Demand(entry.end - entry.begin == bytes, where,
         "{} of shape [{}] takes {} bytes, but data_offsets [{}, {}] hold {}",
         DtypeName(entry.dtype), fmt::join(entry.shape, ", "), bytes, entry.begin, entry.end,
         entry.end - entry.begin);
  return entry;
}

std::map<std::string, std::string> ParseMetadata(const json& fields, const std::string& path) {
  Demand(fields.is_object(), path, "{} must be an object, got {}", kMetadata, Shown(fields));
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : fields.items()) {
    Demand(value.is_string(), path, "{}: {} must be a string, got {}", kMetadata, Shown(key),
           Shown(value));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Every byte of the data belongs to exactly one tensor.
void CheckCover(std::vector<Entry> entries, uint64_t data_size, const std::string& path) {
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    Demand(entry.begin >= covered, entry.where,
           "begins at byte {} and overlaps the tensor before it, which ends at byte {}",
           entry.begin, covered);
    Demand(entry.begin <= covered, entry.where, "begins at byte {} after a hole of {} bytes",
           entry.begin, entry.begin - covered);
    covered = entry.end;
  }
  Demand(covered == data_size, path, "{} bytes after the last tensor belong to none",
         data_size - covered);
}

}  // namespace

std::string SafetensorsHeader(std::vector<TensorPlace>& places,
                              const std::map<std::string, std::string>& metadata) {
  for (const TensorPlace& place : places) {
    Require(place.name != kMetadata, "a tensor must not be named {}", kMetadata);
    Require(place.shape.size() <= kMaxTensorRank,
            "tensor {}: a shape must have at most {} extents, got {}", Shown(place.name),
            kMaxTensorRank, place.shape.size());
  }
  std::ranges::sort(places, {}, [](const TensorPlace& place) {
    return std::pair(-static_cast<int>(SizeOf(place.dtype)), place.name);
  });
  ordered_json header = ordered_json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  uint64_t offset = 0;
  for (TensorPlace& place : places) {
    place.offset = offset;
    offset += std::accumulate(
        place.shape.begin(), place.shape.end(), static_cast<uint64_t>(SizeOf(place.dtype)),
        [](uint64_t bytes, int64_t extent) { return bytes * static_cast<uint64_t>(extent); });
    ordered_json& entry = header[place.name];
    entry["dtype"] = std::string(DtypeName(place.dtype));
    entry["shape"] = place.shape;
    entry["data_offsets"] = {place.offset, offset};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const ordered_json::exception&) {
    throw ParameterError("tensor names and metadata must be UTF-8");
  }
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  Require(text.size() <= kMaxSafetensorsHeader, "a header must be at most {} bytes, got {}",
          kMaxSafetensorsHeader, text.size());
  std::string bytes = StoreLength(text.size()) + text;
  for (TensorPlace& place : places) place.offset += bytes.size();
  return bytes;
}

std::string SerializeSafetensors(const Safetensors& content) {
  std::vector<TensorPlace> places;
  for (const auto& [name, tensor] : content.tensors) {
    places.push_back({name, tensor.dtype(), tensor.shape()});
  }
  std::string bytes = SafetensorsHeader(places, content.metadata);
  for (const TensorPlace& place : places) {
    const auto data = content.tensors.at(place.name).bytes();
    bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
  }
  return bytes;
}

Safetensors ParseSafetensors(std::string_view bytes, const std::string& path) {
  Demand(bytes.size() >= kLengthBytes, path,
         "not safetensors: must begin with {} bytes of header length, got {} in all", kLengthBytes,
         bytes.size());
  const uint64_t header_size = LoadLength(bytes);
  bytes.remove_prefix(kLengthBytes);
  Demand(header_size <= kMaxSafetensorsHeader, path,
         "not safetensors: the header must be at most {} bytes, its length says {}",
         kMaxSafetensorsHeader, header_size);
  Demand(header_size <= bytes.size(), path,
         "truncated: the header should have {} bytes, the file has {} after its length",
         header_size, bytes.size());
  const std::string_view text = bytes.substr(0, header_size);
  const std::string_view data = bytes.substr(header_size);
  Demand(text.starts_with('{'), path, "not safetensors: the header must begin with '{{'");
  const json header = ParseJson(text, path + ": header");

  Safetensors content;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      content.metadata = ParseMetadata(value, path);
    } else {
      entries.push_back(ParseEntry(name, value, data.size(), path));
    }
  }
  CheckCover(entries, data.size(), path);
  for (const Entry& entry : entries) {
    Tensor tensor(entry.dtype, entry.shape);
    if (entry.end > entry.begin) {
      std::memcpy(tensor.bytes().data(), data.data() + entry.begin, entry.end - entry.begin);
    }
    content.tensors.emplace(entry.name, std::move(tensor));
  }
  return content;
}

Safetensors ReadSafetensors(const std::filesystem::path& path) {
  return ParseSafetensors(ReadFile(path, kMaxSafetensorsFile), path.string());
}

void WriteSafetensors(const std::filesystem::path& path, const Safetensors& content) {
  WriteFileAtomically(path, SerializeSafetensors(content));
}

}  // namespace posgauge
