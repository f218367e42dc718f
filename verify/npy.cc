#include "posgauge/verify/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;

// The first spelling of each dtype is the one that is written.
constexpr std::array<std::pair<std::string_view, Dtype>, 14> kDescriptions = {
    {{"<f8", Dtype::f64},
     {"<f4", Dtype::f32},
     {"<V2", Dtype::bf16},
     {"<f2", Dtype::f16},
     {"<i8", Dtype::i64},
     {"<i4", Dtype::i32},
     {"|u1", Dtype::u8},
     {"<V1", Dtype::f8e4m3},
     {"<f1", Dtype::f8e5m2},
     {"|V2", Dtype::bf16},
     {"bfloat16", Dtype::bf16},
     {"|V1", Dtype::f8e4m3},
     {"float8_e4m3fn", Dtype::f8e4m3},
     {"float8_e5m2", Dtype::f8e5m2}}};

template <class... Args>
void Demand(bool holds, const std::string& where, fmt::format_string<Args...> message,
            Args&&... args) {
  if (holds) return;
  throw FormatError(
      fmt::format("{}: {}", where, fmt::format(message, std::forward<Args>(args)...)));
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// The header is a Python dictionary of three entries. NumPy reads any literal; what is read here is
// what it writes, with any order and spacing.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {}

  Header Parse() {
    std::optional<std::string> descr;
    std::optional<bool> order;
    std::optional<std::vector<int64_t>> shape;
    Expect("{");
    while (!Accept("}")) {
      const std::string key = String();
      Expect(":");
      if (key == "descr") {
        Once(key, descr, Description());
      } else if (key == "fortran_order") {
        Once(key, order, Truth());
      } else if (key == "shape") {
        Once(key, shape, Shape());
      } else {
        Demand(false, where_, "unknown key {}; the keys are descr, fortran_order, shape",
               Shown(key));
      }
      if (!Accept(",")) {
        Expect("}");
        break;
      }
    }
    Demand(descr.has_value(), where_, "descr is missing");
    Demand(order.has_value(), where_, "fortran_order is missing");
    Demand(shape.has_value(), where_, "shape is missing");
    SkipBlanks();
    Demand(rest_.empty(), where_, "must end with blanks and a line feed, got {}", Next());
    return {*descr, *order, *shape};
  }

 private:
  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  std::string Next() const {
    return rest_.empty() ? "its end" : Shown(std::string(rest_.substr(0, 20)));
  }

  bool Accept(std::string_view token) {
    SkipBlanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  void Expect(std::string_view token) {
    Demand(Accept(token), where_, "expected '{}', got {}", token, Next());
  }

  template <class Value>
  void Once(const std::string& key, std::optional<Value>& field, Value value) {
    Demand(!field.has_value(), where_, "the key {} appears twice", key);
    field = std::move(value);
  }

  std::string String() {
    SkipBlanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const size_t end = rest_.find(quote, 1);
    Demand((quote == '\'' || quote == '"') && end != std::string_view::npos, where_,
           "expected a string in quotes, got {}", Next());
    std::string text(rest_.substr(1, end - 1));
    Demand(text.find('\\') == std::string::npos, where_, "must have no escapes in strings");
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string Description() {
    SkipBlanks();
    Demand(!rest_.starts_with('['), where_,
           "descr is of a structure; it must be of one number, such as '<f4'");
    return String();
  }

  bool Truth() {
    if (Accept("True")) return true;
    Demand(Accept("False"), where_, "fortran_order must be True or False, got {}", Next());
    return false;
  }

  int64_t Extent() {
    SkipBlanks();
    int64_t extent = 0;
    const char* begin = rest_.data();
    const char* end = begin + rest_.size();
    const auto [after, error] = std::from_chars(begin, end, extent);
    const bool canonical = after - begin == 1 || (begin != end && *begin != '0' && *begin != '-');
    Demand(error == std::errc() && canonical, where_,
           "shape must hold integers in 0..2^63-1, got {}", Next());
    rest_.remove_prefix(static_cast<size_t>(after - begin));
    return extent;
  }

  // A tuple, which of one number needs a comma.
  std::vector<int64_t> Shape() {
    Demand(Accept("("), where_, "shape must be a tuple, got {}", Next());
    std::vector<int64_t> shape;
    bool comma = true;
    while (!Accept(")")) {
      Demand(comma, where_, "expected ',' or ')' in shape, got {}", Next());
      shape.push_back(Extent());
      comma = Accept(",");
    }
    Demand(shape.size() != 1 || comma, where_, "shape must be a tuple, such as ({},)",
           fmt::join(shape, ", "));
    return shape;
  }

  std::string_view rest_;
  std::string where_;
};

Dtype DtypeOf(const std::string& descr, const std::string& where) {
  const auto* known = std::ranges::find(kDescriptions, std::string_view(descr),
                                        &std::pair<std::string_view, Dtype>::first);
  if (known != kDescriptions.end()) return known->second;
  std::vector<std::string_view> names;
  for (const auto& [name, dtype] : kDescriptions) names.push_back(name);
  Demand(!descr.starts_with('>'), where,
         "{} is big-endian: save it as {}, by array.astype(array.dtype.newbyteorder('<'))",
         Shown(descr), Shown("<" + descr.substr(1)));
  throw FormatError(fmt::format("{}: descr must be one of {}, got {}", where,
                                fmt::join(names, ", "), Shown(descr)));
}

uint64_t ByteCount(Dtype dtype, const std::vector<int64_t>& shape, const std::string& where) {
  uint64_t bytes = SizeOf(dtype);
  for (int64_t extent : shape) {
    const auto count = static_cast<uint64_t>(extent);
    Demand(count == 0 || bytes <= std::numeric_limits<uint64_t>::max() / count, where,
           "shape ({}) overflows 64 bits", fmt::join(shape, ", "));
    bytes *= count;
  }
  return bytes;
}

// From Fortran order, in which the first index is the fastest.
void Transpose(std::string_view data, Tensor& tensor) {
  const std::vector<int64_t>& shape = tensor.shape();
  const size_t width = SizeOf(tensor.dtype());
  std::vector<size_t> index(shape.size(), 0);
  for (size_t to = 0; to < tensor.size(); ++to) {
    size_t from = 0;
    for (size_t axis = shape.size(); axis-- > 0;) {
      from = from * static_cast<size_t>(shape[axis]) + index[axis];
    }
    std::memcpy(tensor.bytes().data() + to * width, data.data() + from * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < static_cast<size_t>(shape[axis])) break;
      index[axis] = 0;
    }
  }
}

}  // namespace

