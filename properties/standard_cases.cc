#include "posgauge/properties/standard_cases.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/plan.h"

namespace posgauge {

namespace {

std::vector<double> SpecialPositions(const Scheme& scheme, double largest) {
  std::vector<double> positions;
  const auto add_near = [&](double position) {
    for (const double near : {-1.0, 0.0, 1.0}) {
      const double at = position + near;
      if (at >= 0 && at <= largest) positions.push_back(at);
    }
  };
  for (int k = 0; k <= 40; ++k) add_near(std::ldexp(1.0, k));
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const auto& [name, value] : fields.items()) {
    if (name.ends_with("length") && value.is_number_integer()) add_near(value.get<double>());
  }
  add_near(largest);
  return positions;
}

// In [0, largest]. `base` is what the result will be added to: the sum is special as often as the
// result itself.
double DrawPosition(const std::vector<double>& special, double base, double largest,
                    Random& random) {
  const double draw = random.Uniform();
  if (draw < 0.5) {
    const double position = special[random.Below(special.size())] - (draw < 0.25 ? base : 0);
    if (position >= 0 && position <= largest) return position;
  }
  if (draw < 0.75) return std::floor(random.Uniform() * (largest + 1));
  return std::min(largest, std::floor(std::exp2(random.Uniform() * std::log2(largest + 1))));
}

// A number of either sign whose size is even over `octaves` binades around 1.
double Generic(Random& random, int octaves) {
  const int exponent = static_cast<int>(random.Below(static_cast<uint64_t>(octaves))) - octaves / 2;
  const double size = std::ldexp(1 + random.Uniform(), exponent);
  return random.Bits() % 2 == 0 ? size : -size;
}

double Sparse(Random& random) {
  const uint64_t draw = random.Below(8);
  return draw == 0 ? Generic(random, 7) : draw < 5 ? 0.0 : -0.0;
}

enum class Kind { generic, cancelling, sparse, middle, any_bits };

// `size` elements from `start` on, generic where the kind is cancelling.
void FillPlain(Kind kind, Tensor& x, size_t start, size_t size, Random& random) {
  for (size_t i = start; i < start + size; ++i) {
    if (kind == Kind::any_bits) {
      x.Set(i, DrawFloat(x.dtype(), random));
    } else {
      x.Set(i, kind == Kind::sparse   ? Sparse(random)
               : kind == Kind::middle ? Generic(random, MiddleOctaves(x.dtype()))
                                      : Generic(random, 7));
    }
  }
}

// `position` is that of one row, [axes].
void Fill(const Subject& subject, Positions position, Kind kind, Tensor& x, size_t start,
          Random& random) {
  const Rotary& layout = subject.layout();
  FillPlain(kind, x, start, static_cast<size_t>(layout.head_dim), random);
  if (kind != Kind::cancelling) return;
  for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
    // (sin, cos): u cos - v sin cancels; (cos, -sin): u sin + v cos does.
    const double angle =
        subject.axes().At(position, 0, pair) * subject.frequencies()[static_cast<size_t>(pair)];
    const double size = Generic(random, 7);
    const bool swap = random.Bits() % 2 == 0;
    const auto [first, second] = layout.Channels(pair);
    x.Set(start + static_cast<size_t>(first), size * (swap ? std::sin(angle) : std::cos(angle)));
    x.Set(start + static_cast<size_t>(second), size * (swap ? std::cos(angle) : -std::sin(angle)));
  }
}

// Of a rotation [rows, heads, head_dim].
Tensor DrawHeads(const Subject& subject, const std::vector<double>& positions, const CasePlan& plan,
                 Random& random) {
  const Rotary& layout = subject.layout();
  const size_t rows = subject.axes().Tokens(positions);
  Tensor x(subject.io(), {static_cast<int64_t>(rows), plan.heads, layout.head_dim});
  const uint64_t kinds = plan.any_bits ? 5 : 4;
  size_t start = 0;
  for (size_t row = 0; row < rows; ++row) {
    const Positions position = subject.axes().Row(positions, row);
    for (int64_t head = 0; head < plan.heads; ++head) {
      const auto turn = static_cast<uint64_t>(head) + (plan.heads < 4 ? random.Below(kinds) : 0);
      Fill(subject, position, static_cast<Kind>(turn % kinds), x, start, random);
      start += static_cast<size_t>(layout.head_dim);
    }
  }
  return x;
}

// [rows, width]. Cancelling ones are the negative of what is added, to about the dtype's precision.
Tensor DrawEmbeddings(const Subject& subject, const std::vector<double>& positions,
                      const CasePlan& plan, Random& random) {
  const ExactAddition& exact = subject.addition().exact();
  const auto width = static_cast<size_t>(exact.width());
  Tensor x(subject.io(), {static_cast<int64_t>(positions.size()), exact.width()});
  size_t start = 0;
  for (double position : positions) {
    const auto kind = static_cast<Kind>(random.Below(plan.any_bits ? 5 : 4));
    FillPlain(kind, x, start, width, random);
    for (size_t i = 0; kind == Kind::cancelling && i < width; ++i) {
      const Channel held = exact.ChannelAt(position, static_cast<int64_t>(i));
      if (held.function == Wave::zero) continue;
      const double angle = exact.RowIndex(position) *
                           subject.addition().frequencies()[static_cast<size_t>(held.wave)];
      x.Set(start + i, held.function == Wave::sin ? -std::sin(angle) : -std::cos(angle));
    }
    start += width;
  }
  return x;
}

