#include "posgauge/fast/cape.h"

#include <cmath>
#include <cstring>
#include <memory>

#include "posgauge/fast/angles.h"
#include "posgauge/fast/rotation.h"
#include "posgauge/fast/simd.h"

namespace posgauge::cape {

namespace {

using fast::Wide;

// Method    The scales go into the position: T = (c n - mean + global + local) e^log_scale
//           frequency_scale in double-double, so that the frequencies base^(-2k/width) are at most
//           1 and the phase of T, as fixed-point turns, keeps its 64 bits at any distance.
//
// Bound     of a phase, u^2 = 2^-106, S the sum of the sizes of T's terms, scaled: at most 2^32.
//   T       c n is exact; three sums, 3 u^2 S each; e^log_scale (32 + 6 14) u^2, its two products 5
//           u^2 each: 135 u^2 S < 2^-66.
//   turns   T cut to 2^-64: 2^-65 turns (1 + 1/2 pi). The frequency's 96 bits: T 2^-97 <= 2^-65.
//           The phase's 64: 2^-65 (table-inl.h). With T's own, below 2^-63: what angle=turn96
//           allows anywhere.
//   dd      base^(-2k/width) is within 2^-93 of itself (InversePower), its contract 2^-90.
class ScaledRows {
 public:
  ScaledRows(const Params& params, const std::vector<double>& local_shift,
             const std::vector<double>& positions, Dtype made)
      : params_(params),
        scale_(fast::Exp(params.log_scale) * Wide(params.frequency_scale)),
        made_(made),
        row_(static_cast<size_t>(params.width)),
        sines_(static_cast<size_t>(params.Frequencies())),
        cosines_(static_cast<size_t>(params.Frequencies())) {
    const Wide log_base = fast::Log(params.base);
    std::vector<double> high, low;
    for (int64_t k = 0; k < params.Frequencies(); ++k) {
      const Wide frequency = fast::InversePower(log_base, 2 * k, params.width);
      high.push_back(frequency.high);
      low.push_back(frequency.low);
    }
    turns_ = fast::TurnsOf(high, low);
    for (double position : positions) {
      at_.push_back(ScaledPosition(position, local_shift[static_cast<size_t>(position)]));
    }
  }

  // Sines and cosines in turn; of an odd width the last one is a sine.
  fast::Row At(int64_t token) {
    const auto pairs = static_cast<size_t>(params_.Pairs()), size = SizeOf(made_);
    fast::CosSinRow(turns_, at_[static_cast<size_t>(token)], 1, made_, cosines_.data(),
                    sines_.data());
    fast::Interleave(made_, sines_.data(), cosines_.data(), pairs, row_.data());
    if (params_.width % 2 == 1) {
      std::memcpy(row_.data() + 2 * pairs * size, sines_.data() + pairs * size, size);
    }
    return {{{row_.data(), made_, static_cast<size_t>(params_.width)}, {}}};
  }

 private:
  fast::TurnPosition ScaledPosition(double position, double local) const {
    const double c = params_.position_scale, product = c * position;
    const double sizes = std::fabs(product) + std::fabs(params_.mean) +
                         std::fabs(params_.global_shift) + std::fabs(local);
    Require(sizes * scale_.high <= fast::kLargestPosition,
            "the terms of a position, scaled, must add up to at most {} in size, got {} at {}",
            fast::kLargestPosition, sizes * scale_.high, position);
    const Wide scaled(product, std::fma(c, position, -product));
    const Wide sum = scaled - Wide(params_.mean) + Wide(params_.global_shift) + Wide(local);
    return fast::TurnPositionOf(sum * scale_);
  }

  Params params_;
  Wide scale_;
  Dtype made_;
  fast::Turns turns_;
  std::vector<fast::TurnPosition> at_;  // [tokens]
  fast::RowBuffer row_, sines_, cosines_;
};

}  // namespace

fast::RowMaker FastRows(const Params& params, const fast::Call& call,
                        const std::vector<double>& positions, Dtype, Dtype made) {
  const auto rows = std::make_shared<ScaledRows>(
      params, call.Numbers<double>("local_shift", {params.length}), positions, made);
  return [rows](int64_t token) { return rows->At(token); };
}

std::string RowContract(const Params&, Dtype made) {
  return fmt::format("position=exact frequency=dd:rn angle=turn96 trig=2ulp:f64 table={}",
                     Name(made));
}

}  // namespace posgauge::cape
