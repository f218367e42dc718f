#include "posgauge/properties/addition_laws.h"

#include <algorithm>
#include <cmath>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/waves.h"
#include "posgauge/verify/double_double.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge {

namespace {

bool SameBits(const Tensor& a, size_t i, const Tensor& b, size_t j) {
  return a.Bits(i) == b.Bits(j);
}

size_t WidthOf(const Subject& subject) {
  return static_cast<size_t>(subject.addition().exact().width());
}

Witness WitnessAt(const Subject& subject, size_t index, double got, double want) {
  return {.where =
              fmt::format("row {}, channel {}", index / WidthOf(subject), index % WidthOf(subject)),
          .got = HexFloat(got),
          .want = HexFloat(want)};
}

// Rows of a result by row of another: bit for bit where the kernel promises it, else each within
// the contract of the same values, so within twice its bound of each other.
class RowComparison {
 public:
  RowComparison(const Subject& subject, const Tensor* x, bool same_bits)
      : subject_(subject), x_(x), same_bits_(same_bits) {}

  // Row `row` of `got` against row `of` of `want`, both at `position`.
  void Compare(const Tensor& got, size_t row, const Tensor& want, size_t of, double position) {
    const size_t width = WidthOf(subject_);
    for (size_t channel = 0; channel < width; ++channel) {
      const size_t i = row * width + channel, j = of * width + channel;
      const auto describe = [&] { return WitnessAt(subject_, i, got.Value(i), want.Value(j)); };
      const double x = x_ == nullptr ? 0 : x_->Value(j);
      if (same_bits_) {
        comparisons_.AddExact(position, SameBits(got, i, want, j), describe);
      } else if (std::isfinite(x)) {
        comparisons_.Add(position, std::fabs(got.Value(i) - want.Value(j)) * (1 - 0x1p-51),
                         2 * Bound(position, channel, x, std::fabs(want.Value(j))), 1, describe);
      }
    }
  }

  Verdict Take() { return comparisons_.Take(); }

 private:
  double Bound(double position, size_t channel, double x, double size) const {
    const AdditionTruth& truth = subject_.addition();
    const Channel held = truth.exact().ChannelAt(position, static_cast<int64_t>(channel));
    if (x_ == nullptr) return truth.bound().Row(position, held);
    return truth.bound().Embed(position, held, x, size + 1);
  }

