#include "posgauge/verify/judge_equations.h"

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
std::vector<Row> RowsOf(const EquationResult& result) {
  const auto& shape = result.out.shape();
  const size_t length = shape.size() == 1 ? 1 : static_cast<size_t>(shape.back());
  std::vector<Row> rows;
  for (size_t begin = 0; length > 0 && begin < result.out.size(); begin += length) {
    rows.push_back({begin, begin + length});
  }
  return rows;
}

// What stands for each row in reports: its own position, or that of the whole call.
Positions PositionsOf(const EquationResult& result) {
  return IsOfRows(result.quantity) ? Positions(result.inputs["positions"].values)
                                   : Positions(&result.position, 1);
}

size_t TokenOf(const EquationResult& result, size_t index) {
  return IsOfRows(result.quantity) ? index / static_cast<size_t>(result.out.shape().back()) : 0;
}

// One element judged against the truth moved by `shift`.
class Judge {
 public:
  Judge(const EquationResult& result, const EnclosedEach& truth,
        const std::vector<EquationLimit>& limits, const Contract& contract)
      : result_(result), truth_(truth), limits_(limits), contract_(contract) {}

  bool IsMasked(size_t i) const { return std::isinf(truth_.values[i].high); }

  double UseOf(size_t i) const {
    const double got = result_.out.Value(i);
    if (IsMasked(i)) return got == truth_.values[i].high ? 0 : HUGE_VAL;
    return Use(Excess(i, truth_.values[i]), limits_[i].excess);
  }

  // A kernel whose row is shifted computes the shifted number and rounds it once more, in its
  // arithmetic, than the bound knows: u of what it stored.
  double UseOf(size_t i, DoubleDouble shift) const {
    if (IsMasked(i)) return UseOf(i);
    return Use(Excess(i, truth_.values[i] + shift), limits_[i].excess + ShiftedRounding(i));
  }

  // What the roundings of a shifted number hide of the row, its store's among them: under a large
  // enough shift anything holds.
  double HiddenByShift(size_t i) const {
    const double got = result_.out.Value(i);
    if (!std::isfinite(got)) return HUGE_VAL;
    const RoundingReach reach = ReachOf(result_.out.dtype(), contract_.store_rounding, got);
    return ShiftedRounding(i) + std::max(reach.below, reach.above);
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
      const double got = result_.out.Value(i);
      const double allowed = limits_[i].excess + ShiftedRounding(i);
      if (!std::isfinite(got)) return std::nullopt;
      if (std::isinf(allowed)) continue;
      const RoundingReach reach = ReachOf(result_.out.dtype(), contract_.store_rounding, got);
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
    return UnitRoundoff(contract_.rotate) * std::fabs(result_.out.Value(i));
  }

  double Excess(size_t i, DoubleDouble truth) const {
    const double excess = RoundingIntervalExcess(result_.out.dtype(), contract_.store_rounding,
                                                 result_.out.Value(i), truth);
    return std::max(0.0, excess - truth_.radii[i] - kMeasuringError * std::fabs(truth.high));
  }

  const EquationResult& result_;
  const EnclosedEach& truth_;
  const std::vector<EquationLimit>& limits_;
  const Contract& contract_;
};

bool MayShift(const EquationResult& result) {
  return result.quantity == EquationQuantity::bias || result.quantity == EquationQuantity::scores;
}

Witness WitnessOf(const EquationResult& result, size_t index, double want) {
  return {.where = PlaceText(result, index),
          .got = HexAndDecimal(result.out.Value(index)),
          .want = HexAndDecimal(want),
          .positioned = result.quantity != EquationQuantity::slopes};
}

bool Over(const Judge& judge, Row row) {
  for (size_t i = row.begin; i < row.end; ++i) {
    if (judge.UseOf(i) > 1) return true;
  }
  return false;
}

}  // namespace

double FarthestQuery(const NamedInputs& inputs) {
  const ExactTensor* queries = inputs.Find("query_positions");
  return queries == nullptr || queries->values.empty() ? 0 : std::ranges::max(queries->values);
}

std::string PlaceText(const EquationResult& result, size_t index) {
  const auto& shape = result.out.shape();
  std::vector<size_t> at(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    at[axis] = index % static_cast<size_t>(shape[axis]);
    index /= static_cast<size_t>(shape[axis]);
  }
  const auto position = [&](const char* name, size_t i) { return result.inputs[name].values[i]; };
  switch (result.quantity) {
    case EquationQuantity::slopes:
      return fmt::format("head {}", at[0]);
    case EquationQuantity::buckets:
      return fmt::format("query at {}, key at {}", position("query_positions", at[0]),
                         position("key_positions", at[1]));
    case EquationQuantity::table:
    case EquationQuantity::embed:
      return fmt::format("channel {}", at[1]);
    case EquationQuantity::attention:
      return fmt::format("head {}, query at {}, channel {}", at[1],
                         position("query_positions", at[0]), at[2]);
    default:
      return fmt::format("head {}, query at {}, key at {}", at[0],
                         position("query_positions", at[1]), position("key_positions", at[2]));
  }
}

