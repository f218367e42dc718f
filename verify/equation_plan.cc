#include "posgauge/verify/equation_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "posgauge/reference/equation_rows.h"

namespace posgauge {

namespace {

// Of either sign, size uniform over the binades from 2^low to 2^high.
double DrawNumber(Dtype dtype, int low, int high, Random& random) {
  const auto binades = static_cast<uint64_t>(high - low);
  const int exponent = low + static_cast<int>(random.Below(binades));
  const double size = std::ldexp(1 + random.Uniform(), exponent);
  // Rounding up to the next binade keeps the range closed.
  return RoundTo(FormatOf(dtype), random.Bits() % 2 == 0 ? size : -size);
}

// More than the tiles and vectors of a kernel, and no multiples of them. Both in one call would
// cost more than all the others.
constexpr double kWideKeys = 133, kWideQueries = 67;

// Whether x is a power of four, at least 256: as many positions before it as a wide call takes.
bool IsPowerOfFour(double x) {
  while (x > 256) x /= 4;
  return x == 256;
}

// What is added, about: [positions, width].
std::vector<double> RowsInDouble(const Scheme& scheme, const NamedInputs& inputs) {
  std::vector<double> values;
  WithEquations(scheme, [&]<class Params>(const Params& params) {
    if constexpr (Adds<Params>) {
      const auto rows = MakeRows<double>(params, inputs);
      for (double position : inputs["positions"].values) {
        const std::vector<double> row = rows.Row(position);
        values.insert(values.end(), row.begin(), row.end());
      }
    }
    return 0;
  });
  return values;
}

}  // namespace

bool AsksManyKeys(double position) { return IsPowerOfFour((position + 1) / 2); }
bool AsksManyQueries(double position) { return IsPowerOfFour(position); }

double DrawWeight(const Weight& weight, Dtype dtype, Random& random) {
  double value = weight.typical * DrawNumber(dtype, -4, 1, random);
  if (weight.lowest >= 0) value = std::fabs(value);
  return RoundTo(FormatOf(dtype), std::clamp(value, weight.lowest, weight.highest));
}

ExactTensor DrawRows(int64_t count, const Attention& attention, Dtype dtype,
                     const ExactTensor* against, Random& random) {
  ExactTensor rows{{count, attention.heads, attention.head_dim}, {}};
  const int64_t half = attention.head_dim / 2;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t head = 0; head < attention.heads; ++head) {
      for (int64_t channel = 0; channel < attention.head_dim; ++channel) {
        double value = DrawNumber(dtype, -3, 1, random);
        if (head % 4 == 1 && random.Below(4) != 0) value = 0;
        if (head % 4 == 2 && against != nullptr && channel < 2 * half) {
          // (a, b) against (b, -a): the products cancel in pairs.
          const int64_t other = channel < half ? channel + half : channel - half;
          const double opposite = against->At(row % against->shape[0], head, other);
          value = channel < half ? opposite : -opposite;
        }
        if (head % 4 == 3) value = std::copysign(0.5, value);
        rows.values.push_back(value);
      }
    }
  }
  return rows;
}

