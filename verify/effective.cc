#include "posgauge/verify/effective.h"

#include <array>
#include <cmath>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge {

namespace {

using nlohmann::json;

// Tensors have names of their own; the other fields are scalars.
constexpr std::array<std::string_view, 2> kLists = {"inv_freq", "slopes"};
constexpr std::string_view kLayers = "layers.";

// Calls visit(name, value) for every scalar.
template <class Visit>
void VisitScalars(Effective& effective, Visit&& visit) {
  visit("scheme", effective.scheme);
  visit("attention_factor", effective.attention_factor);
  visit("softmax_multiplier", effective.softmax_multiplier);
  visit("logit_scale", effective.logit_scale);
  visit("rotary_dim", effective.rotary_dim);
  visit("rotary_offset", effective.rotary_offset);
  visit("pairing", effective.pairing);
  visit("num_buckets", effective.num_buckets);
  visit("max_distance", effective.max_distance);
  visit("bidirectional", effective.bidirectional);
}

void RequireHeldDtype(const std::string& name, Dtype dtype) {
  Require(dtype == Dtype::f64 || dtype == Dtype::f32 || dtype == Dtype::bf16 || dtype == Dtype::f16,
          "{} must be f64, f32, bf16 or f16, got {}", name, Name(dtype));
}

std::optional<HeldNumbers>& ListOf(Effective& effective, std::string_view name) {
  return name == "slopes" ? effective.slopes : effective.inv_freq;
}

// A scalar by its name; whether there is one of that name.
bool SetScalar(Effective& effective, std::string_view key, const std::string& name,
               const json& value) {
  bool found = false;
  VisitScalars(effective, [&](std::string_view scalar, auto& field) {
    if (scalar != key) return;
    FromJson(name, value, field);
    found = true;
  });
  if (key == "scheme" && effective.scheme) {
    bool known = false;
    for (const SchemeInfo& info : AllSchemes()) known = known || info.name == *effective.scheme;
    Require(known, "{} must be a scheme (posgauge schemes), got {}", name, Shown(value));
  }
  return found;
}

// Decimal numbers are rounded to the dtype: 0.8659643 is what prints a binary32 number.
HeldNumbers NumbersOf(const std::string& name, const json& list, Dtype dtype) {
  HeldNumbers numbers{.dtype = dtype};
  FromJson(name, list, numbers.values);
  for (double& value : numbers.values) value = RoundTo(FormatOf(dtype), value);
  return numbers;
}

Effective BlockOf(const std::string& at, const json& block) {
  Require(block.is_object(), "{}must be an object, got {}", at.empty() ? "the file " : at + " ",
          Shown(block));
  const auto name = [&](std::string_view key) {
    return at.empty() ? std::string(key) : fmt::format("{}.{}", at, key);
  };
  Effective effective;
  for (const auto& [key, value] : block.items()) {
    const bool told_elsewhere =
        at.empty() && (key == "version" || key == "source" || key == "layers");
    if (told_elsewhere || key == "dtype") continue;
    if (key != kLists[0] && key != kLists[1]) {
      Require(SetScalar(effective, key, name(key), value), "{} is not understood", name(key));
      continue;
    }
    Require(block.contains("dtype"),
            "{} is missing: f64, f32, bf16 or f16 tells in which numbers {} is held", name("dtype"),
            name(key));
    std::string word;
    FromJson(name("dtype"), block["dtype"], word);
    const Dtype dtype = ParseFloatDtype(name("dtype"), word);
    RequireHeldDtype(name("dtype"), dtype);
    ListOf(effective, key) = NumbersOf(name(key), value, dtype);
  }
  return effective;
}

EffectiveFile FromJsonFile(const json& whole) {
  EffectiveFile file;
  file.everywhere = BlockOf("", whole);
  Require(whole.contains("version") && whole["version"] == 1, "version must be 1, got {}",
          whole.contains("version") ? Shown(whole["version"]) : "none");
  if (whole.contains("source")) FromJson("source", whole["source"], file.source);
  if (!whole.contains("layers")) return file;
  Require(whole["layers"].is_object(), "layers must be an object, got {}", Shown(whole["layers"]));
  for (const auto& [layer, block] : whole["layers"].items()) {
    file.layers[layer] = BlockOf(fmt::format("layers.{}", layer), block);
  }
  return file;
}

// "layers.3.inv_freq" as {"3", "inv_freq"}; {"", name} where it holds in every layer.
std::pair<std::string, std::string> SplitName(const std::string& name) {
  if (!name.starts_with(kLayers)) return {"", name};
  const size_t dot = name.rfind('.');
  Require(dot > kLayers.size(), "{} must be layers.LAYER.FIELD", Shown(name));
  return {name.substr(kLayers.size(), dot - kLayers.size()), name.substr(dot + 1)};
}

// A word as JSON has it: metadata of safetensors is text alone.
json WordOf(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_number() || value.is_boolean() ? value : json(text);
}

EffectiveFile FromSafetensors(const Safetensors& content) {
  EffectiveFile file;
  const auto block = [&](const std::string& layer) -> Effective& {
    return layer.empty() ? file.everywhere : file.layers[layer];
  };
  for (const auto& [name, tensor] : content.tensors) {
    const auto [layer, field] = SplitName(name);
    Require(field == kLists[0] || field == kLists[1],
            "tensor {} is not understood: they are inv_freq and slopes, or layers.LAYER.inv_freq",
            Shown(name));
    Require(tensor.shape().size() == 1, "tensor {} must have one axis, got {}", Shown(name),
            tensor.shape().size());
    RequireHeldDtype(fmt::format("the dtype of tensor {}", Shown(name)), tensor.dtype());
    HeldNumbers numbers{.dtype = tensor.dtype(), .values = tensor.Values()};
    for (const double value : numbers.values) {
      Require(std::isfinite(value), "tensor {} must be finite, got {}", Shown(name), value);
    }
    ListOf(block(layer), field) = std::move(numbers);
  }
  for (const auto& [name, text] : content.metadata) {
    if (name == "source") {
      file.source = text;
    } else if (name != "format") {  // what writers of tensors put there
      const auto [layer, field] = SplitName(name);
      Require(SetScalar(block(layer), field, name, WordOf(text)), "metadata {} is not understood",
              Shown(name));
    }
  }
  return file;
}

}  // namespace

Effective Effective::With(const Effective& own) const {
  if (own.scheme == "none") return own;  // of a layer without rotation nothing else holds
  Effective whole = own;
  Effective base = *this;
  VisitScalars(base, [&](std::string_view name, const auto& value) {
    VisitScalars(whole, [&](std::string_view other, auto& field) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::decay_t<decltype(field)>>) {
        if (name == other && !field) field = value;
      }
    });
  });
  for (const std::string_view name : kLists) {
    if (!ListOf(whole, name)) ListOf(whole, name) = ListOf(base, name);
  }
  return whole;
}

EffectiveFile ReadEffective(const std::filesystem::path& path) {
  const bool tensors = path.extension() == ".safetensors";
  const Safetensors content = tensors ? ReadSafetensors(path) : Safetensors{};
  const json whole = tensors ? json() : ReadJson(path);
  try {
    EffectiveFile file = tensors ? FromSafetensors(content) : FromJsonFile(whole);
    file.path = path.string();
    bool says = !file.everywhere.IsEmpty();
    for (const auto& [layer, effective] : file.layers) says = says || !effective.IsEmpty();
    Require(says, "nothing is said of any layer: inv_freq, pairing, attention_factor, ...");
    return file;
  } catch (const ParameterError& error) {
    throw FormatError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace posgauge
