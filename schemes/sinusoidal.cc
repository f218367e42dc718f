#include "posgauge/schemes/sinusoidal.h"

#include <cmath>

#include "posgauge/schemes/base/domain.h"

namespace posgauge::sinusoidal {

Channel Params::ChannelAt(int64_t channel) const {
  if (layout == Layout::interleaved) {
    return {channel % 2 == 0 ? Wave::sin : Wave::cos, channel / 2};
  }
  // The half that comes first has Waves() channels, and the other one never more than width/2.
  const bool first = channel < Waves();
  if (!first && channel >= Waves() + width / 2) return {};
  const bool is_sin = first == (layout == Layout::halves);
  return {is_sin ? Wave::sin : Wave::cos, first ? channel : channel - Waves()};
}

void Params::Validate() const {
  Require(width >= 2 && width <= kLargestWidth, "width must be in 2..{}, got {}", kLargestWidth,
          width);
  if (width % 2 == 1) {
    Require(odd_width != OddWidth::refuse,
            "width must be even unless odd_width says what an odd one means, got {}", width);
    // Transformer-XL and GPT-NeoX make rows of width + 1 with a cosine for the extra sine too.
    Require(odd_width != OddWidth::extra_sine ||
                (layout != Layout::flipped && !frequency_shift.has_value()),
            "odd_width extra_sine goes with layout interleaved or halves and without "
            "frequency_shift, got layout {}",
            VariantName(layout));
    Require(
        odd_width != OddWidth::zero ||
            (layout != Layout::interleaved && frequency_shift.has_value()),
        "odd_width zero goes with layout halves or flipped and a frequency_shift, got layout {}",
        VariantName(layout));
  }
  if (frequency_shift) {
    Require(*frequency_shift >= 0 && *frequency_shift < Waves(),
            "frequency_shift must be in 0..{} (exponents are k/({} - frequency_shift)), got {}",
            Waves() - 1, Waves(), *frequency_shift);
  }
  Require(std::isfinite(base) && base >= 1 && base <= 1e30,
          "base must be a number in 1..1e30, got {}", base);
  RequireScale("scale", scale, kSmallestScale);
  Require(std::abs(start) <= kLargestLength, "start must be in -{0}..{0} tokens, got {1}",
          kLargestLength, start);
  Require(padding_index.value_or(0) >= 0 && padding_index.value_or(0) <= kLargestLength,
          "padding_index must be in 0..{}, got {}", kLargestLength, padding_index.value_or(0));
}

}  // namespace posgauge::sinusoidal
