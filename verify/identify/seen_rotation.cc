#include "posgauge/verify/identify/seen_rotation.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace posgauge {

namespace {

// Two rounded products and a rounded sum, of a table within 2 ulp: an angle is within 16 u.
constexpr double kAngleRoundoffs = 16;
// A magnitude is nearer: of a table within 2 ulp, 4 u; two products and a sum, (1 + sqrt 2) u; the
// rounding to what is stored, u.
constexpr double kMagnitudeRoundoffs = 8;
// Dividing and taking the norm in doubles, of a mean.
constexpr double kMeanError = 0x1p-52;
// atan2 of doubles, and their division.
constexpr double kDoubleError = 0x1p-50;

double RoundoffOf(Dtype dtype) { return std::ldexp(1.0, -FormatOf(dtype).digits); }

// x and out of a rotation, [tokens, heads, head_dim], as values.
struct Rows {
  std::vector<double> x, out;
  size_t tokens, heads, width;
  double roundoff;  // of what is stored

  size_t At(size_t token, size_t head, size_t channel) const {
    return (token * heads + head) * width + channel;
  }
  // Whether a channel is a copy everywhere.
  bool IsStill(size_t channel) const {
    for (size_t row = 0; row < tokens * heads; ++row) {
      if (x[row * width + channel] != out[row * width + channel]) return false;
    }
    return true;
  }
};

// The pair of channels as it turns: one factor a token, which is a cos + i a sin.
struct Turn {
  std::vector<std::complex<double>> factors;  // [tokens]
  double misfit = 0;                          // largest |out - factor x| of the norms
};

Turn TurnOf(const Rows& rows, size_t first, size_t second) {
  Turn turn;
  for (size_t token = 0; token < rows.tokens; ++token) {
    // Least squares over the heads.
    std::complex<double> product = 0;
    double norm = 0, largest = 0;
    const auto at = [&](const std::vector<double>& of, size_t head) {
      return std::complex<double>(of[rows.At(token, head, first)],
                                  of[rows.At(token, head, second)]);
    };
    for (size_t head = 0; head < rows.heads; ++head) {
      const std::complex<double> z = at(rows.x, head);
      product += std::conj(z) * at(rows.out, head);
      norm += std::norm(z);
      largest = std::max(largest, std::abs(z));
    }
    const std::complex<double> factor = norm > 0 ? product / norm : 1;
    turn.factors.push_back(factor);
    for (size_t head = 0; norm > 0 && head < rows.heads; ++head) {
      const double off = std::abs(at(rows.out, head) - factor * at(rows.x, head));
      if (!(off <= turn.misfit * largest)) turn.misfit = off / largest;
    }
  }
  // With one head a token any two channels fit; a rotation then still keeps one magnitude.
  if (rows.heads == 1) {
    const double magnitude = std::abs(turn.factors.front());
    for (const auto& factor : turn.factors) {
      turn.misfit = std::max(turn.misfit, std::fabs(std::abs(factor) - magnitude));
    }
  }
  return turn;
}

SeenRotation NoRotation(std::string why) {
  SeenRotation seen;
  seen.why_not = std::move(why);
  return seen;
}

void SetAngles(const std::vector<double>& positions, const std::vector<Turn>& turns,
               double roundoff, SeenRotation* seen) {
  const size_t pairs = turns.size();
  seen->angle_error = kAngleRoundoffs * roundoff + kDoubleError;
  seen->angles.resize(positions.size() * pairs);
  long double sum = 0;
  double low = HUGE_VAL, high = 0;
  for (size_t pair = 0; pair < pairs; ++pair) {
    for (size_t token = 0; token < positions.size(); ++token) {
      const std::complex<double> factor = turns[pair].factors[token];
      seen->angles[token * pairs + pair] = std::arg(factor);
      const double magnitude = std::abs(factor);
      sum += magnitude;
      low = std::min(low, magnitude);
      high = std::max(high, magnitude);
    }
  }
  const auto magnitude =
      static_cast<double>(sum / static_cast<long double>(pairs * positions.size()));
  if (!(high - low <= 2 * seen->angle_error * magnitude) || !(magnitude > 0)) {
    *seen = NoRotation("cos^2 + sin^2 is not the same for every pair and position");
    return;
  }
  for (size_t token = 0; token < positions.size(); ++token) {
    for (size_t pair = 0; positions[token] == 0 && pair < pairs; ++pair) {
      if (!(std::fabs(seen->angles[token * pairs + pair]) <= seen->angle_error)) {
        *seen = NoRotation("position 0 turns: positions do not count from 0");
        return;
      }
    }
  }
  seen->frequencies = Unwrap(positions, seen->angles, pairs, seen->angle_error);
  seen->frequencies.magnitude = magnitude;
  seen->frequencies.magnitude_error = (kMagnitudeRoundoffs * roundoff + kMeanError) * magnitude;
  double direction = 0;
  for (double value : seen->frequencies.values) direction += value > 0 ? 1 : value < 0 ? -1 : 0;
  seen->layout.direction = direction < 0 ? Direction::clockwise : Direction::counterclockwise;
}

// Partner of the first channel that moves, then the pairing whose every pair turns.
SeenRotation SeeVectors(const Answers& answers) {
  const Tensor &x = answers.tensors.at("x"), &out = answers.tensors.at("out");
  const Rows rows{x.Values(),
                  out.Values(),
                  static_cast<size_t>(x.shape()[0]),
                  static_cast<size_t>(x.shape()[1]),
                  static_cast<size_t>(x.shape()[2]),
                  RoundoffOf(IsFloat(out.dtype()) ? out.dtype() : Dtype::f64)};
  for (double value : rows.out) {
    if (!std::isfinite(value)) return NoRotation("the output is not finite");
  }
  const double tolerance = kAngleRoundoffs * rows.roundoff + kDoubleError;
  std::vector<size_t> moving;
  for (size_t channel = 0; channel < rows.width; ++channel) {
    if (!rows.IsStill(channel)) moving.push_back(channel);
  }
  if (moving.size() < 2) return NoRotation("nothing turns at the positions that were seen");
  const size_t offset = moving.front(), last = moving.back();
  // The magnitude may be above 1, so compare with what it makes of the channel.
  size_t partner = 0;
  double best = HUGE_VAL;
  for (size_t channel : moving) {
    if (channel == offset) continue;
    const double misfit = TurnOf(rows, offset, channel).misfit;
    if (misfit < best) {
      best = misfit;
      partner = channel;
    }
  }
  SeenRotation seen;
  seen.layout.head_dim = static_cast<int64_t>(rows.width);
  seen.layout.rotary_offset = static_cast<int64_t>(offset);
  const size_t half = partner - offset;
  const auto try_layout = [&](Pairing pairing, size_t rotary_dim) {
    seen.layout.pairing = pairing;
    seen.layout.rotary_dim = static_cast<int64_t>(rotary_dim);
    std::vector<Turn> turns;
    if (last >= offset + rotary_dim || offset + rotary_dim > rows.width) return turns;
    for (int64_t pair = 0; pair < seen.layout.Pairs(); ++pair) {
      const auto [first, second] = seen.layout.Channels(pair);
      turns.push_back(TurnOf(rows, static_cast<size_t>(first), static_cast<size_t>(second)));
      const double norm = std::max(1.0, std::abs(turns.back().factors.front()));
      if (!(turns.back().misfit <= tolerance * norm)) return std::vector<Turn>{};
    }
    return turns;
  };
  std::vector<Turn> turns = try_layout(Pairing::half, 2 * half);
  if (turns.empty() && half == 1) {
    turns = try_layout(Pairing::interleaved, (last - offset) / 2 * 2 + 2);
    // Channels beyond the last that moves may belong to pairs too slow to see, or to none.
    seen.width_known = last + 1 >= rows.width;
  }
  if (turns.empty()) {
    return NoRotation(best <= tolerance * 2
                          ? fmt::format("channels {} and {} turn together, but no pairing of "
                                        "posgauge's (half, interleaved) explains the others",
                                        offset, partner)
                          : fmt::format("channel {} turns with no other channel", offset));
  }
  if (half == 1 && turns.size() == 1) seen.pairing_known = false;
  // Where rows are unit vectors, out holds the table.
  if (std::ranges::all_of(rows.x, [](double value) { return value == 0 || value == 1; })) {
    seen.table = NarrowestDtype(rows.out);
  }
  const bool backward = answers.quantity == "rotate_backward";
  for (Turn& turn : turns) {
    for (auto& factor : turn.factors) factor = backward ? std::conj(factor) : factor;
  }
  SetAngles(answers.positions, turns, rows.roundoff, &seen);
  return seen;
}

// Whether columns (first(i), second(i)) hold the same in both tables.
template <class Second>
bool Repeats(const std::vector<double>& values, size_t columns, Second second) {
  for (size_t row = 0; row < values.size() / columns; ++row) {
    for (size_t pair = 0; pair < columns / 2; ++pair) {
      const auto [a, b] = second(pair);
      if (values[row * columns + a] != values[row * columns + b]) return false;
    }
  }
  return true;
}

SeenRotation SeeTable(const Answers& answers) {
  const std::vector<double> cos = answers.tensors.at("cos").Values(),
                            sin = answers.tensors.at("sin").Values();
  for (size_t i = 0; i < cos.size(); ++i) {
    if (!std::isfinite(cos[i]) || !std::isfinite(sin[i])) {
      return NoRotation("the table is not finite");
    }
  }
  const auto columns = static_cast<size_t>(answers.tensors.at("cos").shape()[1]);
  using Two = std::array<size_t, 2>;
  const auto halves = [&](size_t pair) { return Two{pair, pair + columns / 2}; };
  const auto neighbours = [&](size_t pair) { return Two{2 * pair, 2 * pair + 1}; };
  SeenRotation seen;
  const bool even = columns % 2 == 0 && answers.positions.size() > 1;
  const auto repeats = [&](auto which) {
    return even && Repeats(cos, columns, which) && Repeats(sin, columns, which);
  };
  const bool half = repeats(halves), interleaved = !half && repeats(neighbours);
  seen.pairing_known = half || interleaved;
  seen.width_known = false;
  seen.layout.pairing = interleaved ? Pairing::interleaved : Pairing::half;
  const size_t pairs = half || interleaved ? columns / 2 : columns;
  seen.layout.rotary_dim = seen.layout.head_dim = static_cast<int64_t>(2 * pairs);
  std::vector<Turn> turns(pairs);
  for (size_t token = 0; token < answers.positions.size(); ++token) {
    for (size_t pair = 0; pair < pairs; ++pair) {
      const size_t at = token * columns + (interleaved ? 2 * pair : pair);
      turns[pair].factors.push_back({cos[at], sin[at]});
    }
  }
  std::vector<double> all = cos;
  all.insert(all.end(), sin.begin(), sin.end());
  seen.table = NarrowestDtype(all);
  SetAngles(answers.positions, turns, RoundoffOf(*seen.table), &seen);
  return seen;
}

SeenRotation SeeFrequencies(const Answers& answers) {
  SeenRotation seen;
  seen.pairing_known = seen.width_known = false;
  SeenFrequencies& frequencies = seen.frequencies;
  frequencies.values = answers.tensors.at("frequency").Values();
  if (const Tensor* low = answers.Find("frequency_low")) {
    for (size_t i = 0; i < std::min(low->size(), frequencies.values.size()); ++i) {
      frequencies.values[i] += low->Value(i);
    }
  }
  for (double value : frequencies.values) {
    if (!std::isfinite(value)) return NoRotation("a frequency is not finite");
    frequencies.errors.push_back(0);
  }
  const auto negative = std::ranges::count_if(frequencies.values, [](double v) { return v < 0; });
  const auto pairs = static_cast<int64_t>(frequencies.values.size());
  seen.layout.rotary_dim = seen.layout.head_dim = 2 * pairs;
  seen.layout.direction = 2 * negative > pairs ? Direction::clockwise : Direction::counterclockwise;
  if (const Tensor* magnitude = answers.Find("magnitude"); magnitude && magnitude->size() == 1) {
    frequencies.magnitude = magnitude->Value(0);
    frequencies.magnitude_error = std::fabs(frequencies.magnitude) * RoundoffOf(Dtype::f32);
  }
  return seen;
}

}  // namespace

SeenRotation SeeRotation(const Answers& answers) {
  if (answers.quantity == "frequencies") return SeeFrequencies(answers);
  return answers.quantity == "table" ? SeeTable(answers) : SeeVectors(answers);
}

}  // namespace posgauge