Tensor DrawVectors(const Subject& subject, const std::vector<double>& positions,
                   const CasePlan& plan, Random& random) {
  return IsRotary(subject.scheme()) ? DrawHeads(subject, positions, plan, random)
                                    : DrawEmbeddings(subject, positions, plan, random);
}

double DrawFactor(Random& random) {
  const double size = std::ldexp(1.0, static_cast<int>(random.Below(7)) - 3);
  return random.Bits() % 2 == 0 ? size : -size;
}

// What q, k, v and weights must be exact in.
Dtype InputDtype(const Subject& subject) {
  return IsFloat(subject.io()) ? subject.io() : Dtype::f32;
}

}  // namespace

double DrawFloat(Dtype dtype, Random& random) {
  const Format format = FormatOf(dtype);
  const double largest = Largest(format);
  const std::array special = {0.0,
                              -0.0,
                              std::nan(""),
                              HUGE_VAL,
                              -HUGE_VAL,
                              largest,
                              -largest,
                              std::ldexp(1.0, format.min_exponent),
                              std::ldexp(1.0, format.min_quantum()),
                              std::ldexp(3.0, format.min_quantum())};
  if (random.Below(4) == 0) return RoundTo(format, special[random.Below(special.size())]);
  return Decode(dtype, random.Bits() >> (64 - 8 * SizeOf(dtype)));
}

namespace {

// A run of keys, with gaps in every other case, of which the last ones are queries too; and keys
// beyond them.
LawCase DrawAttentionCase(const Subject& subject, const CasePlan& plan, uint64_t seed,
                          int64_t number) {
  const EquationTruth& truth = subject.equations();
  const Attention& attention = AttentionOf(subject.scheme());
  Random random(seed, fmt::format("law case {}", number));
  auto largest = static_cast<double>(plan.largest_position);
  if (const double limit = subject.info().kernel->largest_position; limit > 0) {
    largest = std::min(largest, std::floor(limit));
  }
  if (const auto count = PositionCount(subject.scheme())) {
    largest = std::min(largest, static_cast<double>(*count - 1));
  }
  const std::vector<double> special = SpecialPositions(subject.scheme(), largest);
  const auto rows = static_cast<size_t>(std::max<int64_t>(1, plan.rows / 2));
  const size_t keys = 3 * rows;
  const double span = random.Below(2) == 0 ? 1 : 40;
  // The first case ends with the largest position.
  const double room = std::max(0.0, largest - span * static_cast<double>(keys));
  double at = number == 0 ? room : std::min(room, DrawPosition(special, 0, largest, random));
  std::vector<double> key_positions;
  for (size_t key = 0; key < keys; ++key) {
    key_positions.push_back(std::min(at, largest));
    at += 1 + (span > 1 ? std::floor(random.Uniform() * span) : 0);
  }
  key_positions.erase(std::unique(key_positions.begin(), key_positions.end()), key_positions.end());
  const size_t first = key_positions.size() > 2 * rows ? key_positions.size() - 2 * rows : 0;
  const size_t end = std::min(first + rows, key_positions.size());
  const std::vector<double> queries(key_positions.begin() + static_cast<std::ptrdiff_t>(first),
                                    key_positions.begin() + static_cast<std::ptrdiff_t>(end));
  LawCase drawn;
  drawn.seed = random.Bits();
  drawn.shifts = {-std::floor(random.Uniform() * (key_positions.front() + 1))};
  for (const Weight& input : truth.exact().InputsOf(EquationQuantity::attention)) {
    const std::string name(input.name);
    ExactTensor& tensor = drawn.inputs.tensors[name];
    if (name == "query_positions") {
      tensor = {{static_cast<int64_t>(queries.size())}, queries};
    } else if (name == "key_positions") {
      tensor = {{static_cast<int64_t>(key_positions.size())}, key_positions};
    } else if (name == "q" || name == "k" || name == "v") {
      const size_t count = name == "q" ? queries.size() : key_positions.size();
      tensor = DrawRows(static_cast<int64_t>(count), attention, InputDtype(subject),
                        name == "k" ? drawn.inputs.Find("q") : nullptr, random);
    } else {
      tensor.shape = input.shape;
      int64_t count = 1;
      for (int64_t extent : input.shape) count *= extent;
      for (int64_t i = 0; i < count; ++i) {
        tensor.values.push_back(DrawWeight(input, InputDtype(subject), random));
      }
    }
  }
  return drawn;
}

// The first case ends with the largest position.
LawCase DrawRowsCase(const Subject& subject, const CasePlan& plan, uint64_t seed, int64_t number) {
  const EquationTruth& truth = subject.equations();
  Random random(seed, fmt::format("law case {}", number));
  auto largest = static_cast<double>(plan.largest_position);
  if (const auto count = PositionCount(subject.scheme())) {
    largest = std::min(largest, static_cast<double>(*count - 1));
  }
  if (const double limit = subject.info().kernel->largest_position; limit > 0) {
    largest = std::min(largest, std::floor(limit));
  }
  const std::vector<double> special = SpecialPositions(subject.scheme(), largest);
  std::vector<double> positions;
  for (int64_t row = 0; row < plan.rows; ++row) {
    positions.push_back(number == 0 && row == 0 ? largest
                                                : DrawPosition(special, 0, largest, random));
  }
  LawCase drawn;
  drawn.seed = random.Bits();
  drawn.inputs = PlanRows(subject.scheme(), truth.exact(), EquationQuantity::embed,
                          InputDtype(subject), positions, drawn.seed);
  return drawn;
}

}  // namespace

