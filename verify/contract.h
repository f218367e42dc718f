#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge {

/// Arithmetic of one stage. `exact` commits no error; `dd` is an unevaluated sum of two doubles.
/// `turn64` and `turn96`, for angles only, hold the frequency as a fixed-point fraction of a turn
/// of that many bits and 64 bits of its product with the position. The others are the formats of
/// the dtypes.
enum class Arithmetic { exact, turn64, turn96, dd, f64, f32, f16, bf16, f8e4m3, f8e5m2 };
template <>
inline constexpr auto kVariantNames<Arithmetic> = std::array<std::string_view, 10>{
    "exact", "turn64", "turn96", "dd", "f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"};

/// How the frequencies are formed in their arithmetic: `rn` correctly rounded, `pow`
/// 1/base^(2i/d) as torch writes it, `exp` exp(-i log(base)/half), `recurrence` repeated products.
enum class FrequencyFormula { rn, pow, exp, recurrence };
template <>
inline constexpr auto kVariantNames<FrequencyFormula> =
    std::array<std::string_view, 4>{"rn", "pow", "exp", "recurrence"};

/// Rounding of the store: nearest even, towards zero (truncation), stochastic.
enum class StoreRounding { rne, rtz, sr };
template <>
inline constexpr auto kVariantNames<StoreRounding> =
    std::array<std::string_view, 3>{"rne", "rtz", "sr"};

/// The arithmetic that a rotary kernel declares, stage by stage. One line of key=value words:
///
///   position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=f32:fma store=bf16:rne
///   flush=no
///
/// What a line does not say means the weakest allowed, and Text() prints it. docs/contracts.md.
struct Contract {
  Arithmetic position = Arithmetic::exact;  // i32 and i64 read as exact
  Arithmetic frequency = Arithmetic::exact;
  FrequencyFormula frequency_formula = FrequencyFormula::rn;
  Arithmetic angle = Arithmetic::exact;
  double trig_ulps = 0.5;  // of trig_arithmetic, at values in [1/2, 1]
  Arithmetic trig_arithmetic = Arithmetic::f32;
  Arithmetic table = Arithmetic::f32;
  Arithmetic rotate = Arithmetic::f32;
  bool fma = false;
  Arithmetic accumulate = Arithmetic::f32;  // of a dot product: scores
  Dtype store = Dtype::f32;
  StoreRounding store_rounding = StoreRounding::rne;
  bool flush_to_zero = false;

  /// What a line does not say is the weakest that a kernel with tensors of dtype `io` can mean.
  /// Throws ParameterError naming the word: "contract: rotate must be one of exact, ..., got
  /// 'f33'".
  static Contract Parse(std::string_view line, Dtype io);

  /// Nothing declared: exact angle, f32 inside, correctly rounded store in the io dtype.
  static Contract Default(Dtype io);

  /// The complete line, every key present.
  std::string Text() const;

  /// The same of attention, which has no angle and no table.
  std::string AttentionText() const;
  bool operator==(const Contract&) const = default;
};

/// Unit roundoff u: a rounding x -> x (1 + e) has |e| <= u. 0 for exact and for turns, whose error
/// is absolute.
double UnitRoundoff(Arithmetic arithmetic);

/// Half the smallest subnormal: what a rounding may lose besides u |x|; the smallest normal number
/// when it flushes to zero. 0 for exact.
double UnderflowError(Arithmetic arithmetic, bool flush_to_zero);

/// Largest finite number; infinite for exact. Turns and dd count as f64.
double LargestFinite(Arithmetic arithmetic);

/// Bits that a number of the arithmetic keeps.
int Digits(Arithmetic arithmetic);

/// The format whose numbers the arithmetic rounds to; that of f64 for exact, dd and turns.
Format FormatOf(Arithmetic arithmetic);

/// Whether every number of `inner` is one of `outer`, so that passing it on rounds nothing.
bool Holds(Arithmetic outer, Arithmetic inner);

/// The arithmetic of a dtype; exact for the integer dtypes.
Arithmetic ArithmeticOf(Dtype dtype);

}  // namespace posgauge
