#include "faulty_counts.h"

#include <algorithm>
#include <cmath>

#include "posgauge/reference/attention.h"

namespace posgauge {

namespace {

// [keys].
std::vector<double> CountedScores(const cope::Params& params, const NamedInputs& inputs,
                                  int64_t head, int64_t query, const CountFault& fault) {
  const auto visible = [&](int64_t key) {
    return fault.unmasked || params.attention.Visible(inputs["query_positions"].At(query),
                                                      inputs["key_positions"].At(key));
  };
  const int64_t keys = inputs["key_positions"].shape[0];
  std::vector<double> dots, positions(static_cast<size_t>(keys));
  for (int64_t key = 0; key < keys; ++key) {
    dots.push_back(DotOf<double>(inputs, head, query, key));
  }
  double counted = 0;
  for (int64_t i = 0; i < keys; ++i) {
    const int64_t key = fault.from_start ? i : keys - 1 - i;
    const double gate =
        visible(key) ? Sigmoid(Scaled(params.attention, dots[static_cast<size_t>(key)])) : 0;
    counted += gate;
    positions[static_cast<size_t>(key)] = fault.exclusive ? counted - gate : counted;
  }
  const auto logit = [&](int64_t row) {
    double sum = 0;
    for (int64_t c = 0; c < params.attention.head_dim; ++c) {
      sum += inputs["q"].At(query, head, c) * inputs["embedding"].At(row, c);
    }
    return sum;
  };
  std::vector<double> scores;
  for (size_t key = 0; key < dots.size(); ++key) {
    const auto last = static_cast<double>(params.num_positions - 1);
    const double position = std::min(positions[key], last), floor = std::floor(position);
    double upper = position - floor, lower = 1 - upper;
    if (fault.swapped) std::swap(upper, lower);
    if (fault.unbalanced) lower = 1;
    // What no position stands for, a NaN, counts as nothing.
    const auto low = floor >= 0 ? static_cast<int64_t>(floor) : 0;
    const double added =
        lower * logit(low) + upper * logit(std::min(low + 1, params.num_positions - 1));
    scores.push_back(params.placement == cope::Placement::before_scale
                         ? Scaled(params.attention, dots[key] + added)
                         : Scaled(params.attention, dots[key]) + added);
  }
  return scores;
}

// Of values [channel][key].
std::vector<double> Averages(const std::vector<double>& scores,
                             const std::vector<std::vector<double>>& values) {
  const double highest = *std::ranges::max_element(scores);
  std::vector<double> averages;
  for (const std::vector<double>& of_channel : values) {
    double sum = 0, total = 0;
    for (size_t key = 0; key < scores.size(); ++key) {
      const double weight = std::exp(scores[key] - highest);
      sum += weight * of_channel[key];
      total += weight;
    }
    averages.push_back(sum / total);
  }
  return averages;
}

}  // namespace

std::vector<double> Counted(const cope::Params& params, EquationQuantity quantity,
                            const NamedInputs& inputs, const std::vector<int64_t>& shape,
                            const CountFault& fault) {
  std::vector<double> out;
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
    const bool by_query = quantity == EquationQuantity::attention;
    const int64_t head = by_query ? i % shape[1] : i / shape[1];
    const int64_t query = by_query ? i / shape[1] : i % shape[1];
    std::vector<double> scores = CountedScores(params, inputs, head, query, fault), seen;
    std::vector<std::vector<double>> values(static_cast<size_t>(params.attention.head_dim));
    for (int64_t key = 0; key < static_cast<int64_t>(scores.size()); ++key) {
      if (!params.attention.Visible(inputs["query_positions"].At(query),
                                    inputs["key_positions"].At(key))) {
        scores[static_cast<size_t>(key)] = -HUGE_VAL;
        continue;
      }
      seen.push_back(scores[static_cast<size_t>(key)]);
      for (size_t c = 0; by_query && c < values.size(); ++c) {
        values[c].push_back(inputs["v"].At(key, head, static_cast<int64_t>(c)));
      }
    }
    if (by_query) scores = Averages(seen, values);
    out.insert(out.end(), scores.begin(), scores.end());
  }
  return out;
}

}  // namespace posgauge