std::string SerializeNpy(const Tensor& tensor) {
  const std::vector<int64_t>& shape = tensor.shape();
  Require(shape.size() <= kMaxTensorRank, "a shape must have at most {} extents, got {}",
          kMaxTensorRank, shape.size());
  const auto* described =
      std::ranges::find(kDescriptions, tensor.dtype(), &std::pair<std::string_view, Dtype>::second);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", described->first,
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Magic, two bytes of version, two of length, the header, a line feed.
  const size_t fixed = kMagic.size() + 4;
  const size_t whole = (fixed + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(whole - fixed - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  return bytes;
}

Tensor ParseNpy(std::string_view bytes, const std::string& path) {
  Demand(bytes.starts_with(kMagic), path, "not npy: must begin with the byte 0x93 and NUMPY");
  bytes.remove_prefix(kMagic.size());
  Demand(bytes.size() >= 2, path, "truncated: ends before its version");
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const unsigned major = byte(0), minor = byte(1);
  Demand(major >= 1 && major <= 3 && minor == 0, path, "version must be 1.0, 2.0 or 3.0, got {}.{}",
         major, minor);
  bytes.remove_prefix(2);
  const size_t length_bytes = major == 1 ? 2 : 4;
  Demand(bytes.size() >= length_bytes, path, "truncated: ends before the length of its header");
  size_t length = 0;
  for (size_t i = length_bytes; i-- > 0;) length = length << 8 | byte(i);
  bytes.remove_prefix(length_bytes);
  Demand(length <= kMaxNpyHeader, path, "the header must be at most {} bytes, its length says {}",
         kMaxNpyHeader, length);
  Demand(length <= bytes.size(), path,
         "truncated: the header should have {} bytes, the file has {} after its length", length,
         bytes.size());
  const std::string_view text = bytes.substr(0, length), data = bytes.substr(length);
  const std::string where = path + ": header";
  Demand(text.ends_with('\n'), where, "must end with a line feed");
  const Header header = HeaderParser(text.substr(0, text.size() - 1), where).Parse();

  const Dtype dtype = DtypeOf(header.descr, where);
  Demand(header.shape.size() <= kMaxTensorRank, where, "shape must have at most {} extents, got {}",
         kMaxTensorRank, header.shape.size());
  const uint64_t expected = ByteCount(dtype, header.shape, where);
  Demand(data.size() == expected, path, "{} of shape ({}) takes {} bytes, but {} follow the header",
         header.descr, fmt::join(header.shape, ", "), expected, data.size());
  try {
    Tensor tensor(dtype, header.shape);
    if (header.fortran_order) {
      Transpose(data, tensor);
    } else if (!data.empty()) {
      std::memcpy(tensor.bytes().data(), data.data(), data.size());
    }
    return tensor;
  } catch (const ParameterError& error) {
    throw FormatError(fmt::format("{}: {}", where, error.what()));
  }
}

Tensor ReadNpy(const std::filesystem::path& path) {
  return ParseNpy(ReadFile(path, kMaxNpyFile), path.string());
}

void WriteNpy(const std::filesystem::path& path, const Tensor& tensor) {
  WriteFileAtomically(path, SerializeNpy(tensor));
}

}  // namespace posgauge
