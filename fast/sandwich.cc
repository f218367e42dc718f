#include "posgauge/fast/sandwich.h"

#include <cmath>
#include <memory>
#include <vector>

#include "posgauge/fast/rotation.h"
#include "posgauge/fast/simd.h"

namespace posgauge::sandwich {

fast::Turns Waves(const Params& params) {
  const fast::Wide log_base = fast::Log(params.base);
  std::vector<double> high, low;
  for (int64_t k = 0; k < params.sandwich_width / 2; ++k) {
    const fast::Wide frequency =
        fast::InversePower(log_base, 2 * (k + params.first_index), params.sandwich_width);
    high.push_back(frequency.high);
    low.push_back(frequency.low);
  }
  return fast::TurnsOf(high, low);
}

namespace {

using fast::kCosineSteps;

// Cosines and sines of the waves at a distance.
struct Row {
  std::vector<double> cos, sin;

  Row(const fast::Turns& waves, double distance) : cos(waves.Pairs()), sin(waves.Pairs()) {
    fast::CosSinRow(waves, fast::TurnPositionOf(distance), 1, Dtype::f64, cos.data(), sin.data());
  }
};

// S(D) for D = a + b, a a multiple of kCosineSteps, by the addition theorem: a row of the waves
// for a whole block of distances. Blocks begin at the same distances in every call, so that a sum
// does not depend on what else is asked.
class Sums {
 public:
  explicit Sums(const Params& params)
      : waves_(Waves(params)),
        step_cos_(waves_.Pairs() * kCosineSteps),
        step_sin_(waves_.Pairs() * kCosineSteps) {
    for (size_t step = 0; step < kCosineSteps; ++step) {
      const Row row(waves_, static_cast<double>(step));
      for (size_t k = 0; k < waves_.Pairs(); ++k) {
        step_cos_[k * kCosineSteps + step] = row.cos[k];
        step_sin_[k * kCosineSteps + step] = row.sin[k];
      }
    }
  }

  // Replaces distances by sums.
  void operator()(double* distances, size_t count) const {
    std::vector<double> sums(kCosineSteps);
    double block = -1;
    for (size_t i = 0; i < count; ++i) {
      const double distance = std::fabs(distances[i]);
      if (distance != std::trunc(distance)) {
        distances[i] = 0;
        for (double of_wave : Row(waves_, distance).cos) distances[i] += of_wave;
        continue;
      }
      const double step = std::fmod(distance, kCosineSteps);
      if (block != distance - step) {
        block = distance - step;
        const Row row(waves_, block);
        fast::CosineSums(row.cos.data(), row.sin.data(), step_cos_.data(), step_sin_.data(),
                         waves_.Pairs(), sums.data());
      }
      distances[i] = sums[static_cast<size_t>(step)];
    }
  }

 private:
  fast::Turns waves_;
  std::vector<double> step_cos_, step_sin_;  // [waves, kCosineSteps]
};

}  // namespace

fast::MapOffsets SharedByHeads(const Params& params) {
  const double less = params.centred ? static_cast<double>(params.sandwich_width / 2) : 0;
  return [sums = std::make_shared<const Sums>(params), less](double* offsets, size_t count) {
    (*sums)(offsets, count);
    for (size_t i = 0; i < count; ++i) offsets[i] -= less;
  };
}

}  // namespace posgauge::sandwich
