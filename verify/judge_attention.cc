#include "posgauge/verify/judge_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "posgauge/verify/double_double.h"
#include "posgauge/verify/use_collector.h"

namespace posgauge {

namespace {

// What the arithmetic of verify/double_double.h may add to a difference, relative to its operands.
constexpr double kMeasuringError = 0x1p-97;

// The elements of one row, [begin, end).
struct Row {
  size_t begin, end;
};

// Rows along the last axis: of a head and query, or of one slope each.
std::vector<Row> RowsOf(const Attended& attended) {
  const auto& shape = attended.out.shape();
  const size_t length = shape.size() == 1 ? 1 : static_cast<size_t>(shape.back());
  std::vector<Row> rows;
  for (size_t begin = 0; length > 0 && begin < attended.out.size(); begin += length) {
    rows.push_back({begin, begin + length});
  }
  return rows;
}

// What stands for each row in reports: its own position, or that of the whole call.
Positions PositionsOf(const Attended& attended) {
  return IsOfRows(attended.quantity) ? Positions(attended.inputs["positions"].values)
                                     : Positions(&attended.position, 1);
}

size_t TokenOf(const Attended& attended, size_t index) {
  return IsOfRows(attended.quantity) ? index / static_cast<size_t>(attended.out.shape().back()) : 0;
}

// One element judged against the truth moved by `shift`.
class Judge {
 public:
  Judge(const Attended& attended, const EnclosedEach& truth,
        const std::vector<AttentionLimit>& limits, const Contract& contract)
      : attended_(attended), truth_(truth), limits_(limits), contract_(contract) {}

  bool IsMasked(size_t i) const { return std::isinf(truth_.values[i].high); }

  double UseOf(size_t i) const {
    const double got = attended_.out.Value(i);
    if (IsMasked(i)) return got == truth_.values[i].high ? 0 : HUGE_VAL;
    return Use(Excess(i, truth_.values[i]), limits_[i].excess);
  }

  // A kernel whose row is shifted computes the shifted number and rounds it once more, in its
  // arithmetic, than the bound knows: u of what it stored.
  double UseOf(size_t i, DoubleDouble shift) const {
    if (IsMasked(i)) return UseOf(i);
    return Use(Excess(i, truth_.values[i] + shift), limits_[i].excess + ShiftedRounding(i));
  }

  // A shift that leaves every element of the row within its limit: each of them allows an interval
  // of shifts, and the middle of what they all allow is taken.
  struct Shift {
    DoubleDouble by;
    double use;
  };
  std::optional<Shift> CommonShift(Row row) const {
    const auto less = [](DoubleDouble a, DoubleDouble b) {
      return a.high != b.high ? a.high < b.high : a.low < b.low;
    };
    DoubleDouble low{-HUGE_VAL, 0}, high{HUGE_VAL, 0};
    for (size_t i = row.begin; i < row.end; ++i) {
      if (IsMasked(i)) continue;
      const double got = attended_.out.Value(i);
      const double allowed = limits_[i].excess + ShiftedRounding(i);
      if (!std::isfinite(got)) return std::nullopt;
      if (std::isinf(allowed)) continue;
      const RoundingReach reach = ReachOf(attended_.out.dtype(), contract_.store_rounding, got);
      const DoubleDouble difference = DoubleDouble{got, 0} - truth_.values[i];
      low = std::max(low, difference - DoubleDouble{reach.below + allowed, 0}, less);
      high = std::min(high, difference + DoubleDouble{reach.above + allowed, 0}, less);
    }
    if (less(high, low) || std::isinf(low.high)) return std::nullopt;
    const DoubleDouble by = (low + high) * 0.5;
    double use = 0;
    for (size_t i = row.begin; i < row.end; ++i) use = std::max(use, UseOf(i, by));
    return Shift{by, use};
  }

 private:
  double ShiftedRounding(size_t i) const {
    return UnitRoundoff(contract_.rotate) * std::fabs(attended_.out.Value(i));
  }

  double Excess(size_t i, DoubleDouble truth) const {
    const double excess = RoundingIntervalExcess(attended_.out.dtype(), contract_.store_rounding,
                                                 attended_.out.Value(i), truth);
    return std::max(0.0, excess - truth_.radii[i] - kMeasuringError * std::fabs(truth.high));
  }

  const Attended& attended_;
  const EnclosedEach& truth_;
  const std::vector<AttentionLimit>& limits_;
  const Contract& contract_;
};

bool MayShift(const Attended& attended) {
  return attended.quantity == AttentionQuantity::bias ||
         attended.quantity == AttentionQuantity::scores;
}

Witness WitnessOf(const Attended& attended, size_t index, double want) {
  return {.where = PlaceText(attended, index),
          .got = HexAndDecimal(attended.out.Value(index)),
          .want = HexAndDecimal(want),
          .positioned = attended.quantity != AttentionQuantity::slopes};
}

bool Over(const Judge& judge, Row row) {
  for (size_t i = row.begin; i < row.end; ++i) {
    if (judge.UseOf(i) > 1) return true;
  }
  return false;
}

}  // namespace

std::string PlaceText(const Attended& attended, size_t index) {
  const auto& shape = attended.out.shape();
  std::vector<size_t> at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = index % static_cast<size_t>(shape[axis]);
    index /= static_cast<size_t>(shape[axis]);
  }
  const auto position = [&](const char* name, size_t i) { return attended.inputs[name].values[i]; };
  switch (attended.quantity) {
    case AttentionQuantity::slopes:
      return fmt::format("head {}", at[0]);
    case AttentionQuantity::buckets:
      return fmt::format("query at {}, key at {}", position("query_positions", at[0]),
                         position("key_positions", at[1]));
    case AttentionQuantity::table:
    case AttentionQuantity::embed:
      return fmt::format("channel {}", at[1]);
    case AttentionQuantity::attention:
      return fmt::format("head {}, query at {}, channel {}", at[1],
                         position("query_positions", at[0]), at[2]);
    default:
      return fmt::format("head {}, query at {}, key at {}", at[0],
                         position("query_positions", at[1]), position("key_positions", at[2]));
  }
}

