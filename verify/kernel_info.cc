#include "posgauge/verify/kernel_info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/kernel_call.h"
#include "posgauge/verify/kernel_list.h"
#include "posgauge/verify/ragged_batch.h"

namespace posgauge {

namespace {

std::vector<std::string> Words(const char* text) {
  std::istringstream stream{std::string(text == nullptr ? "" : text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// What counts may be integers; every other tensor holds real numbers.
bool Counts(std::string_view tensor) {
  return tensor.ends_with("positions") || tensor == "axis" || tensor == "thresholds" ||
         tensor == "buckets" || tensor == "cu_seqlens" || tensor == "offsets" ||
         IsListField(tensor);
}

std::vector<TensorSpec> ParseSpecs(const std::string& kernel, const char* text) {
  std::vector<TensorSpec> specs;
  for (const std::string& word : Words(text)) {
    const size_t colon = word.find(':');
    if (colon == std::string::npos) {
      throw FormatError(fmt::format("kernel {}: tensor '{}' must be name:dtype", kernel, word));
    }
    TensorSpec spec{word.substr(0, colon), {}, false};
    if (spec.name.ends_with('?')) {
      spec.name.pop_back();
      spec.optional = true;
    }
    std::istringstream dtypes(word.substr(colon + 1));
    for (std::string dtype; std::getline(dtypes, dtype, ',');) {
      try {
        spec.dtypes.push_back(ParseDtype(dtype));
      } catch (const ParameterError& error) {
        throw FormatError(fmt::format("kernel {}: tensor {}: {}", kernel, spec.name, error.what()));
      }
    }
    if (spec.dtypes.empty()) {
      throw FormatError(fmt::format("kernel {}: tensor {} names no dtype", kernel, spec.name));
    }
    if (!Counts(spec.name) && !std::ranges::all_of(spec.dtypes, IsFloat)) {
      throw FormatError(
          fmt::format("kernel {}: tensor {} must be of floating dtypes", kernel, spec.name));
    }
    if (std::ranges::find(specs, spec.name, &TensorSpec::name) != specs.end()) {
      throw FormatError(fmt::format("kernel {}: tensor {} is named twice", kernel, spec.name));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

constexpr std::array<std::string_view, 7> kInvariances = {
    "chunking", "batch", "alignment", "pairing", "axes", "rowshift", "grouped"};

// What a descriptor may list, "*" among it. Made once: libraries have hundreds of kernels.
const std::vector<std::string>& SchemeWords() {
  static const std::vector<std::string> made = [] {
    std::vector<std::string> words = {"*"};
    for (const SchemeInfo& scheme : AllSchemes()) words.push_back(scheme.name);
    return words;
  }();
  return made;
}

template <class Known>
void RequireWords(const std::string& kernel, std::string_view what,
                  const std::vector<std::string>& words, const Known& known) {
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) != std::ranges::end(known)) continue;
    throw FormatError(fmt::format("kernel {}: {} must be one of {}, got '{}'", kernel, what,
                                  fmt::join(known, ", "), Printable(word)));
  }
}

constexpr std::array<std::string_view, 10> kQuantities = {
    "frequencies", "table",   "rotate", "rotate_backward", "embed",
    "slopes",      "buckets", "bias",   "scores",          "attention"};

// A kernel of rotations or of added rows: what it takes fits together, and it yields all that its
// quantity has.
void CheckRows(const KernelInfo& info) {
  const auto demand = [&](bool holds, std::string_view what) {
    if (!holds) throw FormatError(fmt::format("kernel {}: {} {}", info.name, info.quantity, what));
  };
  const auto output = [&](std::string_view name) {
    const auto at = std::ranges::find(info.outputs, name, &TensorSpec::name);
    return at == info.outputs.end() ? nullptr : &*at;
  };
  const auto alike = [](const TensorSpec* a, const TensorSpec* b) {
    return a != nullptr && b != nullptr && a->dtypes.front() == b->dtypes.front();
  };
  if (info.quantity == "frequencies") {
    demand(output("frequency") != nullptr, "yields frequency");
    const bool only_those = std::ranges::all_of(info.outputs, [](const TensorSpec& spec) {
      return spec.name == "frequency" || spec.name == "frequency_low" || spec.name == "magnitude";
    });
    demand(only_those, "yields frequency, frequency_low and magnitude, nothing else");
    return;
  }
  if (info.quantity == "table") {
    demand((info.outputs.size() == 2 && alike(output("cos"), output("sin"))) ||
               (info.outputs.size() == 1 && output("rows") != nullptr),
           "yields cos and sin of one dtype, or rows");
  } else {
    const TensorSpec* x = info.Input("x");
    demand(x != nullptr && info.outputs.size() == 1 && output("out") != nullptr,
           "takes x and yields out");
    demand(alike(x, output("out")), "takes x and yields out of one dtype");
  }
  const bool takes_table = info.Input("cos") != nullptr || info.Input("sin") != nullptr;
  demand(!takes_table || alike(info.Input("cos"), info.Input("sin")),
         "takes cos and sin of one dtype");
  demand(info.Input("frequency_low") == nullptr || info.Input("frequency") != nullptr,
         "takes frequency where it takes frequency_low");
  demand(info.Input("offsets") == nullptr || info.Input("cu_seqlens") != nullptr,
         "takes cu_seqlens where it takes offsets");
  const double farthest = info.kernel->largest_position;
  demand(!info.CountsFromZero() || (farthest >= 1 && farthest < kLongestSequence),
         fmt::format("takes positions or offsets with cu_seqlens, or has a largest_position in "
                     "1..{:g}: sequences that begin at 0 are called up to there",
                     kLongestSequence - 1));
  const bool embeds = info.quantity == "embed";
  if (info.Input(embeds ? "rows" : "cos") == nullptr && info.Input("positions") == nullptr &&
      info.Input("cu_seqlens") == nullptr) {
    throw FormatError(fmt::format("kernel {} takes neither positions nor {}", info.name,
                                  embeds ? "rows" : "cos and sin"));
  }
}

// A kernel of attention yields one tensor, named as its quantity, of positions unless slopes.
void CheckAttention(const KernelInfo& info) {
  const auto demand = [&](bool holds, std::string_view what) {
    if (!holds) throw FormatError(fmt::format("kernel {}: {} {}", info.name, info.quantity, what));
  };
  demand(info.outputs.size() == 1 && info.outputs[0].name == info.quantity,
         "yields one tensor of that name");
  const Dtype dtype = info.io();
  demand(info.quantity == "buckets" ? dtype == Dtype::i32 || dtype == Dtype::i64 : IsFloat(dtype),
         info.quantity == "buckets" ? "must be i32 or i64" : "must be of a floating dtype");
  if (info.quantity == "slopes") return;
  demand(info.Input("query_positions") != nullptr && info.Input("key_positions") != nullptr,
         "takes query_positions and key_positions");
  if (info.quantity == "buckets" || info.quantity == "bias") return;
  demand(info.Input("q") != nullptr && info.Input("k") != nullptr, "takes q and k");
  demand(info.quantity == "scores" || info.Input("v") != nullptr, "takes v");
}

}  // namespace

KernelInfo::KernelInfo(const posgauge_kernel& given)
    : kernel(std::make_shared<const posgauge_kernel>(KnownPart(&given))) {
  const posgauge_kernel& descriptor = *kernel;
  if (!IsDescriptorSize(descriptor.size)) {
    throw FormatError(
        fmt::format("kernel descriptor is {} bytes, this ABI needs {} or more, whole words of {}",
                    descriptor.size, kFirstDescriptorSize, alignof(posgauge_kernel)));
  }
  if (descriptor.name == nullptr || descriptor.quantity == nullptr || descriptor.run == nullptr) {
    throw FormatError("kernel descriptor lacks a name, a quantity or a run function");
  }
  name = descriptor.name;
  // Names stand in repro ids and reports.
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (!plain) {
    throw FormatError(fmt::format(
        "kernel '{}': a name is made of letters, digits, '.', '_' and '-'", Printable(name)));
  }
  quantity = descriptor.quantity;
  if (std::ranges::find(kQuantities, quantity) == kQuantities.end()) {
    throw FormatError(fmt::format("kernel {}: quantity must be one of {}, got '{}'", name,
                                  fmt::join(kQuantities, ", "), quantity));
  }
  schemes = Words(descriptor.schemes);
  RequireWords(name, "scheme", schemes, SchemeWords());
  if (schemes.empty()) {
    throw FormatError(fmt::format("kernel {}: schemes must name one, or * for every one", name));
  }
  if (schemes == std::vector<std::string>{"*"}) schemes.clear();
  inputs = ParseSpecs(name, descriptor.inputs);
  outputs = ParseSpecs(name, descriptor.outputs);
  if (outputs.empty()) throw FormatError(fmt::format("kernel {} yields no tensor", name));
  for (const std::string& word : Words(descriptor.pairings)) {
    try {
      pairings.push_back(ParseVariant<Pairing>("pairing", word));
    } catch (const ParameterError& error) {
      throw FormatError(fmt::format("kernel {}: {}", name, error.what()));
    }
  }
  try {
    contract = Contract::Parse(descriptor.contract == nullptr ? "" : descriptor.contract, io());
  } catch (const ParameterError& error) {
    throw FormatError(fmt::format("kernel {}: {}", name, error.what()));
  }
  if (quantity != "frequencies" && contract.store != io()) {
    throw FormatError(fmt::format("kernel {}: its contract stores {}, its tensors are {}", name,
                                  Name(contract.store), Name(io())));
  }
  invariances = Words(descriptor.invariances);
  RequireWords(name, "invariance", invariances, kInvariances);
  if (descriptor.largest_rotary_dim < 0) {
    throw FormatError(
        fmt::format("kernel {}: largest_rotary_dim must be 0 (no limit) or a number of channels "
                    "above 0, got {}",
                    name, descriptor.largest_rotary_dim));
  }
  const double farthest = descriptor.largest_position;
  if (!std::isfinite(farthest) || farthest < 0) {
    throw FormatError(fmt::format(
        "kernel {}: largest_position must be 0 (no limit) or a number of tokens above 0, got {}",
        name, farthest));
  }
  if (IsOfAttention()) {
    CheckAttention(*this);
  } else {
    CheckRows(*this);
  }
}

bool KernelInfo::CountsFromZero() const {
  return Input("cu_seqlens") != nullptr && Input("offsets") == nullptr &&
         Input("positions") == nullptr && !(Input("cos") != nullptr || Input("rows") != nullptr);
}

bool IsListField(std::string_view name) {
  static const std::set<std::string, std::less<>> lists = [] {
    std::set<std::string, std::less<>> names;
    for (const SchemeInfo& scheme : AllSchemes()) {
      for (std::string& list : ListFields(scheme.name)) names.insert(std::move(list));
    }
    return names;
  }();
  return lists.contains(name);
}

bool KernelInfo::IsOfAttention() const {
  const auto& names = kVariantNames<EquationQuantity>;
  const auto at = std::ranges::find(names, quantity);
  return at != names.end() && !IsOfRows(static_cast<EquationQuantity>(at - names.begin()));
}

Dtype KernelInfo::io() const {
  const TensorSpec* x = Input("x");
  return x != nullptr ? x->dtypes.front() : outputs.front().dtypes.front();
}

const TensorSpec* KernelInfo::Input(std::string_view tensor) const {
  const auto at = std::ranges::find(inputs, tensor, &TensorSpec::name);
  return at == inputs.end() ? nullptr : &*at;
}

bool KernelInfo::Declares(std::string_view invariance) const {
  return std::ranges::find(invariances, invariance) != invariances.end();
}

// `*` means every scheme that has the quantity: a table of rows belongs to additions, one of cos
// and sin to rotations, those of attention to its schemes.
std::string KernelInfo::WhyNot(const Scheme& scheme) const {
  if (!schemes.empty() && std::ranges::find(schemes, Name(scheme)) == schemes.end()) {
    return fmt::format("serves {}", fmt::join(schemes, ", "));
  }
  if (IsOfAttention() && !ActsInAttention(scheme)) return "serves schemes of attention";
  if (ActsInAttention(scheme)) {
    const bool serves =
        IsOfAttention() &&
        ExactEquations(scheme).Yields(ParseVariant<EquationQuantity>("quantity", quantity));
    return serves ? "" : fmt::format("yields {}, which {} has not", quantity, Name(scheme));
  }
  if (Input("cu_seqlens") != nullptr && (HasEquations(scheme) || AxesOf(scheme).count > 1)) {
    return "takes cu_seqlens, which go with waves and rotations of one axis";
  }
  if (HasEquations(scheme)) {
    if (!Adds()) return fmt::format("yields {}, which {} has not", quantity, Name(scheme));
    for (const char* input : {"rows", "frequency"}) {
      if (Input(input) != nullptr) return fmt::format("takes {}, which only waves have", input);
    }
    return "";
  }
  if (!IsRotary(scheme)) return Adds() || quantity == "frequencies" ? "" : "serves rotations";
  if (Adds()) return "adds rows to embeddings";
  if (schemes.empty() && Input("positions") != nullptr && Input("axis") == nullptr &&
      AxesOf(scheme).count > 1) {
    return "takes positions of one axis: it has no input axis";
  }
  const Rotary& layout = RotaryOf(scheme);
  const bool paired = quantity == "frequencies" || quantity == "table" ||
                      std::ranges::find(pairings, layout.pairing) != pairings.end();
  if (!paired) return fmt::format("does not pair channels by {}", VariantName(layout.pairing));
  const int64_t widest = kernel->largest_rotary_dim;
  if (widest != 0 && layout.rotary_dim > widest) {
    return fmt::format("rotates at most {} channels", widest);
  }
  return "";
}

}  // namespace posgauge
