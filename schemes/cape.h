#pragma once

#include <cmath>
#include <vector>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::cape {

/// Continuous augmented positional embeddings: the interleaved sinusoidal row of a real number.
/// Token n stands at
///   t_n = (position_scale n - mean + global_shift + local_shift[n]) e^log_scale,
/// and channels 2k and 2k + 1 of its row are sin and cos of
///   t_n frequency_scale base^(-2k/width).
/// Likhomanenko et al. 2021, arXiv:2106.03143, and CAPE1d of the package cape (gcambara/cape).
///
/// What training draws at random is given: global_shift and log_scale as fields, the local shifts
/// as a weight. Inference is all of them 0, and with position_scale 1 and mean 0 the rows are then
/// those of `sinusoidal`, interleaved, its scale the frequency_scale. By the package's words:
///
///   positions_delta, pos_scale   position_scale
///   normalize                    mean = position_scale times the mean of 0..length-1
///   freq_scale                   frequency_scale
///   content_scale                not here: it multiplies x before the row is added
///
/// No model config names it. CAPE2d, of patches, is another scheme: its frequencies are no powers
/// of one base, its angles add those of two axes, and two published versions disagree about the
/// exponent.
struct Params {
  static constexpr std::string_view kName = "cape";
  static constexpr std::string_view kSummary = "sinusoidal rows of shifted and scaled positions";
  static constexpr std::string_view kEquation =
      "sin(t frequency_k) in channel 2k, cos in 2k + 1; t = (position_scale n - mean + "
      "global_shift + local_shift[n]) "
      "e^log_scale, frequency_k = frequency_scale base^(-2k/width)";
  static constexpr std::string_view kSource =
      "Likhomanenko et al. 2021, arXiv:2106.03143; gcambara/cape";
  static constexpr bool kOwnContent = true;

  int64_t width = 768;
  int64_t length = 512;
  double position_scale = 1;
  double mean = 0;
  double global_shift = 0;
  double log_scale = 0;
  double frequency_scale = 1;
  double base = 10000;

  /// Channels that are cosines; of an odd width there is one sine more.
  int64_t Pairs() const { return width / 2; }
  int64_t Frequencies() const { return (width + 1) / 2; }

  int64_t PositionCount() const { return length; }

  void Validate() const {
    RequireWidth(width);
    Require(length >= 1 && length <= kLargestElements, "length must be in 1..{}, got {}",
            kLargestElements, length);
    RequireScale("position_scale", position_scale, kSmallestScale);
    Require(std::fabs(mean) <= kLargestShift, "mean must be in -{0}..{0}, got {1}", kLargestShift,
            mean);
    Require(std::fabs(global_shift) <= kLargestShift, "global_shift must be in -{0}..{0}, got {1}",
            kLargestShift, global_shift);
    Require(std::fabs(log_scale) <= kLargestLogScale, "log_scale must be in -{0}..{0}, got {1}",
            kLargestLogScale, log_scale);
    RequireScale("frequency_scale", frequency_scale, kSmallestScale);
    Require(std::isfinite(base) && base >= 1 && base <= 1e30,
            "base must be a number in 1..1e30, got {}", base);
  }

  std::vector<Weight> Weights() const {
    return {{"local_shift",
             {length},
             "what each position is moved by on its own; zeros: not augmented",
             -kLargestShift,
             kLargestShift,
             0.25}};
  }

  /// Throws ParameterError unless every position has a local shift.
  void CheckPositions(const std::vector<double>& positions) const {
    RequirePositionsBelow(length, positions);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("width", self.width, "channels of a row; an odd one has a sine more than cosines");
    visit("length", self.length, "positions, each with its local shift");
    visit("position_scale", self.position_scale, "from one position to the next (positions_delta)");
    visit("mean", self.mean, "taken off every position before it is shifted (normalize)");
    visit("global_shift", self.global_shift, "added to every position");
    visit("log_scale", self.log_scale, "ln lambda: every shifted position times e^log_scale");
    visit("frequency_scale", self.frequency_scale, "multiplies every frequency (freq_scale)");
    visit("base", self.base, "the largest period over the smallest, at least 1");
  }
  bool operator==(const Params&) const = default;

 private:
  // ln of kLargestScale is 13.8.
  static constexpr double kLargestShift = 0x1p40, kLargestLogScale = 14;
};

}  // namespace posgauge::cape
