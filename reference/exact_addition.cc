#include "posgauge/reference/exact_addition.h"

#include <cmath>

#include "posgauge/reference/all.h"
#include "posgauge/reference/exact_rotation_state.h"
#include "posgauge/reference/parallel.h"
#include "posgauge/reference/settle.h"

namespace posgauge {

namespace {

template <class R>
Addition<R> AdditionOf(const Scheme& scheme) {
  return std::visit(
      []<class Params>(const Params& params) -> Addition<R> {
        if constexpr (AddsWaves<Params>) return Exact<R>(params);
        throw ParameterError(
            fmt::format("{} adds no waves to embeddings: {}", Params::kName, Params::kSummary));
      },
      scheme);
}

}  // namespace

struct ExactAddition::Meaning {
  Addition<double> structure;  // its frequencies are not used
  ExactRotation waves;

  int64_t width() const { return static_cast<int64_t>(structure.channels.size()); }

  // Calls visit(index of the value, row index, channel) for [positions, width], in parallel.
  template <class Visit>
  void ForEachValue(Positions row_indices, Visit visit) const {
    const auto count = static_cast<int64_t>(row_indices.size()) * width();
    ForBlocks(count, kValuesPerThread, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const auto row = static_cast<size_t>(at / width());
        const bool zero =
            structure.zero_row && row_indices[row] == static_cast<double>(*structure.zero_row);
        const Channel held = structure.channels[static_cast<size_t>(at % width())];
        visit(at, row, zero ? Channel{} : held);
      }
    });
  }

  // Where the table of the waves holds the value of a channel.
  size_t Entry(size_t row, Channel channel) const {
    return row * structure.frequency.size() + static_cast<size_t>(channel.wave);
  }
};

ExactAddition::ExactAddition(const Scheme& scheme) {
  Validate(scheme);
  meaning_ =
      std::make_shared<const Meaning>(Meaning{AdditionOf<double>(scheme), ExactRotation(scheme)});
}

ExactAddition::ExactAddition(const Scheme& scheme, std::span<const DoubleDouble> frequencies) {
  Validate(scheme);
  const auto width = static_cast<int64_t>(2 * frequencies.size());
  Addition<double> structure = AdditionOf<double>(scheme);
  Require(frequencies.size() == structure.frequency.size(),
          "frequencies must be one a wave, {}, got {}", structure.frequency.size(),
          frequencies.size());
  meaning_ = std::make_shared<const Meaning>(
      Meaning{std::move(structure),
              ExactRotation(Rotary{.head_dim = width, .rotary_dim = width}, frequencies, {1, 0})});
}

int64_t ExactAddition::width() const { return meaning_->width(); }

const ExactRotation& ExactAddition::waves() const { return meaning_->waves; }

Channel ExactAddition::ChannelAt(double position, int64_t channel) const {
  const std::optional<int64_t>& zero_row = meaning_->structure.zero_row;
  if (zero_row && RowIndex(position) == static_cast<double>(*zero_row)) return {};
  return meaning_->structure.channels[static_cast<size_t>(channel)];
}

// Knuth's error of the sum; a zero of either sign becomes +0.
double ExactAddition::RowIndex(double position) const {
  Require(std::isfinite(position), "positions must be finite, got {}", position);
  const auto start = static_cast<double>(meaning_->structure.start);
  const double sum = position + start, back = sum - position;
  const double error = (position - (sum - back)) + (start - back);
  Require(error == 0, "a position plus start must be a binary64 number, got {} + {}", position,
          start);
  return sum + 0.0;
}

namespace {

std::vector<double> RowIndices(const ExactAddition& exact, Positions positions) {
  std::vector<double> indices;
  for (double position : positions) indices.push_back(exact.RowIndex(position));
  return indices;
}

}  // namespace

RoundedValues ExactAddition::Frequencies(Dtype dtype) const {
  return meaning_->waves.Frequencies(dtype);
}

EnclosedValues ExactAddition::EncloseFrequencies() const {
  return meaning_->waves.EncloseFrequencies();
}

RoundedValues ExactAddition::Rows(Positions positions, Dtype dtype) const {
  const std::vector<double> indices = RowIndices(*this, positions);
  const RoundedTable table = meaning_->waves.Table(indices, dtype);
  const auto count = static_cast<int64_t>(indices.size()) * width();
  Collector collector(dtype, count);
  meaning_->ForEachValue(indices, [&](int64_t at, size_t row, Channel channel) {
    if (channel.function == Wave::zero) {
      collector.Set(at, {0, 0, Proof::exact}, 0);
      return;
    }
    const RoundedValues& from = channel.function == Wave::sin ? table.sin : table.cos;
    const size_t entry = meaning_->Entry(row, channel);
    const int32_t distance = from.distances.empty() ? 0 : from.distances[entry];
    collector.Set(at, {from.values[entry], distance, from.proofs[entry]}, from.counts.max_bits);
  });
  return collector.Take();
}

RoundedValues ExactAddition::Embed(Positions positions, std::span<const double> x,
                                   Dtype dtype) const {
  const std::vector<double> indices = RowIndices(*this, positions);
  const auto count = static_cast<int64_t>(indices.size()) * width();
  Require(static_cast<int64_t>(x.size()) == count,
          "x must be [positions {}, width {}], got {} values", indices.size(), width(), x.size());
  Collector collector(dtype, count);
  const RotationLadder& ladder = meaning_->waves.state().ladder;
  meaning_->ForEachValue(indices, [&](int64_t at, size_t row, Channel channel) {
    const double value = x[static_cast<size_t>(at)];
    if (!std::isfinite(value)) {
      // An infinity is a NaN in a format that has none.
      const double kept = RoundTo(collector.format(), value);
      const bool same = std::isnan(value) || kept == value;
      collector.Set(at, {kept, 0, same ? Proof::exact : Proof::proven}, 0);
      return;
    }
    Settle<1>(
        ladder, {&collector}, {at}, [&]<class I>(const Rotation<I>& waves) -> std::array<I, 1> {
          if (channel.function == Wave::zero) return {I(value)};
          const auto [cos, sin] = Turn(waves, static_cast<size_t>(channel.wave), I(indices[row]));
          return {I(value) + (channel.function == Wave::sin ? sin : cos)};
        });
  });
  return collector.Take();
}

EnclosedRows ExactAddition::EncloseRows(Positions positions) const {
  const std::vector<double> indices = RowIndices(*this, positions);
  const EnclosedTable table = meaning_->waves.EncloseTable(indices);
  EnclosedRows rows;
  rows.values.resize(indices.size() * static_cast<size_t>(width()));
  rows.radius = table.radius;
  meaning_->ForEachValue(indices, [&](int64_t at, size_t row, Channel channel) {
    if (channel.function == Wave::zero) return;
    rows.values[static_cast<size_t>(at)] =
        (channel.function == Wave::sin ? table.sin : table.cos)[meaning_->Entry(row, channel)];
  });
  return rows;
}

}  // namespace posgauge