NamedInputs PlanAttention(const Scheme& scheme, const ExactEquations& exact,
                          EquationQuantity quantity, Dtype dtype, double position, uint64_t seed) {
  const Attention& attention = AttentionOf(scheme);
  Random random(seed, fmt::format("attention {}", position));
  std::set<double> queries = {position, std::max(0.0, position - 1)};
  std::set<double> keys = {0};
  for (double back = 0; back < 8; ++back) keys.insert(std::max(0.0, position - back));
  for (double back = 16; back <= position; back *= 4) keys.insert(position - back);
  for (int i = 0; i < 4; ++i) keys.insert(std::floor(random.Uniform() * (position + 1)));
  if (!attention.causal) {
    for (double ahead : {1.0, 2.0, 7.0, 64.0, 1000.0}) keys.insert(position + ahead);
  } else {
    keys.insert(position + 1);
  }
  const bool by_bucket =
      quantity == EquationQuantity::buckets || quantity == EquationQuantity::bias;
  const auto starts = exact.ReadyMade("thresholds", Dtype::f64);
  const bool has_edges = by_bucket && starts.has_value();
  if (has_edges) {
    // The last distance of every bucket and the first of the next, to both sides.
    for (double start : starts->values) {
      for (double distance : {start - 1, start}) {
        if (distance >= 0 && distance <= position) keys.insert(position - distance);
        if (distance >= 0 && !attention.causal) keys.insert(position + distance);
      }
    }
  }
  if (AsksManyKeys(position)) {
    queries = {position};
    if (!has_edges) keys.clear();
    for (double back = 0; back < kWideKeys; ++back) keys.insert(position - back);
  } else if (AsksManyQueries(position)) {
    for (double back = 0; back < kWideQueries; ++back) queries.insert(position - back);
    if (!has_edges) keys = {0, std::floor(position / 2), position};
  }
  if (const auto count = PositionCount(scheme)) {
    if (position == static_cast<double>(*count - 1) && position < kWideKeys) {
      for (double key = 0; key < position; ++key) keys.insert(key);
    }
    std::erase_if(keys, [&](double key) { return key >= static_cast<double>(*count); });
  }
  NamedInputs inputs;
  const auto put = [&](const char* name, const std::set<double>& positions) {
    inputs.tensors[name] = {{static_cast<int64_t>(positions.size())},
                            {positions.begin(), positions.end()}};
  };
  for (const Weight& weight : exact.InputsOf(quantity)) {
    const std::string name(weight.name);
    if (name == "query_positions") {
      put("query_positions", queries);
    } else if (name == "key_positions") {
      put("key_positions", keys);
    } else if (name == "q") {
      inputs.tensors[name] =
          DrawRows(static_cast<int64_t>(queries.size()), attention, dtype, nullptr, random);
    } else if (name == "k" || name == "v") {
      inputs.tensors[name] = DrawRows(static_cast<int64_t>(keys.size()), attention, dtype,
                                      name == "k" ? inputs.Find("q") : nullptr, random);
    } else {
      inputs.tensors[name] = PlanWeight(weight, dtype, seed);
    }
  }
  return inputs;
}

ExactTensor PlanWeight(const Weight& weight, Dtype dtype, uint64_t seed) {
  ExactTensor tensor{weight.shape, {}};
  int64_t count = 1;
  for (int64_t extent : weight.shape) count *= extent;
  Random random(seed, fmt::format("weight {}", weight.name));
  for (int64_t i = 0; i < count; ++i) tensor.values.push_back(DrawWeight(weight, dtype, random));
  return tensor;
}

NamedInputs PlanRows(const Scheme& scheme, const ExactEquations& exact, EquationQuantity quantity,
                     Dtype dtype, Positions positions, uint64_t seed) {
  const auto rows = static_cast<int64_t>(positions.size());
  NamedInputs inputs;
  for (const Weight& weight : exact.InputsOf(EquationQuantity::table)) {
    const std::string name(weight.name);
    inputs.tensors[name] = name == "positions"
                               ? ExactTensor{{rows}, {positions.begin(), positions.end()}}
                               : PlanWeight(weight, dtype, seed);
  }
  if (quantity == EquationQuantity::table) return inputs;
  const std::vector<double> added = RowsInDouble(scheme, inputs);
  ExactTensor x{{rows, WidthOf(scheme)}, {}};
  for (double position : positions) {
    Random random(seed, fmt::format("embedding {}", position));
    const uint64_t kind = random.Below(4);
    for (int64_t channel = 0; channel < x.shape[1]; ++channel) {
      double value = DrawNumber(dtype, -3, 1, random);
      if (kind == 1) value = RoundTo(FormatOf(dtype), -added[x.values.size()]);
      if (kind == 2 && random.Below(4) != 0) value = std::copysign(0.0, value);
      if (kind == 3) value = std::copysign(0.5, value);
      x.values.push_back(value);
    }
  }
  inputs.tensors["x"] = std::move(x);
  return inputs;
}

}  // namespace posgauge
