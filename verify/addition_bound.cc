#include "posgauge/verify/addition_bound.h"

#include <cmath>

#include "posgauge/verify/frequency_error.h"

namespace posgauge {

namespace {

// The bounds themselves are evaluated in binary64, in fewer than thirty operations, each rounded.
double Upward(double bound) { return bound * (1 + 0x1p-47); }

}  // namespace

AdditionBound::AdditionBound(const Contract& contract, const Scheme& scheme,
                             std::vector<double> frequencies, double start, GivenStages given)
    : waves_(contract, scheme, frequencies, 1, given),
      frequencies_(std::move(frequencies)),
      start_(start),
      given_(given) {}

// The waves' bound covers the rounding of the index p + start. Where there is a start, p itself may
// have been rounded before the sum: d more of the index, which the rounding of the sum, that of the
// sum in the angle's arithmetic, those of the frequency and that of the product carry on,
//   w (1 + e)(1 + u_a) d (1 + u_p)(1 + u_a) (1 + u_a).
double AdditionBound::Angle(double position, int64_t wave) const {
  const double angle = waves_.Angle(position + start_, wave);
  if (start_ == 0 || std::isinf(angle)) return angle;
  const Contract& c = contract();
  const double p = std::fabs(position);
  if (p > LargestFinite(c.position)) return HUGE_VAL;
  const Loss loss = LossOf(c.position, c.flush_to_zero, p);
  const double lost = p * loss.relative + loss.absolute;
  if (lost == 0) return angle;
  const double w = std::fabs(frequencies_[static_cast<size_t>(wave)]) * (1 + 0x1p-52);
  const double grown =
      Together(Compound(1, UnitRoundoff(c.position)), Compound(3, UnitRoundoff(c.angle)));
  return Upward(angle + w * (1 + waves_.Frequency(wave)) * lost * (1 + grown));
}

double AdditionBound::RowExcess(double position, Channel channel) const {
  if (channel.function == Wave::zero) return 0;
  return waves_.EntryExcess(Angle(position, channel.wave));
}

// x + row: the entry is off by T; what the sum's arithmetic does not hold is rounded to it first;
// the sum y rounds once, u of what it is then. Sums of IEEE numbers do not underflow, but operands
// that are narrowed may, and with flush to zero each operand and the sum.
AdditionBound::Sum AdditionBound::SumOf(double position, Channel channel, double x, double sum,
                                        bool last_is_covered) const {
  const Contract& c = contract();
  const bool is_zero = channel.function == Wave::zero;
  const double entry = is_zero || given_.table ? 0 : waves_.Entry(Angle(position, channel.wave));
  if (std::isinf(entry)) return {HUGE_VAL, true};
  const double u = UnitRoundoff(c.rotate), eta = UnderflowError(c.rotate, c.flush_to_zero);
  const bool narrow_entry = !is_zero && !Holds(c.rotate, given_.table.value_or(c.table));
  const bool narrow_x = !Holds(c.rotate, ArithmeticOf(c.store));
  double error = entry;
  if (narrow_entry) error += (1 + entry) * u;
  if (narrow_x) error += std::fabs(x) * u;
  const int losses =
      c.flush_to_zero ? 3 : static_cast<int>(narrow_entry) + static_cast<int>(narrow_x);
  error += losses * eta;
  if (!last_is_covered) error += (std::fabs(sum) + error) * u;
  const double largest = std::fabs(x) * (1 + u) + 1 + error;
  return {Upward(error),
          largest > LargestFinite(c.rotate) || largest > LargestFinite(ArithmeticOf(c.store))};
}

// Where sum and store are one format the sum's rounding is the one that the interval covers.
double AdditionBound::EmbedExcess(double position, Channel channel, double x, double sum) const {
  const Contract& c = contract();
  const bool sum_is_store =
      c.rotate == ArithmeticOf(c.store) && c.store_rounding != StoreRounding::rtz;
  const Sum computed = SumOf(position, channel, x, sum, sum_is_store);
  if (computed.may_overflow) return HUGE_VAL;
  return Upward(computed.error +
                (c.flush_to_zero ? UnderflowError(ArithmeticOf(c.store), true) : 0));
}

double AdditionBound::Stored(double size) const {
  const Contract& c = contract();
  const Arithmetic store = ArithmeticOf(c.store);
  const double share = c.store_rounding == StoreRounding::rne ? 1 : 2;
  return share * (UnitRoundoff(store) * size + UnderflowError(store, c.flush_to_zero));
}

double AdditionBound::Row(double position, Channel channel) const {
  if (channel.function == Wave::zero) return 0;
  const double entry = waves_.Entry(Angle(position, channel.wave));
  const bool idle = Holds(ArithmeticOf(contract().store), contract().table);
  return Upward(entry + (idle && !contract().flush_to_zero ? 0 : Stored(1 + entry)));
}

double AdditionBound::Embed(double position, Channel channel, double x, double sum) const {
  const Sum computed = SumOf(position, channel, x, sum, false);
  if (computed.may_overflow) return HUGE_VAL;
  return Upward(computed.error + Stored(std::fabs(sum) + computed.error));
}

}  // namespace posgauge
