#include "posgauge/properties/generators.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"

namespace posgauge {

namespace {

// A generator from a drawing function and a function that lists simpler values.
template <class Draw, class Simpler>
auto MakeGen(Draw draw, Simpler simpler) {
  using Value = decltype(draw(std::declval<Random&>()));
  return rc::Gen<Value>([=](const rc::Random& source, int) {
    Random random(rc::Random(source).next(), "");
    return rc::shrinkable::shrinkRecur(
        draw(random), [=](const Value& value) { return rc::seq::fromContainer(simpler(value)); });
  });
}

// One of a list; simpler are those before it.
template <class Value>
rc::Gen<Value> OneOf(std::vector<Value> values) {
  return rc::gen::map(rc::gen::inRange<size_t>(0, values.size()),
                      [values](size_t index) { return values[index]; });
}

}  // namespace

std::vector<double> SimplerFloats(Dtype dtype, double value) {
  std::vector<double> simpler;
  if (value == 0) {
    if (std::signbit(value)) simpler.push_back(0);
    return simpler;
  }
  if (value == 1) return {0};
  simpler = {0, 1};
  if (std::isnan(value)) return simpler;
  if (value < 0) simpler.push_back(-value);
  if (std::isinf(value)) return simpler;
  const Format format = FormatOf(dtype);
  const int exponent = std::ilogb(value);
  // Half of the significant bits, then one bit.
  for (const int digits : {format.digits / 2, 2, 1}) {
    const double quantum = std::ldexp(1.0, exponent - digits + 1);
    const double fewer = std::trunc(value / quantum) * quantum;
    if (fewer != value && fewer != 0) simpler.push_back(fewer);
  }
  if (exponent != 0) simpler.push_back(std::ldexp(value, -exponent + exponent / 2));
  return simpler;
}

rc::Gen<double> AnyFloat(Dtype dtype) {
  const auto draw = [dtype](Random& random) { return DrawFloat(dtype, random); };
  return MakeGen(draw, [dtype](double value) { return SimplerFloats(dtype, value); });
}

std::vector<double> SimplerPositions(double position) {
  if (position == 0) return {};
  std::vector<double> simpler = {0};
  if (position != 1) simpler.push_back(1);
  if (position < 0) simpler.push_back(-position);
  const double size = std::fabs(position);
  if (size > 2) {
    const double power = std::exp2(std::floor(std::log2(size)));
    if (power != size) simpler.push_back(std::copysign(power, position));
    simpler.push_back(std::copysign(std::floor(size / 2), position));
    simpler.push_back(std::copysign(size - 1, position));
  }
  return simpler;
}

rc::Gen<double> AnyPosition(int64_t largest) {
  const auto draw = [largest](Random& random) {
    const auto limit = static_cast<double>(largest);
    double position = 0;
    switch (random.Below(4)) {
      case 0:
        position = std::exp2(static_cast<double>(random.Below(41))) +
                   static_cast<double>(random.Below(3)) - 1;
        break;
      case 1:
        position = limit - static_cast<double>(random.Below(3));
        break;
      case 2:
        position = static_cast<double>(random.Below(18));
        break;
      default:
        position = std::floor(random.Uniform() * (limit + 1));
    }
    position = std::clamp(position, 0.0, limit);
    return random.Below(4) == 0 ? -position : position;
  };
  return MakeGen(draw, SimplerPositions);
}

rc::Gen<Rotary> AnyRotary() {
  const auto make = [](int64_t rotary_dim, int64_t rest, bool suffix, Pairing pairing,
                       Direction direction, double base) {
    return Rotary{.head_dim = rotary_dim + rest,
                  .rotary_dim = rotary_dim,
                  .rotary_offset = suffix ? rest : rest / 4,
                  .pairing = pairing,
                  .direction = direction,
                  .base = base};
  };
  return rc::gen::apply(
      make, OneOf<int64_t>({8, 4, 2, 6, 10, 16, 32, 64, 66, 80, 96, 128, 256, 512}),
      OneOf<int64_t>({0, 0, 1, 4, 16, 33}), OneOf<bool>({false, true}),
      OneOf<Pairing>({Pairing::half, Pairing::interleaved}),
      OneOf<Direction>(
          {Direction::counterclockwise, Direction::counterclockwise, Direction::clockwise}),
      OneOf<double>({10000, 500000, 1000000, 10, 1.5, 25000, 12345.678, 1e7, 0.5}));
}

rc::Gen<Attention> AnyAttention() {
  const auto make = [](int64_t heads, int64_t head_dim, bool causal, ScoreScale scale) {
    return Attention{.heads = heads, .head_dim = head_dim, .causal = causal, .scale = scale};
  };
  return rc::gen::apply(make, OneOf<int64_t>({1, 2, 3, 4, 5, 8, 12}),
                        OneOf<int64_t>({1, 2, 4, 7, 16, 33}), OneOf<bool>({true, true, false}),
                        OneOf<ScoreScale>({ScoreScale::inverse_sqrt, ScoreScale::one}));
}

rc::Gen<Turning> AnyTurning(const Attention& attention) {
  const int64_t even = attention.head_dim - attention.head_dim % 2;
  const auto make = [](int64_t rotary_dim, Pairing pairing, double base) {
    return Turning{.rotary_dim = rotary_dim, .pairing = pairing, .base = base};
  };
  return rc::gen::apply(make, OneOf<int64_t>({even, even, even / 4 * 2, 0}),
                        OneOf<Pairing>({Pairing::half, Pairing::interleaved}),
                        OneOf<double>({10000, 100, 1.5, 500000, 1}));
}

rc::Gen<double> AnyFactor(double lowest) {
  std::vector<double> factors;
  for (const double factor : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 1.25, 40.0, 0.5, 0.25, 1024.0}) {
    if (factor >= lowest) factors.push_back(factor);
  }
  const auto draw = [=](Random& random) {
    if (random.Below(2) == 0) return factors[random.Below(factors.size())];
    return lowest * std::exp2(random.Uniform() * 6);
  };
  return MakeGen(draw, [=](double value) {
    std::vector<double> simpler;
    for (const double factor : factors) {
      if (factor == value) return simpler;
      simpler.push_back(factor);
    }
    return simpler;
  });
}