Finding HoldToBound(const Attended& attended, const EnclosedEach& truth,
                    const std::vector<AttentionLimit>& limits, const Contract& contract) {
  const Judge judge(attended, truth, limits, contract);
  UseCollector collector(PositionsOf(attended));
  for (const Row row : RowsOf(attended)) {
    std::optional<Judge::Shift> shift;
    if (MayShift(attended) && Over(judge, row)) shift = judge.CommonShift(row);
    const bool shifted = shift && shift->use <= 1;
    double largest = 0;
    for (size_t i = row.begin; i < row.end; ++i) {
      if (!judge.IsMasked(i)) largest = std::max(largest, std::fabs(truth.values[i].high));
    }
    for (size_t i = row.begin; i < row.end; ++i) {
      if (judge.IsMasked(i)) {
        collector.AddIdle();
      } else if (!(limits[i].excess <= kBlindShare * std::max(largest, limits[i].size))) {
        collector.AddBlind();
      }
      const double use = shifted && attended.rowshift ? judge.UseOf(i, shift->by) : judge.UseOf(i);
      collector.Add(TokenOf(attended, i), use, i, [&] {
        Witness witness = WitnessOf(attended, i, truth.values[i].high);
        if (shifted && !attended.rowshift) {
          witness.where += fmt::format(
              "; the whole row is off by {:.6g}, which softmax does not see: a kernel of that form "
              "declares rowshift",
              shift->by.high);
        }
        return witness;
      });
    }
  }
  return collector.Take();
}

RowShifts FindRowShifts(const Attended& attended, const EnclosedEach& truth,
                        const std::vector<AttentionLimit>& limits, const Contract& contract) {
  RowShifts shifts;
  if (!MayShift(attended)) return shifts;
  const Judge judge(attended, truth, limits, contract);
  const Format format = FormatOf(attended.out.dtype());
  for (const Row row : RowsOf(attended)) {
    if (!Over(judge, row)) continue;
    const std::optional<Judge::Shift> shift = judge.CommonShift(row);
    if (!shift || shift->use > 1) continue;
    RowShifts one{1, std::fabs(shift->by.high), 0, 0};
    for (size_t i = row.begin; i < row.end; ++i) {
      if (judge.IsMasked(i)) continue;
      one.spacing = std::max(one.spacing, Ulp(format, attended.out.Value(i)));
      one.own_spacing = std::max(
          one.own_spacing, Ulp(format, std::min(std::fabs(truth.values[i].high), Largest(format))));
    }
    shifts.Merge(one);
  }
  return shifts;
}

void RowShifts::Merge(const RowShifts& other) {
  rows += other.rows;
  largest = std::max(largest, other.largest);
  if (other.spacing > spacing) {
    spacing = other.spacing;
    own_spacing = other.own_spacing;
  }
}

std::string RowShifts::Text() const {
  if (rows == 0) return "";
  return fmt::format(
      "differs by a harmless row shift in {} rows, of {:.6g} at most: its spacing there is {:.3g}, "
      "without the shift {:.3g}",
      rows, largest, spacing, own_spacing);
}

Finding HoldToBudget(const Attended& attended, const EnclosedEach& truth,
                     const std::vector<AttentionLimit>& limits, double budget) {
  const Format format = FormatOf(attended.out.dtype());
  UseCollector collector(PositionsOf(attended));
  for (const Row row : RowsOf(attended)) {
    const auto error = [&](size_t i) {
      return (attended.out.Value(i) - truth.values[i].high) - truth.values[i].low;
    };
    const auto counts = [&](size_t i) { return !std::isinf(truth.values[i].high); };
    // The middle of the differences stands for the shift.
    double shift = 0, low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = row.begin; attended.rowshift && MayShift(attended) && i < row.end; ++i) {
      if (!counts(i)) continue;
      low = std::min(low, error(i));
      high = std::max(high, error(i));
    }
    if (std::isfinite(low) && std::isfinite(high)) shift = low + (high - low) / 2;
    for (size_t i = row.begin; i < row.end; ++i) {
      if (!counts(i)) {
        const bool masked = attended.out.Value(i) == truth.values[i].high;
        collector.Add(TokenOf(attended, i), masked ? 0 : HUGE_VAL, i,
                      [&] { return WitnessOf(attended, i, truth.values[i].high); });
        continue;
      }
      const double size = std::max(limits[i].size, std::fabs(truth.values[i].high));
      if (size > std::ldexp(1.0, format.max_exponent)) continue;
      collector.Add(TokenOf(attended, i),
                    std::fabs(error(i) - shift) / (budget * Ulp(format, size)), i,
                    [&] { return WitnessOf(attended, i, truth.values[i].high); });
    }
  }
  return collector.Take();
}

Finding HoldToIntegers(const Attended& attended, const std::vector<int64_t>& truth) {
  UseCollector collector(PositionsOf(attended));
  for (size_t i = 0; i < truth.size(); ++i) {
    const double got = attended.out.Value(i);
    collector.Add(TokenOf(attended, i), got == static_cast<double>(truth[i]) ? 0 : HUGE_VAL, i,
                  [&] {
                    return Witness{.where = PlaceText(attended, i),
                                   .got = fmt::format("{}", got),
                                   .want = fmt::format("{}", truth[i])};
                  });
  }
  return collector.Take();
}

}  // namespace posgauge
