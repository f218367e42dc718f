#include "posgauge/verify/subject.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>
#include <sstream>

#include "posgauge/schemes/base/scalars.h"

namespace posgauge {

namespace {

// Text from a library, fit for any report: whatever is not printable ASCII becomes a '?'.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

std::vector<std::string> Words(const char* text) {
  std::istringstream stream{std::string(text == nullptr ? "" : text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<TensorSpec> ParseSpecs(const std::string& kernel, const char* text) {
  std::vector<TensorSpec> specs;
  for (const std::string& word : Words(text)) {
    const size_t colon = word.find(':');
    if (colon == std::string::npos) {
      throw FormatError(fmt::format("kernel {}: tensor '{}' must be name:dtype", kernel, word));
    }
    TensorSpec spec{word.substr(0, colon), {}};
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
    specs.push_back(std::move(spec));
  }
  return specs;
}

constexpr std::array<std::string_view, 4> kQuantities = {"frequencies", "table", "rotate",
                                                         "rotate_backward"};

int32_t AbiDtype(Dtype dtype) { return static_cast<int32_t>(dtype); }
static_assert(static_cast<int>(Dtype::f64) == POSGAUGE_F64 &&
              static_cast<int>(Dtype::f32) == POSGAUGE_F32 &&
              static_cast<int>(Dtype::bf16) == POSGAUGE_BF16 &&
              static_cast<int>(Dtype::f16) == POSGAUGE_F16 &&
              static_cast<int>(Dtype::i64) == POSGAUGE_I64 &&
              static_cast<int>(Dtype::i32) == POSGAUGE_I32);

DLDataType DlpackType(Dtype dtype) {
  const auto bits = static_cast<uint8_t>(8 * SizeOf(dtype));
  if (!IsFloat(dtype)) return {kDLInt, bits, 1};
  return {static_cast<uint8_t>(dtype == Dtype::bf16 ? kDLBfloat : kDLFloat), bits, 1};
}

// A tensor as the C side sees it. The arrays behind the pointers live as long as this does.
class Argument {
 public:
  Argument(const char* name, Dtype dtype, const std::vector<int64_t>& shape, const std::byte* data)
      : shape_(shape), strides_(shape.size()) {
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= shape[axis];
    }
    argument_ = {.size = sizeof(posgauge_tensor),
                 .dtype = AbiDtype(dtype),
                 .name = name,
                 .tensor = {.data = const_cast<std::byte*>(data),
                            .device = {kDLCPU, 0},
                            .ndim = static_cast<int32_t>(shape_.size()),
                            .dtype = DlpackType(dtype),
                            .shape = shape_.data(),
                            .strides = strides_.data(),
                            .byte_offset = 0}};
  }
  const posgauge_tensor& argument() const { return argument_; }

 private:
  std::vector<int64_t> shape_, strides_;
  posgauge_tensor argument_;
};

struct Named {
  std::string name;
  Tensor tensor;
};

// Every byte 0xFF: a NaN in every floating dtype, so that what a kernel leaves unwritten shows.
Tensor Poisoned(Dtype dtype, std::vector<int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  std::ranges::fill(tensor.bytes(), std::byte{0xFF});
  return tensor;
}

// One call through the C interface.
void Call(const KernelInfo& info, const Scheme& scheme, const std::vector<Named>& inputs,
          std::vector<Named>& outputs, bool in_place) {
  std::vector<posgauge_scalar> scalars;
  const auto named_scalars = ScalarsOf(scheme);
  for (const auto& [name, value] : named_scalars) scalars.push_back({name.c_str(), value});
  std::vector<Named> lists;
  for (const auto& [name, values] : ListsOf(scheme)) {
    const auto entries = static_cast<int64_t>(values.size());
    lists.push_back({name, Tensor::FromValues(Dtype::f64, {entries}, values)});
  }
  std::vector<Argument> arguments;
  arguments.reserve(inputs.size() + lists.size() + outputs.size());
  const auto lower = [&](const std::vector<Named>& tensors) {
    std::vector<posgauge_tensor> lowered;
    for (const Named& named : tensors) {
      arguments.emplace_back(named.name.c_str(), named.tensor.dtype(), named.tensor.shape(),
                             named.tensor.bytes().data());
      lowered.push_back(arguments.back().argument());
    }
    return lowered;
  };
  std::vector<posgauge_tensor> in = lower(inputs);
  const std::vector<posgauge_tensor> listed = lower(lists);
  in.insert(in.end(), listed.begin(), listed.end());
  std::vector<posgauge_tensor> out = lower(outputs);
  const std::string scheme_name(Name(scheme));
  if (in_place) {
    // The kernel writes over its input; the caller's copy of x is the output tensor itself.
    for (const posgauge_tensor& input : in) {
      if (std::strcmp(input.name, "x") == 0) {
        std::memcpy(out[0].tensor.data, input.tensor.data, outputs[0].tensor.bytes().size());
      }
    }
  }
  std::vector<posgauge_tensor> in_aliased = in;
  if (in_place) {
    for (posgauge_tensor& input : in_aliased) {
      if (std::strcmp(input.name, "x") == 0) input.tensor.data = out[0].tensor.data;
    }
  }
  const posgauge_call call = {.size = sizeof(posgauge_call),
                              .num_scalars = static_cast<uint32_t>(scalars.size()),
                              .scheme = scheme_name.c_str(),
                              .quantity = info.kernel->quantity,
                              .scalars = scalars.data(),
                              .inputs = in_aliased.data(),
                              .outputs = out.data(),
                              .num_inputs = static_cast<uint32_t>(in_aliased.size()),
                              .num_outputs = static_cast<uint32_t>(out.size())};
  std::array<char, 512> why{};
  const int32_t status = info.kernel->run(&call, why.data(), why.size());
  why.back() = '\0';
  const std::string reason = Printable(why.data());
  if (status == POSGAUGE_UNSUPPORTED) throw Unsupported(reason);
  if (status != POSGAUGE_OK) {
    throw KernelFailure(fmt::format("{} answered {}: {}", info.name, status, reason));
  }
}

// The first dtype in which every position is exact.
Tensor PositionTensor(const TensorSpec& spec, Positions positions) {
  const auto exact = [&](Dtype dtype) {
    return std::ranges::all_of(positions, [&](double position) {
      if (IsFloat(dtype)) return RoundTo(FormatOf(dtype), position) == position;
      const double limit = dtype == Dtype::i32 ? 0x1p31 : 0x1p53;
      return std::trunc(position) == position && position >= -limit && position < limit;
    });
  };
  for (Dtype dtype : spec.dtypes) {
    if (exact(dtype)) {
      return Tensor::FromValues(dtype, {static_cast<int64_t>(positions.size())}, positions);
    }
  }
  throw Unsupported("positions are not exact in any dtype that the kernel takes");
}

// Against the end-to-end truth what posgauge hands over is a rounding of it, against the local
// truth it is exact. `frequencies` are the ones that the truth is computed from.
RotaryBound BoundOf(const KernelInfo& info, const Scheme& scheme, std::vector<double> frequencies,
                    double magnitude, bool local) {
  Contract contract = info.contract;
  GivenStages given;
  if (const TensorSpec* frequency = info.Input("frequency")) {
    contract.frequency_formula = FrequencyFormula::rn;
    // A pair of doubles is a rounding in both truths.
    const bool pair = info.Input("frequency_low") != nullptr;
    contract.frequency = pair ? Arithmetic::dd : ArithmeticOf(frequency->dtypes.front());
    if (local && !pair) given.frequency = contract.frequency;
  }
  if (const TensorSpec* table = info.Input("cos")) {
    contract.position = contract.frequency = contract.angle = contract.trig_arithmetic =
        Arithmetic::exact;
    contract.frequency_formula = FrequencyFormula::rn;
    contract.trig_ulps = 0;
    contract.table = ArithmeticOf(table->dtypes.front());
    if (local) given.table = contract.table;
  }
  return RotaryBound(contract, scheme, std::move(frequencies), magnitude, given);
}

}  // namespace

KernelInfo::KernelInfo(const posgauge_kernel& descriptor) : kernel(&descriptor) {
  if (descriptor.size < sizeof(posgauge_kernel)) {
    throw FormatError(fmt::format("kernel descriptor is {} bytes, this ABI needs {}",
                                  descriptor.size, sizeof(posgauge_kernel)));
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
  const bool needs_x = quantity == "rotate" || quantity == "rotate_backward";
  if (needs_x && (Input("x") == nullptr || outputs[0].name != "out")) {
    throw FormatError(fmt::format("kernel {}: {} takes x and yields out", name, quantity));
  }
  if (quantity != "frequencies" && Input("cos") == nullptr && Input("positions") == nullptr) {
    throw FormatError(fmt::format("kernel {} takes neither positions nor cos and sin", name));
  }
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

bool KernelInfo::Serves(const Scheme& scheme) const {
  const Rotary& layout = RotaryOf(scheme);
  const bool known = schemes.empty() || std::ranges::find(schemes, Name(scheme)) != schemes.end();
  const bool paired = quantity == "frequencies" || quantity == "table" ||
                      std::ranges::find(pairings, layout.pairing) != pairings.end();
  const int64_t widest = kernel->largest_rotary_dim;
  return known && paired && (widest == 0 || layout.rotary_dim <= widest);
}

// Tables by their positions, the oldest first.
struct Subject::Tables {
  static constexpr size_t kKept = 8;
  std::mutex mutex;
  std::deque<std::pair<std::vector<double>, TablePair>> kept;
};

Subject::Subject(const KernelInfo& info, const Scheme& scheme)
    : info_(info),
      scheme_(scheme),
      exact_(scheme),
      given_(exact_),
      tables_(std::make_shared<Tables>()),
      frequencies_(exact_.Frequencies(Dtype::f64).values),
      magnitude_(exact_.Magnitude(Dtype::f64).values[0]),
      bound_(BoundOf(info, scheme, frequencies_, magnitude_, false)),
      local_bound_(BoundOf(info, scheme, frequencies_, magnitude_, true)) {
  if (const TensorSpec* frequency = info_.Input("frequency")) {
    supplied_frequencies_ = exact_.EncloseFrequencies().values;
    // A pair of doubles is the real number to within the bound of `dd`.
    if (info_.Input("frequency_low") != nullptr) return;
    std::vector<double> handed;
    for (DoubleDouble& value : supplied_frequencies_) {
      value = {RoundTo(FormatOf(frequency->dtypes.front()), value.high), 0};
      handed.push_back(value.high);
    }
    const TensorSpec* magnitude = info_.Input("magnitude");
    const double factor = magnitude == nullptr
                              ? magnitude_
                              : RoundTo(FormatOf(magnitude->dtypes.front()), magnitude_);
    given_ = ExactRotation(layout(), supplied_frequencies_, {factor, 0});
    given_is_exact_ = false;
    local_bound_ = BoundOf(info, scheme, std::move(handed), factor, true);
  }
}

std::vector<std::string> Subject::NotCovered() const {
  if (TakesTable()) return {"frequency", "table"};
  if (info_.Input("frequency") != nullptr) return {"frequency"};
  return {};
}

TablePair Subject::SuppliedTable(Positions positions) const {
  {
    const std::lock_guard lock(tables_->mutex);
    for (const auto& [kept, table] : tables_->kept) {
      if (std::ranges::equal(kept, positions)) return table;
    }
  }
  const Dtype dtype = info_.Input("cos")->dtypes.front();
  const RoundedTable table = exact_.Table(positions, dtype);
  const std::vector<int64_t> shape = {static_cast<int64_t>(positions.size()), layout().Pairs()};
  TablePair supplied = {Tensor::FromValues(dtype, shape, table.cos.values),
                        Tensor::FromValues(dtype, shape, table.sin.values)};
  const std::lock_guard lock(tables_->mutex);
  if (tables_->kept.size() == Tables::kKept) tables_->kept.pop_front();
  tables_->kept.emplace_back(std::vector<double>(positions.begin(), positions.end()), supplied);
  return supplied;
}

namespace {

// What the kernel asked for by name, from what posgauge has.
std::vector<Named> InputsFor(const Subject& subject, Positions positions, const Tensor* x,
                             std::span<const DoubleDouble> frequencies) {
  std::vector<Named> inputs;
  std::optional<TablePair> table;
  for (const TensorSpec& spec : subject.info().inputs) {
    const Dtype dtype = spec.dtypes.front();
    const int64_t pairs = subject.layout().Pairs();
    const auto parts = [&](bool high) {
      std::vector<double> values;
      for (DoubleDouble value : frequencies) values.push_back(high ? value.high : value.low);
      return Tensor::FromValues(dtype, {pairs}, values);
    };
    if (spec.name == "x" && x != nullptr) {
      inputs.push_back({spec.name, *x});
    } else if (spec.name == "positions") {
      inputs.push_back({spec.name, PositionTensor(spec, positions)});
    } else if (spec.name == "frequency" || spec.name == "frequency_low") {
      inputs.push_back({spec.name, parts(spec.name == "frequency")});
    } else if (spec.name == "magnitude") {
      const double magnitude = subject.magnitude();
      inputs.push_back({spec.name, Tensor::FromValues(dtype, {1}, std::span(&magnitude, 1))});
    } else if (spec.name == "cos" || spec.name == "sin") {
      if (!table) table = subject.SuppliedTable(positions);
      inputs.push_back({spec.name, spec.name == "cos" ? table->cos : table->sin});
    } else {
      throw FormatError(fmt::format("kernel {}: input '{}' is not one that {} has",
                                    subject.info().name, spec.name, subject.info().quantity));
    }
  }
  return inputs;
}

Tensor Take(std::vector<Named>& tensors, std::string_view name) {
  for (Named& named : tensors) {
    if (named.name == name) return std::move(named.tensor);
  }
  return {};
}

}  // namespace

Subject::FrequencyOutput Subject::Frequencies() const {
  std::vector<Named> outputs;
  for (const TensorSpec& spec : info_.outputs) {
    const int64_t count = spec.name == "magnitude" ? 1 : layout().Pairs();
    outputs.push_back({spec.name, Poisoned(spec.dtypes.front(), {count})});
  }
  Call(info_, scheme_, InputsFor(*this, {}, nullptr, {}), outputs, false);
  FrequencyOutput result;
  for (const Named& named : outputs) {
    if (named.name == "frequency") {
      result.high = named.tensor.Values();
      const Arithmetic came_in = ArithmeticOf(named.tensor.dtype());
      const bool pair = std::ranges::find(outputs, "frequency_low", &Named::name) != outputs.end();
      if (!pair && !Holds(came_in, info_.contract.frequency)) {
        result.export_roundoff = UnitRoundoff(came_in);
      }
    }
    if (named.name == "frequency_low") result.low = named.tensor.Values();
    if (named.name == "magnitude") result.magnitude = named.tensor.Value(0);
  }
  result.low.resize(result.high.size());
  return result;
}

TablePair Subject::Table(Positions positions) const {
  std::vector<Named> outputs;
  for (const TensorSpec& spec : info_.outputs) {
    outputs.push_back(
        {spec.name, Poisoned(spec.dtypes.front(),
                             {static_cast<int64_t>(positions.size()), layout().Pairs()})});
  }
  Call(info_, scheme_, InputsFor(*this, positions, nullptr, supplied_frequencies_), outputs, false);
  return {Take(outputs, "cos"), Take(outputs, "sin")};
}

Tensor Subject::Rotate(Positions positions, const Tensor& x, bool in_place) const {
  if (in_place && info_.kernel->in_place == 0) {
    throw Unsupported("the kernel does not write over its input");
  }
  std::vector<Named> outputs = {{"out", Poisoned(x.dtype(), x.shape())}};
  Call(info_, scheme_, InputsFor(*this, positions, &x, supplied_frequencies_), outputs, in_place);
  return std::move(outputs[0].tensor);
}

}  // namespace posgauge