rc::Gen<int64_t> AnyLength() {
  return OneOf<int64_t>({4096, 8192, 2048, 32768, 131072, 1048576, 4095, 100, 7, 2, 1});
}

namespace {

LawCase KeepRows(const LawCase& c, size_t begin, size_t end) {
  LawCase kept = c;
  const auto whole_rows = static_cast<size_t>(c.x.shape()[0]);
  const size_t axes = c.positions.size() / whole_rows;
  const auto cut = [&](std::vector<double>& values) {
    values = {values.begin() + static_cast<std::ptrdiff_t>(begin * axes),
              values.begin() + static_cast<std::ptrdiff_t>(end * axes)};
  };
  cut(kept.positions);
  cut(kept.others);
  cut(kept.shifts);
  const auto rows = static_cast<int64_t>(end - begin);
  for (Tensor* tensor : {&kept.x, &kept.y}) {
    const Tensor whole = *tensor;
    std::vector<int64_t> shape = whole.shape();
    shape[0] = rows;
    *tensor = Tensor(whole.dtype(), shape);
    const size_t size = whole.size() / whole_rows;
    for (size_t i = 0; i < tensor->size(); ++i) tensor->SetBits(i, whole.Bits(begin * size + i));
  }
  return kept;
}

LawCase KeepOneHead(const LawCase& c, int64_t head) {
  LawCase kept = c;
  for (Tensor* tensor : {&kept.x, &kept.y}) {
    const Tensor whole = *tensor;
    const int64_t heads = whole.shape()[1], head_dim = whole.shape()[2];
    *tensor = Tensor(whole.dtype(), {whole.shape()[0], 1, head_dim});
    for (size_t i = 0; i < tensor->size(); ++i) {
      const auto row = static_cast<int64_t>(i) / head_dim;
      tensor->SetBits(i, whole.Bits(static_cast<size_t>((row * heads + head) * head_dim) +
                                    i % static_cast<size_t>(head_dim)));
    }
  }
  return kept;
}

}  // namespace

namespace {

// Of a scheme of attention: fewer queries and keys, positions from 0, vectors of zeros and ones.
// Every query keeps the keys up to its own.
std::vector<LawCase> SimplerAttention(const LawCase& c) {
  std::vector<LawCase> simpler;
  const auto add = [&](NamedInputs inputs, double shift) {
    if (inputs == c.inputs && shift == c.shifts[0]) return;
    LawCase changed = c;
    changed.inputs = std::move(inputs);
    changed.shifts = {shift};
    simpler.push_back(std::move(changed));
  };
  const auto range = [](int64_t begin, int64_t end) {
    std::vector<int64_t> indices;
    for (int64_t i = begin; i < end; ++i) indices.push_back(i);
    return indices;
  };
  const ExactTensor &queries = c.inputs["query_positions"], &keys = c.inputs["key_positions"];
  const int64_t count = queries.shape[0];
  if (count > 1) {
    add(WithQueries(c.inputs, range(0, count / 2)), c.shifts[0]);
    add(WithQueries(c.inputs, range(count / 2, count)), c.shifts[0]);
  }
  // Keys before the first query but for the first one, and keys after the last query.
  std::vector<int64_t> among;
  for (int64_t key = 0; key < keys.shape[0]; ++key) {
    const double position = keys.At(key);
    if (key == 0 || (position >= queries.At(0) && position <= queries.At(count - 1))) {
      among.push_back(key);
    }
  }
  add(WithKeys(c.inputs, among), c.shifts[0]);
  NamedInputs from_zero = c.inputs;
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double& position : from_zero.tensors.find(name)->second.values) position -= keys.At(0);
  }
  add(from_zero, 0);
  add(c.inputs, 0);
  for (const auto& [name, tensor] : c.inputs.tensors) {
    if (name != "q" && name != "k" && name != "v") continue;
    for (const double value : {0.0, 1.0}) {
      NamedInputs changed = c.inputs;
      for (double& element : changed.tensors[name].values) {
        if (value == 0 || element != 0) element = value;
      }
      add(std::move(changed), c.shifts[0]);
    }
  }
  return simpler;
}

