#include <algorithm>
#include <array>
#include <set>

#include "posgauge/verify/faults/bank.h"

namespace posgauge {

namespace {

using Json = nlohmann::ordered_json;

// Shapes of tensors: a kernel that gets these wrong reads beside them.
const std::set<std::string, std::less<>> kShapes = {
    "heads",         "head_dim",    "rotary_dim",     "width",  "rows",     "section",
    "mlp_width",     "model_width", "sandwich_width", "kernel", "values",   "per_head",
    "window_h",      "window_w",    "grid_h",         "grid_w", "target_h", "target_w",
    "num_positions", "weighted",    "padding_index"};

bool SetField(Scheme& scheme, const std::string& field, const Json& value) {
  Json json = ToJson(scheme);
  if (!json.contains(field) || json[field] == value) return false;
  json[field] = value;
  try {
    scheme = SchemeFromJson(json);
  } catch (const ParameterError&) {
    return false;  // no kernel can mean that
  }
  return true;
}

// The value of a field where nobody sets it.
Json DefaultOf(const Scheme& scheme, const std::string& field) {
  return std::visit([&]<class Params>(const Params&) { return ToJson(Scheme(Params{}))[field]; },
                    scheme);
}

Fault Ignored(const FieldInfo& field, std::string shown) {
  if (shown.empty() || shown == "null") shown = "none";
  return {.id = field.name + "_ignored",
          .cause = fmt::format("{} does not reach the kernel, which uses {}", field.name, shown),
          .fix = fmt::format("hand the config's {} to the kernel", field.name),
          .shows = fmt::format("{} is not {}", field.name, shown),
          .change = ChangeParameters{[name = field.name](Scheme& scheme) {
            return ToJson(scheme).contains(name) && SetField(scheme, name, DefaultOf(scheme, name));
          }}};
}

// Of two spellings the other one.
Fault Flipped(const FieldInfo& field) {
  return {.id = field.name + "_flipped",
          .cause = fmt::format("{} is taken for the other of its two values", field.name),
          .fix = fmt::format("read {} from the config, and test both values", field.name),
          .shows = "at once",
          .change = ChangeParameters{[field](Scheme& scheme) {
            const Json json = ToJson(scheme);
            if (!json.contains(field.name)) return false;
            const Json& value = json[field.name];
            if (value.is_boolean()) return SetField(scheme, field.name, !value.get<bool>());
            if (!value.is_string() || field.choices.size() != 2) return false;
            return SetField(scheme, field.name, field.choices[value == field.choices[0] ? 1 : 0]);
          }}};
}

Fault Chosen(const FieldInfo& field, const std::string& choice) {
  return {.id = field.name + "_" + choice,
          .cause = fmt::format("{} is taken for {}, whatever the config says", field.name, choice),
          .fix = fmt::format("hand the config's {} to the kernel", field.name),
          .shows = fmt::format("{} is not {}", field.name, choice),
          .change = ChangeParameters{[name = field.name, choice](Scheme& scheme) {
            return SetField(scheme, name, choice);
          }}};
}

Fault Shifted(const FieldInfo& field, int by) {
  return {.id = field.name + (by > 0 ? "_plus_one" : "_minus_one"),
          .cause = fmt::format("{} is taken one too {}", field.name, by > 0 ? "large" : "small"),
          .fix = fmt::format("compare with < and <= at {} itself", field.name),
          .shows = "at the boundary that it sets",
          .change = ChangeParameters{[name = field.name, by](Scheme& scheme) {
            const Json json = ToJson(scheme);
            if (!json.contains(name) || !json[name].is_number_integer()) return false;
            return SetField(scheme, name, json[name].get<int64_t>() + by);
          }}};
}

Fault Computed(const std::string& field, const std::string& how, const std::string& cause,
               const std::string& fix, double (*of)(double)) {
  return {.id = field + "_" + how,
          .cause = cause,
          .fix = fix,
          .shows = fmt::format("{} is not 1", field),
          .change = ChangeParameters{[field, of](Scheme& scheme) {
            const Json json = ToJson(scheme);
            if (!json.contains(field) || !json[field].is_number()) return false;
            return SetField(scheme, field, of(json[field].get<double>()));
          }}};
}

double Squared(double value) { return value * value; }
double Inverted(double value) { return 1 / value; }

Fault Exchanged(const std::string& a, const std::string& b) {
  return {.id = fmt::format("{}_and_{}_swapped", a, b),
          .cause = fmt::format("{} and {} are exchanged", a, b),
          .fix = "name the arguments where they are handed over",
          .shows = "they differ",
          .change = ChangeParameters{[a, b](Scheme& scheme) {
            Json json = ToJson(scheme);
            if (!json.contains(a) || !json.contains(b) || json[a] == json[b]) return false;
            std::swap(json[a], json[b]);
            try {
              scheme = SchemeFromJson(json);
            } catch (const ParameterError&) {
              return false;
            }
            return true;
          }}};
}

// What public reports are of.
struct Report {
  std::string_view id, kind, link;
};
constexpr auto kReports = std::to_array<Report>({
    {"base_ignored", "BASE_HARDCODED", "https://github.com/deepspeedai/DeepSpeed/issues/4442"},
    {"base_ignored", "BASE_HARDCODED", "https://github.com/google/gemma.cpp/issues/986"},
    {"pairing_flipped", "GPTJ_FOR_NEOX", "https://github.com/xLLM-AI/xllm/pull/853"},
    {"pairing_flipped", "GPTJ_FOR_NEOX", "https://github.com/vllm-project/vllm-ascend/pull/7341"},
    {"pairing_flipped", "GPTJ_FOR_NEOX", "https://github.com/kvark/meganeura/pull/38"},
    {"pairing_flipped", "NEOX_FOR_GPTJ", "https://github.com/qualcomm/vllm-qaic/pull/59"},
    {"pairing_flipped", "CONVERT_PERMUTE", "https://github.com/huggingface/nanotron/pull/427"},
    {"pairing_flipped", "FUSION_DROPS_ATTR", "https://github.com/microsoft/onnxruntime/pull/29261"},
    {"factor_inverted", "PI_WRONG_PLACE", "https://github.com/keras-team/keras-hub/pull/1605"},
    {"factor_ignored", "PI_IGNORED", "https://github.com/Blaizzy/mlx-vlm/pull/1709"},
    {"factor_ignored", "PI_IGNORED", "https://github.com/lablup/mlxcel/issues/1340"},
    {"truncate_flipped", "YARN_TRUNCATE", "https://github.com/sgl-project/sglang/pull/14270"},
    {"attention_factor_ignored", "KEY_NAME",
     "https://github.com/deepseek-ai/DeepSeek-R1/issues/684"},
    {"attention_factor_ignored", "KEY_NAME", "https://github.com/vllm-project/vllm/pull/29172"},
    {"extrapolation_factor_ignored", "SENTINEL_USED",
     "https://github.com/ggml-org/llama.cpp/pull/2268"},
    {"beta_fast_and_beta_slow_swapped", "BETA_SWAP",
     "https://github.com/pytorch/torchtitan/pull/3787"},
    {"mscale_all_dim_ignored", "DEFAULT_ZERO", "https://github.com/ggml-org/llama.cpp/pull/18006"},
    {"p2c_index_flipped", "DEBERTA_P2C_SIGN", "https://github.com/microsoft/DeBERTa/issues/162"},
    {"p2c_index_flipped", "DEBERTA_P2C_SIGN", "https://github.com/microsoft/DeBERTa/issues/47"},
    {"p2c_index_flipped", "DEBERTA_P2C_SIGN", "https://github.com/nntrainer/nntrainer/pull/3982"},
    {"order_contiguous", "MROPE_BLOCK_FOR_INTERLEAVE", "https://github.com/alibaba/MNN/pull/4133"},
    {"order_interleaved", "MROPE_INTERLEAVE_FOR_BLOCK",
     "https://github.com/Blaizzy/mlx-vlm/pull/576"},
});

}  // namespace

std::vector<Fault> FaultsOfParameters() {
  std::vector<Fault> faults;
  std::set<std::string> seen;
  for (const SchemeInfo& scheme : AllSchemes()) {
    for (FieldInfo field : scheme.fields) {
      // The third pairing is of one scheme's vision models.
      if (field.name == "pairing") field.choices = {"half", "interleaved"};
      if (kShapes.contains(field.name) || !seen.insert(field.name).second) continue;
      if (field.type.starts_with("list")) {
        faults.push_back(Ignored(field, ""));
      } else if (field.type == "true or false" || field.choices.size() == 2) {
        faults.push_back(Flipped(field));
      } else if (!field.choices.empty()) {
        for (const std::string& choice : field.choices) {
          if (choice != "refuse") faults.push_back(Chosen(field, choice));
        }
      } else {
        faults.push_back(Ignored(field, field.default_value));
        if (field.type != "integer") continue;
        faults.push_back(Shifted(field, 1));
        faults.push_back(Shifted(field, -1));
      }
    }
  }
  for (const char* field : {"factor", "attention_factor", "position_scale", "frequency_scale",
                            "interpolation_scale", "extrapolation_factor", "scale"}) {
    faults.push_back(Computed(field, "squared", fmt::format("{} is applied twice", field),
                              "apply it in one place", Squared));
    faults.push_back(Computed(field, "inverted",
                              fmt::format("{} divides where it should multiply, or the other way "
                                          "round",
                                          field),
                              fmt::format("use {} once, in the sense of the config", field),
                              Inverted));
  }
  for (const auto& [a, b] :
       std::to_array<std::array<const char*, 2>>({{"beta_fast", "beta_slow"},
                                                  {"low_frequency_factor", "high_frequency_factor"},
                                                  {"short_factor", "long_factor"},
                                                  {"short_mscale", "long_mscale"},
                                                  {"mscale", "mscale_all_dim"},
                                                  {"scale_h", "scale_w"},
                                                  {"pretrained_h", "pretrained_w"}})) {
    faults.push_back(Exchanged(a, b));
  }
  for (const Report& report : kReports) {
    const auto fault = std::ranges::find(faults, report.id, &Fault::id);
    Require(fault != faults.end(), "no fault {}, of which there are reports", report.id);
    if (std::ranges::find(fault->kinds, report.kind) == fault->kinds.end()) {
      fault->kinds.emplace_back(report.kind);
    }
    fault->links.emplace_back(report.link);
  }
  return faults;
}

}  // namespace posgauge
