#include "posgauge/properties/pairs.h"

#include <numbers>

#include "posgauge/verify/hex_float.h"

namespace posgauge {

std::string NameOfPair(const Subject& subject, int64_t pair) {
  const double frequency = std::fabs(subject.frequencies()[static_cast<size_t>(pair)]);
  return fmt::format("pair {}, wavelength {:.4g} tokens", pair, 2 * std::numbers::pi / frequency);
}

Witness WitnessAt(const Subject& subject, const PairPlace& place, PairValue got, PairValue want) {
  const auto [first, second] = subject.layout().Channels(place.pair);
  const auto text = [](PairValue value) {
    return fmt::format("({:.9g}, {:.9g}) = ({}, {})", value.u, value.v, HexFloat(value.u),
                       HexFloat(value.v));
  };
  return {.where = fmt::format("row {}, head {}, channels {} and {} ({})", place.row, place.head,
                               first, second, NameOfPair(subject, place.pair)),
          .got = text(got),
          .want = text(want)};
}

}  // namespace posgauge
