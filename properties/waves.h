#pragma once

#include <vector>

#include "posgauge/properties/pairs.h"
#include "posgauge/verify/subject.h"

namespace posgauge {

/// One wave of one row, where the row has both its sine and its cosine.
struct WavePlace {
  size_t row;
  int64_t wave;
  size_t sin, cos;  // flat indices into [rows, width]
};

/// Calls visit(place) for every complete wave; rows of zeros have none.
template <class Visit>
void ForEachWave(const Subject& subject, const std::vector<double>& positions, Visit visit) {
  const ExactAddition& exact = subject.addition().exact();
  const auto width = static_cast<size_t>(exact.width());
  for (size_t row = 0; row < positions.size(); ++row) {
    std::vector<size_t> sines(subject.addition().frequencies().size(), 0), cosines(sines);
    for (size_t channel = 0; channel < width; ++channel) {
      const Channel held = exact.ChannelAt(positions[row], static_cast<int64_t>(channel));
      if (held.function == Wave::zero) continue;
      // Counted from 1, so that 0 is none.
      (held.function == Wave::sin ? sines : cosines)[static_cast<size_t>(held.wave)] =
          row * width + channel + 1;
    }
    for (size_t wave = 0; wave < sines.size(); ++wave) {
      if (sines[wave] == 0 || cosines[wave] == 0) continue;
      visit(WavePlace{row, static_cast<int64_t>(wave), sines[wave] - 1, cosines[wave] - 1});
    }
  }
}

/// (cos, sin) of a wave: a point on the unit circle.
inline PairValue At(const Tensor& rows, const WavePlace& place) {
  return {rows.Value(place.cos), rows.Value(place.sin)};
}

/// The rows of a kernel: what it exports, or what it adds to zeros.
Tensor RowsOf(const Subject& subject, const std::vector<double>& positions);

/// subject.addition().bound() for any frequencies, as long as they are the same at every position,
/// and for any angles: a law that holds for them is not broken by an error in them.
AdditionBound AnyFrequencyBound(const Subject& subject);
AdditionBound AnyAngleBound(const Subject& subject);

/// Norm of the error of a stored wave: each of the two components is off by that of one at most.
double WaveBound(const Subject& subject, const AdditionBound& bound, double position, int64_t wave);

Witness WitnessAt(const Subject& subject, const WavePlace& place, PairValue got, PairValue want);

}  // namespace posgauge
