#include <algorithm>
#include <bit>
#include <cmath>

#include "posgauge/verify/identify/curve_fit.h"
#include "posgauge/verify/identify/identity.h"

namespace posgauge {

namespace {

using alibi::Form;
using alibi::Params;

// Slices of a larger model that are looked for, heads in all; more agree with any two slopes.
constexpr int64_t kMoreHeads = 64;

// A bias matrix, a head at a time, with what its rounding allows.
struct Biases {
  size_t heads = 0, queries = 0, keys = 0;
  std::vector<double> values;
  double roundoff = 0;
  bool row_shift = false;

  double At(size_t head, size_t query, size_t key) const {
    return values[(head * queries + query) * keys + key];
  }
};

double UnitBias(Form form, double query, double key, double last) {
  switch (form) {
    case Form::relative:
      return key - query;
    case Form::symmetric:
      return -std::fabs(query - key);
    case Form::key:
      return key;
    case Form::key_from_last:
      break;
  }
  return key - last;
}

// Slopes with which the form gives every bias that is finite; nothing where none do. Where rows are
// known up to a number, differences from the row's last finite key count.
std::optional<std::vector<double>> SlopesOf(const Answers& answers, const Biases& biases,
                                            Form form) {
  std::vector<double> slopes;
  const double last = answers.key_positions.back();
  for (size_t head = 0; head < biases.heads; ++head) {
    double slope = 0, farthest = 0;
    std::vector<std::array<double, 3>> points;  // unit bias, bias, size of what was subtracted
    for (size_t query = 0; query < biases.queries; ++query) {
      double shift = 0, unit_shift = 0;
      bool shifted = !biases.row_shift;
      for (size_t key = biases.keys; key-- > 0;) {
        const double value = biases.At(head, query, key);
        if (!std::isfinite(value)) continue;
        const double unit =
            UnitBias(form, answers.query_positions[query], answers.key_positions[key], last);
        if (!shifted) {
          shift = value;
          unit_shift = unit;
          shifted = true;
        }
        points.push_back({unit - unit_shift, value - shift, std::fabs(value) + std::fabs(shift)});
        if (std::fabs(points.back()[0]) > farthest) {
          farthest = std::fabs(points.back()[0]);
          slope = points.back()[1] / points.back()[0];
        }
      }
    }
    if (farthest == 0 || !(slope > 0)) return std::nullopt;
    for (const auto& [unit, value, size] : points) {
      const double allowed =
          8 * biases.roundoff * (size + std::fabs(unit) * slope) + (biases.row_shift ? 0x1p-20 : 0);
      if (!(std::fabs(value - unit * slope) <= allowed)) return std::nullopt;
    }
    slopes.push_back(slope);
  }
  return slopes;
}

// Parameters by which heads first_head.. of total have those slopes, times `factor`.
std::optional<double> MaxBiasOf(const std::vector<double>& slopes, int64_t first, int64_t total,
                                double factor, double roundoff) {
  const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(total)));
  const auto share = [&](size_t head) {
    const int64_t index = first + static_cast<int64_t>(head);
    const int64_t numerator = index < n ? 2 * (index + 1) : 2 * (index - n) + 1;
    return static_cast<double>(numerator) / static_cast<double>(2 * n);
  };
  size_t steepest = 0;
  for (size_t head = 0; head < slopes.size(); ++head) {
    if (share(head) > share(steepest)) steepest = head;
  }
  const double max_bias = -std::log2(slopes[steepest] / factor) / share(steepest);
  for (int digits = 1; digits <= 17; ++digits) {
    const double rounded = RoundToDigits(max_bias, digits);
    bool fits = rounded > 0 && rounded <= 1024;
    for (size_t head = 0; fits && head < slopes.size(); ++head) {
      const double slope = factor * std::exp2(-rounded * share(head));
      fits = std::fabs(slope - slopes[head]) <= slope * (8 * roundoff + 0x1p-46);
    }
    if (fits) return rounded;
  }
  return std::nullopt;
}

