#include "posgauge/verify/plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "posgauge/verify/random.h"

namespace posgauge {

std::vector<double> PlanPositions(int64_t count, int64_t largest, std::span<const int64_t> lengths,
                                  uint64_t seed) {
  Require(count >= 1, "the number of positions must be at least 1, got {}", count);
  Require(largest >= 0 && largest <= int64_t{1} << 53,
          "the largest position must be in 0..2^53 tokens, got {}", largest);
  // Of those a plan holds every one in memory.
  Require(std::min(count, largest + 1) <= kMostPositions, "a plan has at most {} positions, got {}",
          kMostPositions, std::min(count, largest + 1));
  std::set<int64_t> positions;
  const auto add = [&](int64_t position) {
    if (position >= 0 && position <= largest) positions.insert(position);
  };
  if (largest < count) {
    for (int64_t position = 0; position <= largest; ++position) add(position);
  } else {
    for (int64_t near = 0; near <= 16; ++near) {
      add(near);
      add(largest - near);
    }
    for (int bit = 0; bit <= 53; ++bit) {
      for (int64_t near = -1; near <= 1; ++near) add((int64_t{1} << bit) + near);
    }
    for (int64_t length : lengths) {
      for (int64_t near = -2; near <= 1; ++near) add(length + near);
    }
    const auto planned = [&] { return static_cast<int64_t>(positions.size()); };
    // Log-spaced ones: a first round over the whole range, then twice as fine each, until there are
    // enough.
    const int64_t half = planned() + (count - planned()) / 2;
    for (int64_t steps = std::max<int64_t>(half - planned(), 1); planned() < half; steps *= 2) {
      for (int64_t step = 0; step <= steps && planned() < half; ++step) {
        add(std::llround(std::exp2(std::log2(static_cast<double>(largest)) *
                                   static_cast<double>(step) / static_cast<double>(steps))));
      }
    }
    Random random(seed, "positions");
    while (planned() < count) {
      add(static_cast<int64_t>(random.Below(static_cast<uint64_t>(largest) + 1)));
    }
  }
  return {positions.begin(), positions.end()};
}

std::vector<double> PlaceOnAxes(const Axes& axes, Positions planned, uint64_t seed) {
  if (axes.count == 1) return {planned.begin(), planned.end()};
  const auto count = static_cast<uint64_t>(axes.count);
  std::vector<double> placed;
  for (double position : planned) {
    Random random(seed, fmt::format("axes {}", position));
    const double reach = std::fabs(position);
    const uint64_t kind = random.Below(4), farthest = random.Below(count);
    for (uint64_t axis = 0; axis < count; ++axis) {
      const double share = random.Uniform();
      if (kind == 0 || axis == farthest) {
        placed.push_back(position);
      } else if (kind == 1) {
        placed.push_back(0);
      } else {
        const double drawn =
            kind == 2 ? share * (reach + 1) : std::exp2(share * std::log2(reach + 1)) - 1;
        placed.push_back(std::copysign(std::min(reach, std::floor(drawn)), position));
      }
    }
  }
  return placed;
}

std::vector<int64_t> LengthsOf(const Scheme& scheme) {
  std::vector<int64_t> lengths;
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const auto& [name, value] : fields.items()) {
    if (name.ends_with("length") && value.is_number_integer()) {
      lengths.push_back(value.get<int64_t>());
    }
  }
  return lengths;
}

int MiddleOctaves(Dtype dtype) {
  const Format format = FormatOf(dtype);
  return std::min(60, (format.max_exponent - format.min_exponent) / 2);
}

namespace {

// A number of either sign whose size is uniform over `octaves` binades centred at 1.
double Generic(Random& random, int octaves) {
  const int exponent = static_cast<int>(random.Below(static_cast<uint64_t>(octaves))) - octaves / 2;
  const double size = std::ldexp(1 + random.Uniform(), exponent);
  return random.Bits() % 2 == 0 ? size : -size;
}

double Sparse(Random& random) {
  const uint64_t draw = random.Below(8);
  return draw == 0 ? Generic(random, 7) : draw < 5 ? 0.0 : -0.0;
}

void FillRow(const Rotary& layout, std::span<double> row, int64_t kind, int middle_octaves,
             std::span<const DoubleDouble> cos, std::span<const DoubleDouble> sin, Random& random) {
  switch (kind) {
    case 1:
      for (double& value : row) value = Generic(random, 7);
      for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
        const auto [first, second] = layout.Channels(pair);
        const auto at = static_cast<size_t>(pair);
        const double size = Generic(random, 7);
        // (s, c): u c - v s cancels; (c, -s): u s + v c does.
        const bool swap = random.Bits() % 2 == 0;
        row[static_cast<size_t>(first)] = size * (swap ? sin[at].high : cos[at].high);
        row[static_cast<size_t>(second)] = size * (swap ? cos[at].high : -sin[at].high);
      }
      break;
    case 2:
      for (double& value : row) value = Sparse(random);
      break;
    case 3:
      for (double& value : row) value = Generic(random, middle_octaves);
      break;
    default:
      for (double& value : row) value = Generic(random, 7);
  }
}

}  // namespace

Tensor PlanInput(const Rotary& layout, Positions positions, int64_t heads, Dtype dtype,
                 const TruthTable& truth, uint64_t seed, const Axes& axes) {
  const auto head_dim = static_cast<size_t>(layout.head_dim);
  const auto pairs = static_cast<size_t>(layout.Pairs());
  const size_t tokens = axes.Tokens(positions);
  std::vector<double> values(tokens * static_cast<size_t>(heads) * head_dim);
  for (size_t token = 0; token < tokens; ++token) {
    const std::string position = fmt::format("{}", fmt::join(axes.Row(positions, token), ","));
    for (int64_t head = 0; head < heads; ++head) {
      Random random(seed, fmt::format("input {} {}", position, head));
      const size_t start = (token * static_cast<size_t>(heads) + static_cast<size_t>(head));
      FillRow(layout, std::span(values).subspan(start * head_dim, head_dim), head % 4,
              MiddleOctaves(dtype), std::span(truth.cos).subspan(token * pairs, pairs),
              std::span(truth.sin).subspan(token * pairs, pairs), random);
    }
  }
  return Tensor::FromValues(dtype, {static_cast<int64_t>(tokens), heads, layout.head_dim}, values);
}

Tensor PlanEmbeddings(int64_t width, Positions positions, Dtype dtype, const RowTruth& truth,
                      uint64_t seed) {
  std::vector<double> values;
  values.reserve(truth.values.size());
  for (double position : positions) {
    Random random(seed, fmt::format("embedding {}", position));
    const uint64_t kind = random.Below(4);
    for (int64_t channel = 0; channel < width; ++channel) {
      switch (kind) {
        case 1:
          values.push_back(-truth.values[values.size()].high);
          break;
        case 2:
          values.push_back(Sparse(random));
          break;
        case 3:
          values.push_back(Generic(random, MiddleOctaves(dtype)));
          break;
        default:
          values.push_back(Generic(random, 7));
      }
    }
  }
  return Tensor::FromValues(dtype, {static_cast<int64_t>(positions.size()), width}, values);
}

}  // namespace posgauge
