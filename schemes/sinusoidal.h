#pragma once

#include <optional>

#include "posgauge/schemes/base/channel.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge::sinusoidal {

/// Order of the channels. `interleaved`: sin 0, cos 0, sin 1, ... `halves`: all sines, then all
/// cosines. `flipped`: all cosines, then all sines.
enum class Layout { interleaved, halves, flipped };

/// What an odd width means. `extra_sine`: one sine more than cosines, (width + 1)/2 frequencies.
/// `zero`: (width - 1)/2 frequencies, the last channel is 0.
enum class OddWidth { refuse, extra_sine, zero };

}  // namespace posgauge::sinusoidal

namespace posgauge {
template <>
inline constexpr auto kVariantNames<sinusoidal::Layout> =
    std::array<std::string_view, 3>{"interleaved", "halves", "flipped"};
template <>
inline constexpr auto kVariantNames<sinusoidal::OddWidth> =
    std::array<std::string_view, 3>{"refuse", "extra_sine", "zero"};
}  // namespace posgauge

namespace posgauge::sinusoidal {

/// Sinusoidal absolute encoding: wave k at position p is sin and cos of
///   scale * (p + start) * base^(-k/D),  k = 0..K-1.
/// Vaswani et al. 2017, arXiv:1706.03762, sec. 3.5: D = width/2, interleaved. Others by what
/// differs:
///
///   Transformer-XL, x-transformers, GPT-NeoX  halves
///   Marian, Pegasus (transformers)            halves, odd_width extra_sine
///   DistilBERT, XLM                           interleaved, odd_width extra_sine
///   tensor2tensor, Whisper                    halves, frequency_shift 1 (D = K - 1), odd_width
///   zero;
///                                             min_timescale m is scale m, base max_timescale/m
///   fairseq                                   the same with padding_index
///   diffusers get_timestep_embedding          halves or flipped (flip_sin_to_cos), frequency_shift
///                                             0 or 1, odd_width zero, base its max_period
///   ggml timestep embedding                   flipped, frequency_shift 0, odd_width zero
///
/// Positions are integers or, as in timesteps, any real number.
struct Params {
  static constexpr std::string_view kName = "sinusoidal";
  static constexpr std::string_view kSummary = "sinusoidal rows that are added to embeddings";
  static constexpr std::string_view kEquation =
      "sin and cos of p frequency_k, frequency_k = scale base^(-k/D), D = width/2, or the waves "
      "less frequency_shift";
  static constexpr std::string_view kSource = "Vaswani et al. 2017, arXiv:1706.03762, sec. 3.5";

  int64_t width = 512;
  Layout layout = Layout::interleaved;
  std::optional<int64_t> frequency_shift = {};
  OddWidth odd_width = OddWidth::refuse;
  double base = 10000;
  double scale = 1;
  int64_t start = 0;                          // tokens
  std::optional<int64_t> padding_index = {};  // a row

  /// Number of frequencies K.
  int64_t Waves() const { return odd_width == OddWidth::extra_sine ? (width + 1) / 2 : width / 2; }

  /// 2 D, an integer: the exponent of wave k is -2k over it.
  int64_t TwiceDenominator() const {
    return frequency_shift ? 2 * (Waves() - *frequency_shift) : width;
  }

  /// What a channel holds.
  Channel ChannelAt(int64_t channel) const;

  /// Throws ParameterError. Refused are the odd widths of which deployed code makes rows of another
  /// width or a division by zero.
  void Validate() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("width", self.width, "channels of a row, at least 2");
    visit(
        "layout", self.layout,
        "interleaved (sin 0, cos 0, sin 1, ...); halves: all sines, then all cosines; flipped: all "
        "cosines, then all sines");
    visit("frequency_shift", self.frequency_shift,
          "frequency k of K is base^(-k/(K - frequency_shift)); not set: base^(-2k/width)");
    visit(
        "odd_width", self.odd_width,
        "of an odd width: extra_sine has one sine more than cosines, zero leaves the last channel "
        "0");
    visit("base", self.base, "the largest period over the smallest (max_period), at least 1");
    visit("scale", self.scale, "multiplies every angle");
    visit("start", self.start, "position 0 has the row of this index");
    visit("padding_index", self.padding_index,
          "the row of this index is all zeros; a row's index is its position plus start");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::sinusoidal
