#include "posgauge/verify/faults/replay_series.h"

#include <cmath>

#include "posgauge/reference/addition.h"
#include "posgauge/reference/all.h"
#include "posgauge/reference/float64.h"

namespace posgauge {

FrequencySeries SeriesOf(const Scheme& scheme) {
  return std::visit(
      [&](const auto& params) -> FrequencySeries {
        if constexpr (requires { AsRotation(Exact<double>(params)); }) {
          Rotation<double> rotation = AsRotation(Exact<double>(params));
          if (IsRotary(scheme) && RotaryOf(scheme).direction == Direction::clockwise) {
            for (double& frequency : rotation.frequency) frequency = -frequency;
          }
          return {std::move(rotation.frequency), rotation.magnitude};
        }
        throw ParameterError(fmt::format("{} has no frequencies", Name(scheme)));
      },
      scheme);
}

std::vector<double> PositionsOf(const ExactTensor& positions, Staged& staged) {
  std::vector<double> used = positions.values;
  const size_t axes = positions.shape.size() > 1 ? static_cast<size_t>(positions.shape[1]) : 1;
  for (const ChangePosition* change : staged.Take<ChangePosition>()) {
    const std::vector<double> before = used;
    for (size_t i = 0; i < used.size(); ++i) {
      used[i] = change->change(before[i], {i / axes, i % axes, before[i % axes]});
    }
  }
  return used;
}

double Noisy(const LibraryNoise& noise, uint64_t key, uint64_t more) {
  if (noise.ulps == 0) return 1;
  Random random(noise.seed ^ (key * 0x9e3779b97f4a7c15u) ^ (more << 20U), "library noise");
  return 1 + noise.ulps * 0x1p-23 * (2 * random.Uniform() - 1);
}

EntryMaker::EntryMaker(Staged& staged, const LibraryNoise& noise)
    : angles_(staged.Take<ChangeAngle>()), entries_(staged.Take<ChangeEntry>()), noise_(noise) {}

TableEntry EntryMaker::operator()(EntryPlace place) const {
  place.angle = place.position * place.frequency;
  for (const ChangeAngle* change : angles_) place.angle = change->change(place.angle, place);
  TableEntry entry{std::cos(place.angle), std::sin(place.angle)};
  const uint64_t key = place.token * place.pairs + place.pair;
  entry.cos *= place.magnitude * Noisy(noise_, 2 * key + 1);
  entry.sin *= place.magnitude * Noisy(noise_, 2 * key + 2);
  if (place.backward) entry.sin = -entry.sin;
  for (const ChangeEntry* change : entries_) change->change(entry, place);
  return entry;
}

}  // namespace posgauge
