#include "posgauge/properties/waves.h"

#include <cmath>
#include <numbers>

#include "posgauge/verify/hex_float.h"

namespace posgauge {

Tensor RowsOf(const Subject& subject, const std::vector<double>& positions) {
  if (subject.info().quantity == "table") return subject.Rows(positions);
  const Tensor zeros(subject.io(),
                     {static_cast<int64_t>(positions.size()), subject.addition().exact().width()});
  return subject.Embed(positions, zeros);
}

namespace {

// The kernel's frequencies may be larger than the real ones by their error, and by another rounding
// where the angle's arithmetic does not hold them.
AdditionBound Rebound(const Subject& subject, const Contract& contract, GivenStages given) {
  const AdditionBound& bound = subject.addition().bound();
  std::vector<double> frequencies = subject.addition().frequencies();
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] *=
        (1 + bound.waves().Frequency(static_cast<int64_t>(i))) * (1 + UnitRoundoff(contract.angle));
  }
  return AdditionBound(contract, subject.scheme(), std::move(frequencies),
                       subject.addition().exact().RowIndex(0), given);
}

}  // namespace

// Given in the angle's arithmetic: what it rounds them to is the same at every position.
AdditionBound AnyFrequencyBound(const Subject& subject) {
  const Contract& contract = subject.addition().bound().contract();
  return Rebound(subject, contract, {.frequency = contract.angle});
}

AdditionBound AnyAngleBound(const Subject& subject) {
  Contract contract = subject.addition().bound().contract();
  contract.position = contract.angle = Arithmetic::exact;
  return Rebound(subject, contract, {.frequency = Arithmetic::exact});
}

double WaveBound(const Subject& subject, const AdditionBound& bound, double position,
                 int64_t wave) {
  const Channel channel{Wave::sin, wave};
  // A sine is at most 1, and so is what x = 0 plus it is.
  const double one = subject.info().quantity == "table" ? bound.Row(position, channel)
                                                        : bound.Embed(position, channel, 0, 1);
  return one * std::numbers::sqrt2 * (1 + 0x1p-50);
}

Witness WitnessAt(const Subject& subject, const WavePlace& place, PairValue got, PairValue want) {
  const double frequency = subject.addition().frequencies()[static_cast<size_t>(place.wave)];
  const auto text = [](PairValue value) {
    return fmt::format("cos {}, sin {}", HexFloat(value.u), HexFloat(value.v));
  };
  const auto width = static_cast<size_t>(subject.addition().exact().width());
  return {.where = fmt::format("row {}, channels {} and {} (wave {}, length {:.4g} tokens)",
                               place.row, place.sin % width, place.cos % width, place.wave,
                               2 * std::numbers::pi / frequency),
          .got = text(got),
          .want = text(want)};
}

}  // namespace posgauge