void AddSlices(const std::vector<double>& slopes, Params params, double roundoff, double factor,
               std::vector<std::pair<int, Scheme>>* found) {
  const auto heads = static_cast<int64_t>(slopes.size());
  for (int64_t total = heads; total <= heads + kMoreHeads; ++total) {
    for (int64_t first = 0; first + heads <= total; ++first) {
      const std::optional<double> max_bias = MaxBiasOf(slopes, first, total, factor, roundoff);
      if (!max_bias) continue;
      params.max_bias = *max_bias;
      params.first_head = first;
      params.total_heads.reset();
      if (total != heads) params.total_heads = total;
      // The published exponent first, then fewer digits, then models that are not sliced.
      const int rank = (params.max_bias == 8 ? 0 : 100) +
                       static_cast<int>(fmt::format("{}", params.max_bias).size()) +
                       (total == heads ? 0 : 1);
      found->emplace_back(rank, Scheme(params));
    }
  }
}

}  // namespace

Identity IdentifySlopes(const Answers& answers) {
  Identity identity{.source = answers.source, .quantity = answers.quantity};
  std::vector<std::pair<int, Scheme>> found;
  Params params;
  if (answers.head_dim) params.attention.head_dim = *answers.head_dim;
  const auto add = [&](const std::vector<double>& slopes, double roundoff) {
    params.attention.heads = static_cast<int64_t>(slopes.size());
    AddSlices(slopes, params, roundoff, 1, &found);
    if (answers.head_dim && answers.quantity == "bias") {
      params.before_scale = true;
      AddSlices(slopes, params, roundoff, 1 / std::sqrt(static_cast<double>(*answers.head_dim)),
                &found);
      params.before_scale = false;
    }
  };
  if (answers.quantity == "slopes") {
    const Tensor& slopes = answers.tensors.at("slopes");
    add(slopes.Values(), std::ldexp(1.0, -FormatOf(slopes.dtype()).digits));
    identity.undetermined.push_back("form: slopes do not say what they multiply");
  } else {
    const Tensor& bias = answers.tensors.at("bias");
    Biases biases{.heads = static_cast<size_t>(bias.shape()[0]),
                  .queries = static_cast<size_t>(bias.shape()[1]),
                  .keys = static_cast<size_t>(bias.shape()[2]),
                  .values = bias.Values(),
                  .roundoff = std::ldexp(1.0, -FormatOf(bias.dtype()).digits),
                  .row_shift = answers.row_shift};
    // Logarithms of shares in f32 or narrower.
    if (answers.row_shift) biases.roundoff = std::max(biases.roundoff, 0x1p-22);
    params.attention.causal = false;
    for (size_t i = 0; i < biases.values.size(); ++i) {
      if (!std::isfinite(biases.values[i])) params.attention.causal = true;
    }
    for (Form form : {Form::relative, Form::symmetric, Form::key, Form::key_from_last}) {
      if (const auto slopes = SlopesOf(answers, biases, form)) {
        params.form = form;
        add(*slopes, biases.roundoff * (answers.row_shift ? 4 : 1));
      }
    }
  }
  std::ranges::stable_sort(found, {}, &std::pair<int, Scheme>::first);
  for (auto& [rank, scheme] : found) identity.schemes.push_back(scheme);
  if (identity.schemes.empty()) {
    identity.why_not = "no slope times a distance, or slopes that are no powers of one number";
    return identity;
  }
  const auto& first = std::get<Params>(identity.schemes.front());
  identity.facts = {{"heads", std::to_string(first.attention.heads)},
                    {"max_bias", fmt::format("{}", first.max_bias)}};
  if (answers.quantity == "bias") {
    identity.facts.emplace_back("form", std::string(VariantName(first.form)));
    identity.facts.emplace_back("causal", first.attention.causal ? "yes" : "not masked here");
  }
  if (!answers.head_dim) identity.undetermined.push_back("head_dim, scale: not in what was seen");
  identity.undetermined.push_back(
      fmt::format("total_heads: models of up to {} more heads were looked for", kMoreHeads));
  return identity;
}

}  // namespace posgauge
