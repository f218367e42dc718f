#include "posgauge/schemes/base/scheme.h"

#include <utility>

namespace posgauge {

namespace {

using nlohmann::json;

template <class Value>
struct TypeName;
template <>
struct TypeName<double> {
  static constexpr std::string_view kText = "number";
};
template <>
struct TypeName<int64_t> {
  static constexpr std::string_view kText = "integer";
};
template <>
struct TypeName<bool> {
  static constexpr std::string_view kText = "true or false";
};
template <>
struct TypeName<std::vector<double>> {
  static constexpr std::string_view kText = "list of numbers";
};
template <>
struct TypeName<std::vector<int64_t>> {
  static constexpr std::string_view kText = "list of integers";
};
template <class Enum>
requires std::is_enum_v<Enum>
struct TypeName<Enum> {
  static constexpr std::string_view kText = "variant";
};
template <class Value>
struct TypeName<std::optional<Value>> : TypeName<Value> {};

template <class Params>
SchemeInfo Describe() {
  SchemeInfo info{std::string(Params::kName),
                  std::string(Params::kSummary),
                  std::string(Params::kEquation),
                  std::string(Params::kSource),
                  {},
                  {}};
  Params defaults;
  Params::Fields(defaults, [&](std::string_view name, auto& value, std::string_view description) {
    using Value = std::remove_reference_t<decltype(value)>;
    FieldInfo field{std::string(name),
                    std::string(TypeName<Value>::kText),
                    ToJson(value).dump(),
                    std::string(description),
                    {}};
    if constexpr (std::is_enum_v<Value>) {
      for (std::string_view choice : kVariantNames<Value>) field.choices.emplace_back(choice);
    }
    info.fields.push_back(std::move(field));
  });
  info.weights = WeightsOf(WithEverySwitch<Params>(true));
  return info;
}

template <size_t... Index>
std::vector<SchemeInfo> DescribeAll(std::index_sequence<Index...>) {
  return {Describe<std::variant_alternative_t<Index, Scheme>>()...};
}

template <size_t... Index>
std::optional<Scheme> DefaultOf(std::string_view name, std::index_sequence<Index...>) {
  std::optional<Scheme> scheme;
  ((std::variant_alternative_t<Index, Scheme>::kName == name
        ? void(scheme = std::variant_alternative_t<Index, Scheme>{})
        : void()),
   ...);
  return scheme;
}

constexpr auto kAll = std::make_index_sequence<std::variant_size_v<Scheme>>{};

Scheme DefaultOf(std::string_view name) {
  if (auto scheme = DefaultOf(name, kAll)) return *scheme;
  std::vector<std::string> names;
  for (const SchemeInfo& info : AllSchemes()) names.push_back(info.name);
  throw ParameterError(
      fmt::format("scheme must be one of {}, got {}", fmt::join(names, ", "), Shown(name)));
}

void SetField(Scheme& scheme, std::string_view name, const json& value) {
  bool found = false;
  std::vector<std::string> names;
  std::visit(
      [&]<class Params>(Params& params) {
        Params::Fields(params, [&](std::string_view field, auto& target, std::string_view) {
          names.emplace_back(field);
          if (field != name) return;
          found = true;
          FromJson(fmt::format("{}.{}", Params::kName, field), value, target);
        });
      },
      scheme);
  Require(found, "{} has no field {}: its fields are {}", Name(scheme), Shown(name),
          fmt::join(names, ", "));
}

// A value on the command line is JSON where it parses (numbers, true, null, lists), else a string:
// so are NaN, infinity and what overflows to it, which no field takes. Moved, as a copy of what is
// nested deeply takes as deep a stack.
json ParseValue(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? json(text) : std::move(value);
}

// Sets one "field=value"; returns the field's name.
std::string SetField(Scheme& scheme, const std::string& setting) {
  const size_t equals = setting.find('=');
  Require(equals != std::string::npos && equals > 0, "a setting must be field=value, got {}",
          Shown(setting));
  std::string field = setting.substr(0, equals);
  SetField(scheme, field, ParseValue(setting.substr(equals + 1)));
  return field;
}

}  // namespace

std::vector<SchemeInfo> AllSchemes() { return DescribeAll(kAll); }

std::string_view SummaryOf(const Scheme& scheme) {
  return std::visit([]<class Params>(const Params&) { return Params::kSummary; }, scheme);
}

std::string_view Name(const Scheme& scheme) {
  return std::visit([]<class Params>(const Params&) { return Params::kName; }, scheme);
}

void Validate(const Scheme& scheme) {
  try {
    std::visit([](const auto& params) { params.Validate(); }, scheme);
  } catch (const ParameterError& error) {
    throw ParameterError(fmt::format("{}.{}", Name(scheme), error.what()));
  }
}

bool IsRotary(const Scheme& scheme) {
  return std::visit([]<class Params>(const Params&) { return Rotates<Params>; }, scheme);
}

const Rotary& RotaryOf(const Scheme& scheme) {
  return std::visit(
      []<class Params>(const Params& params) -> const Rotary& {
        if constexpr (Rotates<Params>) return params.rotary;
        throw ParameterError(
            fmt::format("{} does not rotate: it is {}", Params::kName, Params::kSummary));
      },
      scheme);
}

Rotary& RotaryOf(Scheme& scheme) { return const_cast<Rotary&>(RotaryOf(std::as_const(scheme))); }

int64_t WidthOf(const Scheme& scheme) {
  return std::visit(
      []<class Params>(const Params& params) -> int64_t {
        if constexpr (Adds<Params>) return params.width;
        throw ParameterError(
            fmt::format("{} adds no rows to embeddings: {}", Params::kName, Params::kSummary));
      },
      scheme);
}

bool HasEquations(const Scheme& scheme) {
  return std::visit([]<class Params>(const Params&) { return ByEquations<Params>; }, scheme);
}

std::optional<int64_t> PositionCount(const Scheme& scheme) {
  return std::visit(
      [](const auto& params) -> std::optional<int64_t> {
        if constexpr (requires { params.PositionCount(); }) return params.PositionCount();
        return std::nullopt;
      },
      scheme);
}

bool ActsInAttention(const Scheme& scheme) {
  return std::visit([]<class Params>(const Params&) { return Attends<Params>; }, scheme);
}

const Attention& AttentionOf(const Scheme& scheme) {
  return std::visit(
      []<class Params>(const Params& params) -> const Attention& {
        if constexpr (Attends<Params>) return params.attention;
        throw ParameterError(
            fmt::format("{} does not act in attention: it is {}", Params::kName, Params::kSummary));
      },
      scheme);
}

std::vector<Weight> WeightsOf(const Scheme& scheme) {
  return std::visit([](const auto& params) { return WeightsOf(params); }, scheme);
}

int64_t FrequencyCount(const Scheme& scheme) {
  return std::visit(
      []<class Params>(const Params& params) {
        if constexpr (Rotates<Params>) {
          return params.rotary.Pairs();
        } else if constexpr (AddsWaves<Params>) {
          return params.Waves();
        } else {
          return int64_t{0};
        }
      },
      scheme);
}

Axes AxesOf(const Scheme& scheme) {
  return std::visit(
      []<class Params>(const Params& params) -> Axes {
        Axes axes;
        if constexpr (CountsAxes<Params>) {
          axes.count = params.AxisCount();
          for (int64_t pair = 0; pair < params.rotary.Pairs(); ++pair) {
            axes.of_pair.push_back(params.AxisOf(pair));
          }
        }
        return axes;
      },
      scheme);
}

std::string Text(const Scheme& scheme) {
  std::string text(Name(scheme));
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const auto& [name, value] : fields.items()) {
    if (name == "scheme" || value.is_null()) continue;
    text +=
        fmt::format(" {}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

nlohmann::ordered_json ToJson(const Scheme& scheme) {
  nlohmann::ordered_json object;
  object["scheme"] = std::string(Name(scheme));
  std::visit(
      [&]<class Params>(const Params& params) {
        Params::Fields(params, [&](std::string_view name, const auto& value, std::string_view) {
          object[std::string(name)] = ToJson(value);
        });
      },
      scheme);
  return object;
}

Scheme SchemeFromJson(const json& object) {
  Require(object.is_object() && object.contains("scheme") && object["scheme"].is_string(),
          "a scheme must be an object with a string 'scheme', got {}", Shown(object));
  Scheme scheme = DefaultOf(object["scheme"].get_ref<const std::string&>());
  for (const auto& [name, value] : object.items()) {
    if (name != "scheme") SetField(scheme, name, value);
  }
  Validate(scheme);
  return scheme;
}

Scheme ParseScheme(std::string_view name, const std::vector<std::string>& settings) {
  Scheme scheme = DefaultOf(name);
  bool head_dim = false, rotary_dim = false;
  for (const std::string& setting : settings) {
    const std::string field = SetField(scheme, setting);
    head_dim |= field == "head_dim";
    rotary_dim |= field == "rotary_dim";
  }
  if (IsRotary(scheme)) {
    Rotary& rotary = RotaryOf(scheme);
    if (head_dim && !rotary_dim) rotary.rotary_dim = rotary.head_dim;
    if (rotary_dim && !head_dim) rotary.head_dim = rotary.rotary_dim;
  }
  Validate(scheme);
  return scheme;
}

void Apply(Scheme& scheme, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) SetField(scheme, setting);
  Validate(scheme);
}

}  // namespace posgauge