Finding HoldToBound(const EquationResult& result, const EnclosedEach& truth,
                    const std::vector<EquationLimit>& limits, const Contract& contract) {
  const Judge judge(result, truth, limits, contract);
  UseCollector collector(PositionsOf(result));
  for (const Row row : RowsOf(result)) {
    std::optional<Judge::Shift> shift;
    if (MayShift(result) && Over(judge, row)) shift = judge.CommonShift(row);
    const bool shifted = shift && shift->use <= 1;
    double largest = 0;
    for (size_t i = row.begin; i < row.end; ++i) {
      if (!judge.IsMasked(i)) largest = std::max(largest, std::fabs(truth.values[i].high));
    }
    for (size_t i = row.begin; i < row.end; ++i) {
      const bool allows_shift = shifted && result.rowshift;
      const double limit = limits[i].excess + (allows_shift ? judge.HiddenByShift(i) : 0);
      if (judge.IsMasked(i)) {
        collector.AddIdle();
      } else if (!(limit <= kBlindShare * std::max(largest, limits[i].size))) {
        collector.AddBlind();
      }
      const double use = allows_shift ? judge.UseOf(i, shift->by) : judge.UseOf(i);
      collector.Add(TokenOf(result, i), use, i, [&] {
        Witness witness = WitnessOf(result, i, truth.values[i].high);
        if (shifted && !result.rowshift) {
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

RowShifts FindRowShifts(const EquationResult& result, const EnclosedEach& truth,
                        const std::vector<EquationLimit>& limits, const Contract& contract) {
  RowShifts shifts;
  if (!MayShift(result)) return shifts;
  const Judge judge(result, truth, limits, contract);
  const Format format = FormatOf(result.out.dtype());
  for (const Row row : RowsOf(result)) {
    if (!Over(judge, row)) continue;
    const std::optional<Judge::Shift> shift = judge.CommonShift(row);
    if (!shift || shift->use > 1) continue;
    RowShifts one{1, std::fabs(shift->by.high), 0, 0};
    for (size_t i = row.begin; i < row.end; ++i) {
      if (judge.IsMasked(i)) continue;
      one.spacing = std::max(one.spacing, Ulp(format, result.out.Value(i)));
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

Finding HoldToBudget(const EquationResult& result, const EnclosedEach& truth,
                     const std::vector<EquationLimit>& limits, double budget) {
  const Format format = FormatOf(result.out.dtype());
  UseCollector collector(PositionsOf(result));
  for (const Row row : RowsOf(result)) {
    const auto counts = [&](size_t i) { return !std::isinf(truth.values[i].high); };
    const bool may_shift = result.rowshift && MayShift(result);
    // Differences from the first element, where a shift is allowed: stored numbers that a large one
    // has swallowed are equal, and their differences exact.
    double first = 0;
    for (size_t i = row.begin; may_shift && i < row.end; ++i) {
      if (!counts(i) || !std::isfinite(result.out.Value(i))) continue;
      first = result.out.Value(i);
      break;
    }
    const auto error = [&](size_t i) {
      const DoubleDouble got = DoubleDouble{result.out.Value(i), 0} - DoubleDouble{first, 0};
      return (got - truth.values[i]).high;
    };
    // The middle of the errors stands for the rest of the shift.
    double shift = 0, low = HUGE_VAL, high = -HUGE_VAL;
    for (size_t i = row.begin; may_shift && i < row.end; ++i) {
      if (!counts(i)) continue;
      low = std::min(low, error(i));
      high = std::max(high, error(i));
    }
    if (std::isfinite(low) && std::isfinite(high)) shift = low + (high - low) / 2;
    for (size_t i = row.begin; i < row.end; ++i) {
      if (!counts(i)) {
        const bool masked = result.out.Value(i) == truth.values[i].high;
        collector.Add(TokenOf(result, i), masked ? 0 : HUGE_VAL, i,
                      [&] { return WitnessOf(result, i, truth.values[i].high); });
        continue;
      }
      const double size = std::max(limits[i].size, std::fabs(truth.values[i].high));
      if (size > std::ldexp(1.0, format.max_exponent)) continue;
      collector.Add(TokenOf(result, i), std::fabs(error(i) - shift) / (budget * Ulp(format, size)),
                    i, [&] { return WitnessOf(result, i, truth.values[i].high); });
    }
  }
  return collector.Take();
}

Finding HoldToIntegers(const EquationResult& result, const std::vector<int64_t>& truth) {
  UseCollector collector(PositionsOf(result));
  for (size_t i = 0; i < truth.size(); ++i) {
    const double got = result.out.Value(i);
    collector.Add(TokenOf(result, i), got == static_cast<double>(truth[i]) ? 0 : HUGE_VAL, i, [&] {
      return Witness{.where = PlaceText(result, i),
                     .got = fmt::format("{}", got),
                     .want = fmt::format("{}", truth[i])};
    });
  }
  return collector.Take();
}

}  // namespace posgauge