LawCase DrawCase(const Subject& subject, const CasePlan& plan, uint64_t seed, int64_t number) {
  if (HasEquations(subject.scheme()) && !ActsInAttention(subject.scheme())) {
    return DrawRowsCase(subject, plan, seed, number);
  }
  if (ActsInAttention(subject.scheme())) return DrawAttentionCase(subject, plan, seed, number);
  Random random(seed, fmt::format("law case {}", number));
  auto largest = static_cast<double>(plan.largest_position);
  if (const double limit = subject.info().kernel->largest_position; limit > 0) {
    largest = std::min(largest, std::floor(limit));
  }
  const std::vector<double> special = SpecialPositions(subject.scheme(), largest);
  LawCase drawn;
  const auto draw = [&](bool at_end) {
    const double position = at_end ? largest : DrawPosition(special, 0, largest, random);
    const double other = DrawPosition(special, position, largest - position, random);
    // Down as far as the smaller of the two, up as far as the larger one allows.
    const double down = std::min(position, other), up = largest - std::max(position, other);
    const double shift = up >= down ? DrawPosition(special, std::max(position, other), up, random)
                                    : -DrawPosition(special, 0, down, random);
    drawn.positions.push_back(position);
    drawn.others.push_back(other);
    drawn.shifts.push_back(shift);
  };
  const int64_t axes = IsRotary(subject.scheme()) ? subject.axes().count : 1;
  for (int64_t row = 0; row < plan.rows; ++row) {
    // On every axis its own, or the same on all as text has it, or on the first of them alone.
    const uint64_t kind = axes == 1 ? 0 : random.Below(4);
    for (int64_t axis = 0; axis < axes; ++axis) {
      if (axis == 0 || kind >= 2) {
        draw(number == 0 && row == 0);
        continue;
      }
      for (std::vector<double>* of : {&drawn.positions, &drawn.others, &drawn.shifts}) {
        of->push_back(kind == 0 ? of->back() : 0.0);
      }
    }
    // The axis that moves alone is any.
    if (kind == 1) {
      const auto from = static_cast<size_t>(row * axes);
      const size_t to = from + random.Below(static_cast<uint64_t>(axes));
      for (std::vector<double>* of : {&drawn.positions, &drawn.others, &drawn.shifts}) {
        std::swap((*of)[from], (*of)[to]);
      }
    }
  }
  drawn.x = DrawVectors(subject, drawn.positions, plan, random);
  drawn.y = DrawVectors(subject, drawn.others, plan, random);
  drawn.alpha = DrawFactor(random);
  drawn.beta = DrawFactor(random);
  drawn.seed = random.Bits();
  return drawn;
}

std::vector<LawCase> StandardCases(const Subject& subject, const CasePlan& plan, uint64_t seed) {
  CasePlan drawn = plan;
  if (HasEquations(subject.scheme())) {
    // A case has all heads of the model, or its width, and its weights: of a wide model two tell as
    // much as many of a narrow one.
    constexpr int64_t kChannels = 4096;
    const bool attends = ActsInAttention(subject.scheme());
    int64_t work =
        attends ? AttentionOf(subject.scheme()).heads * AttentionOf(subject.scheme()).head_dim
                : WidthOf(subject.scheme());
    for (const Weight& weight : WeightsOf(subject.scheme())) work += weight.Elements() / 8;
    const int64_t share = kChannels * plan.cases / work;
    drawn.cases = std::min(plan.cases, std::max<int64_t>(2, share));
    if (attends && share < 2) drawn.rows = std::min<int64_t>(plan.rows, 4);
  }
  std::vector<LawCase> cases;
  for (int64_t number = 0; number < drawn.cases; ++number) {
    cases.push_back(DrawCase(subject, drawn, seed, number));
  }
  return cases;
}

}  // namespace posgauge