// Half of the positions; embeddings of zeros or ones, weights of ones.
std::vector<LawCase> SimplerRows(const LawCase& c) {
  std::vector<LawCase> simpler;
  const auto add = [&](NamedInputs inputs) {
    if (inputs == c.inputs) return;
    LawCase changed = c;
    changed.inputs = std::move(inputs);
    simpler.push_back(std::move(changed));
  };
  const int64_t count = c.inputs["positions"].shape[0];
  std::vector<int64_t> first, second;
  for (int64_t i = 0; i < count; ++i) (i < count / 2 ? first : second).push_back(i);
  if (!first.empty()) {
    add(WithPositions(c.inputs, first));
    add(WithPositions(c.inputs, second));
  }
  for (const auto& [name, tensor] : c.inputs.tensors) {
    if (name == "positions") continue;
    NamedInputs changed = c.inputs;
    std::ranges::fill(changed.tensors[name].values, name == "x" ? 0 : 1);
    add(std::move(changed));
  }
  return simpler;
}

}  // namespace

std::vector<LawCase> SimplerCases(const LawCase& c) {
  if (c.inputs.Find("positions") != nullptr) return SimplerRows(c);
  if (!c.inputs.tensors.empty()) return SimplerAttention(c);
  std::vector<LawCase> simpler;
  const auto rows = static_cast<size_t>(c.x.shape()[0]);
  if (rows > 1) {
    simpler.push_back(KeepRows(c, 0, rows / 2));
    simpler.push_back(KeepRows(c, rows / 2, rows));
  }
  const int64_t heads = c.x.shape().size() == 3 ? c.x.shape()[1] : 1;
  for (int64_t head = 0; heads > 1 && head < heads; ++head) {
    simpler.push_back(KeepOneHead(c, head));
  }
  // Positions one at a time; sums and shifts of smaller positions stay in range once they are 0.
  for (size_t at = 0; at < c.positions.size(); ++at) {
    const auto set = [&](double position, double other, double shift) {
      if (c.positions[at] == position && c.others[at] == other && c.shifts[at] == shift) return;
      LawCase changed = c;
      changed.positions[at] = position;
      changed.others[at] = other;
      changed.shifts[at] = shift;
      simpler.push_back(std::move(changed));
    };
    for (double position : SimplerPositions(c.positions[at])) {
      if (position >= 0) set(position, c.others[at], 0);
    }
    for (double other : SimplerPositions(c.others[at])) {
      if (other >= 0) set(c.positions[at], other, 0);
    }
    set(c.positions[at], c.others[at], 0);
  }
  // Vectors by eighths, to 0 and then to 1.
  for (Tensor LawCase::*vectors : {&LawCase::x, &LawCase::y}) {
    const size_t size = (c.*vectors).size(), step = std::max<size_t>(1, size / 8);
    for (const double value : {0.0, 1.0}) {
      for (size_t begin = 0; begin < size; begin += step) {
        LawCase changed = c;
        Tensor& tensor = changed.*vectors;
        bool moved = false;
        for (size_t i = begin; i < std::min(begin + step, size); ++i) {
          // To 1 only from what is not already 0: no way back.
          const double old = tensor.Value(i);
          if (old == value || (value == 1 && old == 0)) continue;
          tensor.Set(i, value);
          moved = true;
        }
        if (moved) simpler.push_back(std::move(changed));
      }
    }
  }
  return simpler;
}

rc::Gen<LawCase> AnyLawCase(const Subject& subject, const CasePlan& plan) {
  CasePlan any = plan;
  any.any_bits = true;
  return MakeGen(
      [&subject, any](Random& random) { return DrawCase(subject, any, random.Bits(), 1); },
      SimplerCases);
}

}  // namespace posgauge
