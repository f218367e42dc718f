#include "posgauge/schemes/base/scalars.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace posgauge {

namespace {

template <class Value>
concept Number = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;

template <Number Value>
void AppendScalar(std::vector<Scalar>& scalars, std::string_view field, const Value& value) {
  scalars.emplace_back(field, static_cast<double>(value));
}

template <Number Value>
void AppendScalar(std::vector<Scalar>& scalars, std::string_view field,
                  const std::optional<Value>& value) {
  if (value) AppendScalar(scalars, field, *value);
}

template <class Value>
inline constexpr bool kIsList = false;
template <>
inline constexpr bool kIsList<std::optional<std::vector<double>>> = true;
template <>
inline constexpr bool kIsList<std::vector<int64_t>> = true;

template <class List>
requires kIsList<List>
void AppendScalar(std::vector<Scalar>&, std::string_view, const List&) {}

template <class Value>
void AppendList(std::vector<NamedList>&, std::string_view, const Value&) {}
void AppendList(std::vector<NamedList>& lists, std::string_view field,
                const std::optional<std::vector<double>>& value) {
  if (value) lists.emplace_back(field, *value);
}
void AppendList(std::vector<NamedList>& lists, std::string_view field,
                const std::vector<int64_t>& value) {
  lists.emplace_back(field, std::vector<double>(value.begin(), value.end()));
}

void FromScalar(const std::string& field, double scalar, double& value) {
  Require(std::isfinite(scalar), "{} must be finite, got {}", field, scalar);
  value = scalar;
}

void FromScalar(const std::string& field, double scalar, int64_t& value) {
  // 2^53: beyond it a double no longer says which integer was meant.
  Require(std::trunc(scalar) == scalar && std::fabs(scalar) <= 0x1p53,
          "{} must be an integer within 2^53, got {}", field, scalar);
  value = static_cast<int64_t>(scalar);
}

void FromScalar(const std::string& field, double scalar, bool& value) {
  Require(scalar == 0 || scalar == 1, "{} must be 0 or 1, got {}", field, scalar);
  value = scalar == 1;
}

template <class Enum>
requires std::is_enum_v<Enum>
void FromScalar(const std::string& field, double scalar, Enum& value) {
  constexpr auto& names = kVariantNames<Enum>;
  int64_t index = -1;
  FromScalar(field, scalar, index);
  Require(index >= 0 && index < static_cast<int64_t>(names.size()),
          "{} must be an index into {}, got {}", field, fmt::join(names, ", "), scalar);
  value = static_cast<Enum>(index);
}

// Sets `value` from the scalar of that name; says whether it was there.
template <Number Value>
bool Take(std::span<const Scalar> scalars, std::string_view scheme, std::string_view name,
          Value& value) {
  const auto found = std::find_if(scalars.begin(), scalars.end(),
                                  [&](const Scalar& s) { return s.first == name; });
  if (found == scalars.end()) return false;
  FromScalar(fmt::format("{}.{}", scheme, name), found->second, value);
  return true;
}

template <Number Value>
void TakeField(std::span<const Scalar> scalars, std::string_view scheme, std::string_view name,
               Value& value) {
  Require(Take(scalars, scheme, name, value), "{}.{} is missing from the scalars", scheme, name);
}

template <Number Value>
void TakeField(std::span<const Scalar> scalars, std::string_view scheme, std::string_view name,
               std::optional<Value>& value) {
  if (!Take(scalars, scheme, name, value.emplace())) value.reset();
}

template <class List>
requires kIsList<List>
void TakeField(std::span<const Scalar>, std::string_view, std::string_view, List&) {}

const std::vector<double>* Find(std::span<const NamedList> lists, std::string_view field) {
  const auto found =
      std::find_if(lists.begin(), lists.end(), [&](const auto& l) { return l.first == field; });
  return found == lists.end() ? nullptr : &found->second;
}

template <class Value>
void TakeList(std::span<const NamedList>, std::string_view, std::string_view, Value&) {}
void TakeList(std::span<const NamedList> lists, std::string_view, std::string_view field,
              std::optional<std::vector<double>>& value) {
  const std::vector<double>* list = Find(lists, field);
  value.reset();
  if (list != nullptr) value = *list;
}
void TakeList(std::span<const NamedList> lists, std::string_view scheme, std::string_view field,
              std::vector<int64_t>& value) {
  const std::vector<double>* list = Find(lists, field);
  Require(list != nullptr, "{}.{} is missing from the lists", scheme, field);
  value.resize(list->size());
  for (size_t i = 0; i < value.size(); ++i) {
    FromScalar(fmt::format("{}.{}[{}]", scheme, field, i), (*list)[i], value[i]);
  }
}

// Every one of `given` is one of `fields`, once.
template <class Named>
void RequireKnown(std::string_view scheme, std::span<const Named> given,
                  const std::vector<std::string>& fields) {
  for (const Named& one : given) {
    Require(std::find(fields.begin(), fields.end(), one.first) != fields.end(),
            "{} has no field '{}': its fields are {}", scheme, one.first, fmt::join(fields, ", "));
    Require(std::count_if(given.begin(), given.end(),
                          [&](const Named& other) { return other.first == one.first; }) == 1,
            "{}.{} is given twice", scheme, one.first);
  }
}

}  // namespace

std::vector<Scalar> ScalarsOf(const Scheme& scheme) {
  std::vector<Scalar> scalars;
  std::visit(
      [&]<class Params>(const Params& params) {
        Params::Fields(params, [&](std::string_view name, const auto& value, std::string_view) {
          AppendScalar(scalars, name, value);
        });
      },
      scheme);
  return scalars;
}

std::vector<NamedList> ListsOf(const Scheme& scheme) {
  std::vector<NamedList> lists;
  std::visit(
      [&]<class Params>(const Params& params) {
        Params::Fields(params, [&](std::string_view name, const auto& value, std::string_view) {
          AppendList(lists, name, value);
        });
      },
      scheme);
  return lists;
}

std::vector<std::string> ListFields(std::string_view name) {
  std::vector<std::string> fields;
  std::visit(
      [&]<class Params>(const Params& params) {
        Params::Fields(params,
                       [&]<class Value>(std::string_view field, const Value&, std::string_view) {
                         if constexpr (kIsList<Value>) fields.emplace_back(field);
                       });
      },
      ParseScheme(name, {}));
  return fields;
}

Scheme SchemeFromScalars(std::string_view name, std::span<const Scalar> scalars,
                         std::span<const NamedList> lists) {
  Scheme scheme = ParseScheme(name, {});
  std::vector<std::string> scalar_fields;
  std::visit(
      [&]<class Params>(Params& params) {
        Params::Fields(params,
                       [&]<class Value>(std::string_view field, Value& value, std::string_view) {
                         if constexpr (!kIsList<Value>) scalar_fields.emplace_back(field);
                         TakeField(scalars, name, field, value);
                         TakeList(lists, name, field, value);
                       });
      },
      scheme);
  RequireKnown(name, scalars, scalar_fields);
  RequireKnown(name, lists, ListFields(name));
  Validate(scheme);
  return scheme;
}

}  // namespace posgauge