  const Subject& subject_;
  const Tensor* x_;
  bool same_bits_;
  Comparisons comparisons_;
};

// Rows, or embeddings of given rows of x.
Tensor Yield(const Subject& subject, const std::vector<double>& positions, const Tensor& x) {
  return subject.info().quantity == "table" ? subject.Rows(positions) : subject.Embed(positions, x);
}

Tensor RowsFrom(const Tensor& x, const std::vector<size_t>& order) {
  const auto width = static_cast<size_t>(x.shape()[1]);
  Tensor chosen(x.dtype(), {static_cast<int64_t>(order.size()), x.shape()[1]});
  for (size_t row = 0; row < order.size(); ++row) {
    for (size_t i = 0; i < width; ++i) {
      chosen.SetBits(row * width + i, x.Bits(order[row] * width + i));
    }
  }
  return chosen;
}

const Tensor* InputOf(const Subject& subject, const LawCase& c) {
  return subject.info().quantity == "embed" ? &c.x : nullptr;
}

Verdict CheckDeterminism(const Subject& subject, const LawCase& c) {
  const Tensor once = Yield(subject, c.positions, c.x), again = Yield(subject, c.positions, c.x);
  RowComparison rows(subject, InputOf(subject, c), true);
  for (size_t row = 0; row < c.positions.size(); ++row) {
    rows.Compare(again, row, once, row, c.positions[row]);
  }
  return rows.Take();
}

// A row alone, in a table that ends with it, and among others in another order: it depends on its
// own position alone, however long the table is.
Verdict CheckRows(const Subject& subject, const LawCase& c) {
  const Tensor whole = Yield(subject, c.positions, c.x);
  const size_t count = c.positions.size();
  RowComparison rows(subject, InputOf(subject, c), subject.info().Declares("chunking"));
  const auto try_order = [&](const std::vector<size_t>& order) {
    std::vector<double> positions;
    for (size_t row : order) positions.push_back(c.positions[row]);
    const Tensor part = Yield(subject, positions, RowsFrom(c.x, order));
    for (size_t row = 0; row < order.size(); ++row) {
      rows.Compare(part, row, whole, order[row], positions[row]);
    }
  };
  std::vector<size_t> reversed;
  for (size_t row = count; row-- > 0;) reversed.push_back(row);
  try_order(reversed);
  for (size_t row = 0; row < count; ++row) try_order({row});
  return rows.Take();
}

// The sums of x placed so and of x placed apart.
Verdict ComparePlacement(const Subject& subject, const LawCase& c, Placement placement) {
  const Tensor placed = subject.Embed(c.positions, c.x, placement);
  const Tensor apart = subject.Embed(c.positions, c.x);
  RowComparison rows(subject, &c.x, subject.info().Declares("alignment"));
  for (size_t row = 0; row < c.positions.size(); ++row) {
    rows.Compare(placed, row, apart, row, c.positions[row]);
  }
  return rows.Take();
}

Verdict CheckInPlace(const Subject& subject, const LawCase& c) {
  return ComparePlacement(subject, c, Placement::in_place);
}

Verdict CheckPlacement(const Subject& subject, const LawCase& c) {
  return CheckPlacements(
      [&](Placement placement) { return ComparePlacement(subject, c, placement); });
}

// Changing some elements of x changes no bit of the others' sums; a NaN or an infinity stays what
// it is.
Verdict CheckIndependence(const Subject& subject, const LawCase& c) {
  const Tensor before = subject.Embed(c.positions, c.x);
  const size_t width = WidthOf(subject);
  Comparisons comparisons;
  const auto chosen = [&](size_t index) { return (index + index / width + c.seed) % 3 == 0; };
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1.0}) {
    Tensor changed = c.x;
    for (size_t i = 0; i < changed.size(); ++i) {
      if (chosen(i)) changed.Set(i, value);
    }
    const Tensor after = subject.Embed(c.positions, changed);
    for (size_t i = 0; i < changed.size(); ++i) {
      const double got = after.Value(i), position = c.positions[i / width];
      if (!chosen(i)) {
        comparisons.AddExact(position, SameBits(after, i, before, i),
                             [&] { return WitnessAt(subject, i, got, before.Value(i)); });
      } else if (!std::isfinite(value)) {
        const bool same = std::isnan(value) ? std::isnan(got) : got == value;
        comparisons.AddExact(position, same, [&] { return WitnessAt(subject, i, got, value); });
      }
    }
  }
  return comparisons.Take();
}

// embed(x) - x = embed(y) - y = the row: each sum is off by its bound. The differences are formed
// exactly, of two numbers each.
Verdict CheckSameRow(const Subject& subject, const LawCase& c) {
  const Tensor of_x = subject.Embed(c.positions, c.x), of_y = subject.Embed(c.positions, c.y);
  const AdditionTruth& truth = subject.addition();
  const size_t width = WidthOf(subject);
  Comparisons comparisons;
  for (size_t i = 0; i < of_x.size(); ++i) {
    const double x = c.x.Value(i), y = c.y.Value(i), position = c.positions[i / width];
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    const Channel held = truth.exact().ChannelAt(position, static_cast<int64_t>(i % width));
    const DoubleDouble added_x = TwoSum(of_x.Value(i), -x), added_y = TwoSum(of_y.Value(i), -y);
    const auto allowed = [&](double in) {
      return truth.bound().Embed(position, held, in, std::fabs(in) + 1);
    };
    comparisons.Add(position, std::fabs((added_x - added_y).high) * (1 - 0x1p-50),
                    allowed(x) + allowed(y), 1, [&] {
                      Witness witness = WitnessAt(subject, i, added_x.high, added_y.high);
                      witness.where += fmt::format(", x {} and {}", x, y);
                      return witness;
                    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> AdditionLaws() {
  return {
      {"determinism", "two identical runs give identical bits", "table embed", false,
       CheckDeterminism},
      {"rows", "a row depends on its own position alone, however long the table is", "table embed",
       false, CheckRows},
      {"in_place", "writing over the input gives what writing elsewhere gives", "embed", false,
       CheckInPlace},
      {"placement", "packed rows, and rows with gaps off any boundary, give what compact ones give",
       "embed", false, CheckPlacement},
      {"independence",
       "changing elements of x changes no bit of the other sums; what is not finite stays so",
       "embed", false, CheckIndependence},
      {"same_row", "what is added does not depend on what it is added to", "embed", false,
       CheckSameRow},
  };
}

}  // namespace posgauge
