#include "posgauge/golden/export_source.h"

#include <algorithm>
#include <cmath>

#include "posgauge/golden/tensor_name.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::golden {

namespace {

// How a language writes an array.
struct Language {
  std::string first, last;           // of the file; {0} is its name
  std::string array;                 // {0} name, {1} type, {2} count, {3} elements
  bool bits_only;                    // no hex floats
  std::string comment;               // begins a line of comment
  std::array<std::string, 6> types;  // f64 f32 16 bits 8 bits i32 size
};

const Language kC = {
    "#ifndef POSGAUGE_GOLDEN_{0}\n#define POSGAUGE_GOLDEN_{0}\n\n"
    "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n\n",
    "\n#endif\n",
    "static const {1} {0}[{2}] = {{{3}}};\n",
    false,
    "// ",
    {"double", "float", "uint16_t", "uint8_t", "int32_t", "size_t"}};

const Language kCpp = {
    "#pragma once\n\n#include <cmath>\n#include <cstddef>\n#include <cstdint>\n\n"
    "namespace posgauge_golden::{1} {{\n\n",
    "\n}}  // namespace posgauge_golden::{1}\n",
    "inline constexpr {1} {0}[{2}] = {{{3}}};\n",
    false,
    "// ",
    {"double", "float", "std::uint16_t", "std::uint8_t", "std::int32_t", "std::size_t"}};

const Language kRust = {"",   "",    "pub const {0}: [{1}; {2}] = [{3}];\n",
                        true, "// ", {"u64", "u32", "u16", "u8", "i32", "usize"}};

std::string Identifier(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '/' || c == '.'; }, '_');
  return name;
}

std::string Upper(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

size_t TypeOf(Dtype dtype) {
  if (dtype == Dtype::f64) return 0;
  if (dtype == Dtype::f32) return 1;
  if (!IsFloat(dtype)) return 4;
  return SizeOf(dtype) == 2 ? 2 : 3;
}

std::string Element(const Tensor& tensor, size_t index, bool bits_only) {
  const Dtype dtype = tensor.dtype();
  const double value = tensor.Value(index);
  if (!IsFloat(dtype)) return fmt::format("{}", static_cast<int64_t>(value));
  if (bits_only || SizeOf(dtype) < 4) {
    return fmt::format("0x{:0{}x}", tensor.Bits(index), 2 * SizeOf(dtype));
  }
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  return HexFloat(value) + (dtype == Dtype::f32 ? "f" : "");
}

// As many to a line as fit in 100 columns.
std::string Lines(const std::vector<std::string>& elements) {
  std::string text;
  size_t column = 100;
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string word = elements[i] + (i + 1 < elements.size() ? "," : "");
    if (column + 1 + word.size() > 100) {
      text += "\n    ";
      column = 4;
    } else {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text;
}

class Source {
 public:
  Source(const Language& language, std::string prefix)
      : language_(language), prefix_(std::move(prefix)) {}

  void Comment(const std::string& text) {
    // A backslash at the end of a line would take the next one into the comment.
    text_ += language_.comment;
    for (char c : text) text_ += c == '\n' || c == '\r' || c == '\\' ? ' ' : c;
    text_ += '\n';
  }

  void Add(const std::string& name, const Tensor& tensor) {
    std::vector<std::string> elements;
    for (size_t i = 0; i < tensor.size(); ++i) {
      elements.push_back(Element(tensor, i, language_.bits_only));
    }
    AddArray(name, TypeOf(tensor.dtype()), elements);
  }

  void AddShape(const std::string& name, const Tensor& tensor) {
    std::vector<std::string> extents;
    for (int64_t extent : tensor.shape()) extents.push_back(fmt::format("{}", extent));
    AddArray(name + "_shape", 5, extents);
  }

  void AddLine() { text_ += '\n'; }

  std::string Whole(const std::string& name) const {
    return fmt::format(fmt::runtime(language_.first), Upper(name), name) + text_ +
           fmt::format(fmt::runtime(language_.last), Upper(name), name);
  }

 private:
  // C has no arrays of nothing.
  void AddArray(const std::string& name, size_t type, const std::vector<std::string>& elements) {
    if (elements.empty()) return;
    std::string full = prefix_ + Identifier(name);
    // A name that begins with a digit is none.
    if (full[0] >= '0' && full[0] <= '9') full = "case_" + full;
    if (language_.bits_only) full = Upper(full);
    text_ += fmt::format(fmt::runtime(language_.array), full, language_.types[type],
                         elements.size(), Lines(elements));
  }

  const Language& language_;
  std::string prefix_, text_;
};

std::string Written(const Language& language, const PlacedManifest& placed,
                    const std::string& prefix) {
  const Manifest& manifest = placed.manifest;
  Source source(language, prefix);
  source.Comment(fmt::format("{} by {} {}: {}", placed.place, manifest.generator, manifest.version,
                             manifest.comment));
  source.Comment(ToJson(manifest.scheme).dump());
  for (const Case& golden_case : manifest.cases) {
    source.AddLine();
    source.Comment(fmt::format("{}: {}, {}. {}", golden_case.id, VariantName(golden_case.quantity),
                               VariantName(golden_case.result), golden_case.comment));
    if (golden_case.result != Result::valid) {
      source.Comment(fmt::format("{}: {}", golden_case.fault, golden_case.cause));
    }
    for (const auto& [name, tensor] : golden_case.inputs) {
      source.Add(InputTensor(golden_case, name), tensor);
      source.AddShape(InputTensor(golden_case, name), tensor);
    }
    for (const auto& [name, roundings] : golden_case.outputs) {
      for (const auto& [dtype, rounding] : roundings) {
        source.Add(ValuesTensor(golden_case, name, dtype), rounding.values);
        if (HasDistances(dtype)) {
          source.Add(DistancesTensor(golden_case, name, dtype), rounding.distances);
        }
      }
      source.AddShape(InputTensor(golden_case, name), roundings.begin()->second.values);
    }
  }
  return source.Whole(SourceName(placed));
}

}  // namespace

std::string SourceName(const PlacedManifest& placed) { return Identifier(placed.place); }

std::string CSource(const PlacedManifest& placed) {
  return Written(kC, placed, SourceName(placed) + "_");
}
std::string CppSource(const PlacedManifest& placed) { return Written(kCpp, placed, ""); }
std::string RustSource(const PlacedManifest& placed) { return Written(kRust, placed, ""); }

}  // namespace posgauge::golden
