#include "posgauge/verify/plain_case.h"

#include <algorithm>
#include <numeric>

#include "posgauge/reference/exact_equations.h"

namespace posgauge {

namespace {

bool IsPositions(std::string_view name) { return name.ends_with("positions"); }

int64_t Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// The first entries of each extent; nothing where one is too small.
std::optional<ExactTensor> Cropped(const ExactTensor& tensor, const std::vector<int64_t>& shape) {
  if (shape.size() != tensor.shape.size()) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > tensor.shape[i]) return std::nullopt;
  }
  ExactTensor cropped{shape, {}};
  for (int64_t flat = 0; flat < Product(shape); ++flat) {
    int64_t rest = flat, from = 0, step = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      from += rest % shape[i] * step;
      rest /= shape[i];
      step *= tensor.shape[i];
    }
    cropped.values.push_back(tensor.At(from));
  }
  return cropped;
}

// A list of a rotation whose entries are pairs, or count them.
nlohmann::ordered_json FollowPairs(nlohmann::ordered_json list, int64_t before, int64_t after) {
  if (static_cast<int64_t>(list.size()) == before && after < before) {
    list.erase(list.begin() + after, list.end());
    return list;
  }
  const auto whole = [](const auto& entry) { return entry.is_number_integer(); };
  if (!std::ranges::all_of(list, whole)) return list;
  int64_t left = after, sum = 0;
  for (const auto& entry : list) sum += entry.template get<int64_t>();
  if (sum != before) return list;
  for (auto& entry : list) {
    entry = std::min(left, entry.template get<int64_t>());
    left -= entry.template get<int64_t>();
  }
  return list;
}

}  // namespace

PlainCase PlainCase::Of(const CaseFile& file) {
  PlainCase plain{file.scheme, file.inputs};
  if (HasEquations(file.scheme) || file.quantity == "frequencies") return plain;
  const int64_t axes = AxesOf(file.scheme).count;
  std::vector<int64_t> shape = {static_cast<int64_t>(file.positions.size()) / axes};
  if (axes > 1) shape.push_back(axes);
  plain.inputs.tensors["positions"] = {shape, file.positions};
  if (file.x.size() > 0) plain.inputs.tensors["x"] = {file.x.shape(), file.x.Values()};
  return plain;
}

CaseFile PlainCase::ToFile(const KernelInfo& info) const {
  CaseFile file{scheme, info.quantity, {}, {}, {}};
  if (HasEquations(scheme)) {
    file.inputs = inputs;
    return file;
  }
  if (const ExactTensor* positions = inputs.Find("positions")) file.positions = positions->values;
  if (const ExactTensor* x = inputs.Find("x")) {
    file.x = Tensor::FromValues(info.io(), x->shape, x->values);
  }
  return file;
}

std::vector<std::vector<std::string>> TokenGroups(const PlainCase& plain) {
  std::vector<std::vector<std::string>> groups;
  for (const std::vector<std::string>& all : {std::vector<std::string>{"positions", "x"},
                                              {"query_positions", "q"},
                                              {"key_positions", "k", "v"}}) {
    std::vector<std::string> group;
    std::ranges::copy_if(all, std::back_inserter(group), [&](const std::string& name) {
      return plain.inputs.Find(name) != nullptr;
    });
    if (!group.empty()) groups.push_back(group);
  }
  return groups;
}

PlainCase WithTokens(const PlainCase& plain, const std::vector<std::string>& group,
                     const std::vector<size_t>& tokens) {
  PlainCase fewer = plain;
  for (const std::string& name : group) {
    const ExactTensor& from = plain.inputs[name];
    ExactTensor to{from.shape, {}};
    to.shape[0] = static_cast<int64_t>(tokens.size());
    const auto row =
        static_cast<std::ptrdiff_t>(from.values.size() / static_cast<size_t>(from.shape[0]));
    for (const size_t token : tokens) {
      const auto begin = from.values.begin() + static_cast<std::ptrdiff_t>(token) * row;
      to.values.insert(to.values.end(), begin, begin + row);
    }
    fewer.inputs.tensors[name] = std::move(to);
  }
  return fewer;
}

std::vector<std::string> ValueTensors(const PlainCase& plain) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : plain.inputs.tensors) {
    if (!IsPositions(name)) names.push_back(name);
  }
  return names;
}

int64_t CallHeads(const PlainCase& plain) {
  const ExactTensor* x = plain.inputs.Find("x");
  return x != nullptr && x->shape.size() == 3 ? x->shape[1] : 0;
}

PlainCase WithHeads(const PlainCase& plain, int64_t heads) {
  PlainCase fewer = plain;
  const ExactTensor& x = plain.inputs["x"];
  fewer.inputs.tensors["x"] = *Cropped(x, {x.shape[0], heads, x.shape[2]});
  return fewer;
}

std::optional<Scheme> WithFields(const Scheme& scheme, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json json = ToJson(scheme);
  for (const auto& [name, value] : fields.items()) {
    if (value.is_null()) {
      json.erase(name);
    } else {
      json[name] = value;
    }
  }
  if (IsRotary(scheme) && fields.contains("rotary_dim")) {
    const int64_t before = RotaryOf(scheme).Pairs(),
                  after = fields["rotary_dim"].get<int64_t>() / 2;
    for (auto& [name, value] : json.items()) {
      if (value.is_array()) value = FollowPairs(value, before, after);
    }
  }
  try {
    return SchemeFromJson(json);
  } catch (const ParameterError&) {
    return std::nullopt;
  }
}

std::optional<PlainCase> UnderScheme(const PlainCase& plain, const Scheme& scheme,
                                     std::string_view quantity) {
  PlainCase other{scheme, {}};
  const auto take = [&](const std::string& name, std::vector<int64_t> shape) {
    const ExactTensor* tensor = plain.inputs.Find(name);
    if (tensor == nullptr || tensor->shape.size() != shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = tensor->shape[i];
    }
    std::optional<ExactTensor> cropped = Cropped(*tensor, shape);
    if (cropped) other.inputs.tensors[name] = *std::move(cropped);
    return cropped.has_value();
  };
  if (HasEquations(scheme)) {
    const ExactEquations exact(scheme);
    const auto named = ParseVariant<EquationQuantity>("quantity", quantity);
    if (!exact.Yields(named)) return std::nullopt;
    for (const Weight& weight : exact.InputsOf(named)) {
      if (!take(std::string(weight.name), weight.shape)) return std::nullopt;
    }
    return other;
  }
  const auto positions = plain.inputs.tensors.find("positions");
  if (positions == plain.inputs.tensors.end()) return other;  // frequencies
  const int64_t axes = AxesOf(scheme).count;
  std::vector<int64_t> shape = {-1};
  if (axes > 1) shape.push_back(axes);
  if (!take("positions", shape)) return std::nullopt;
  if (plain.inputs.Find("x") == nullptr) return other;
  const bool fits = IsRotary(scheme) ? take("x", {-1, -1, RotaryOf(scheme).head_dim})
                                     : take("x", {-1, WidthOf(scheme)});
  if (!fits) return std::nullopt;
  return other;
}

}  // namespace posgauge
