#include "posgauge/reference/row_cache.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "posgauge/reference/parallel.h"

namespace posgauge {

namespace {

constexpr double kPositionEnd = 0x1p31;

// What kRowRadius leaves for the interval a row is made from.
constexpr double kIntervalRadius = 0x1p-118;

// Both parts of a sum as MiddleOf gives it, moved so that |low| <= ulp(high) / 2.
DoubleDouble Normalised(DoubleDouble sum) {
  const double high = sum.high + sum.low;
  return {high, (sum.high - high) + sum.low};
}

// The row at p, or nothing where no precision of the ladder encloses it narrowly enough.
std::unique_ptr<const RotationRow> MakeRow(const RotationLadder& ladder, int64_t position) {
  const int64_t pairs = ladder.layout().Pairs();
  auto row = std::make_unique<RotationRow>(pairs);
  bool narrow = true;
  for (int64_t pair = 0; pair < pairs && narrow; ++pair) {
    // From 257 bits: the angle loses up to 31 bits before the point.
    ladder.WithLowest<1>([&]<class I>(const Rotation<I>& rotation) {
      const auto values = CosSin(I(position) * rotation.frequency[static_cast<size_t>(pair)]);
      for (size_t k : {0, 1}) {
        // The sum of two doubles is within half an ulp of its low part; what the interval adds:
        const auto width = values[k].hi() - values[k].lo();
        if (width > kIntervalRadius) {
          if (I::Bits() < 1000) throw Undecided();
          narrow = false;
        }
        double radius = 0;
        const auto [high, low] = Normalised(MiddleOf(values[k], &radius));
        const auto at = static_cast<size_t>(pair + static_cast<int64_t>(k) * row->stride);
        row->high[at] = high;
        row->low[at] = low;
      }
    });
  }
  if (!narrow) return nullptr;
  return row;
}

}  // namespace

RowCache::RowCache(const RotationLadder& ladder) : ladder_(&ladder) {
  for (size_t digit = 0; digit < rows_.size(); ++digit) {
    rows_[digit].resize(size_t{1} << kBits[digit]);
  }
}

bool RowCache::Serves(double position) {
  const double size = std::fabs(position);
  return size > 0 && size < kPositionEnd && size == std::floor(size);
}

RowCache::Digits RowCache::DigitsOf(int64_t position) {
  Digits digits;
  for (size_t digit = 0; digit < digits.size(); ++digit) {
    digits[digit] = position >> kShift[digit] & ((int64_t{1} << kBits[digit]) - 1);
  }
  return digits;
}

RowCache::Needed RowCache::Nothing() {
  Needed needed;
  for (size_t digit = 0; digit < needed.size(); ++digit) {
    needed[digit].resize(size_t{1} << kBits[digit]);
  }
  return needed;
}

RowCache::Needed RowCache::NeededBy(std::span<const double> positions) {
  Needed needed = Nothing();
  for (double position : positions) {
    if (!Serves(position)) continue;
    const Digits digits = DigitsOf(static_cast<int64_t>(std::fabs(position)));
    for (size_t digit = 0; digit < digits.size(); ++digit) {
      needed[digit][static_cast<size_t>(digits[digit])] = true;
    }
  }
  for (auto& values : needed) values[0] = false;
  return needed;
}

bool RowCache::Pays(std::span<const double> positions) {
  int64_t rows = 0;
  for (const auto& values : NeededBy(positions)) rows += std::ranges::count(values, true);
  return 2 * rows < static_cast<int64_t>(positions.size());
}

bool RowCache::Prepare(std::span<const double> positions) { return Make(NeededBy(positions)); }

bool RowCache::PrepareRange(int64_t first, int64_t end) {
  Needed needed = Nothing();
  for (size_t digit = 0; digit < needed.size(); ++digit) {
    // Values of the digit over the range, which wrap once it spans them all.
    const int64_t lowest = first >> kShift[digit], highest = (end - 1) >> kShift[digit];
    const int64_t count = int64_t{1} << kBits[digit];
    for (int64_t value = lowest; value <= std::min(highest, lowest + count - 1); ++value) {
      needed[digit][static_cast<size_t>(value & (count - 1))] = true;
    }
    needed[digit][0] = false;
  }
  return Make(needed);
}

bool RowCache::Make(const Needed& needed) {
  const std::lock_guard lock(mutex_);
  std::vector<std::array<int64_t, 2>> missing;
  for (size_t digit = 0; digit < needed.size(); ++digit) {
    for (size_t value = 0; value < needed[digit].size(); ++value) {
      if (needed[digit][value] && !rows_[digit][value]) {
        missing.push_back({static_cast<int64_t>(digit), static_cast<int64_t>(value)});
      }
    }
  }
  std::atomic<bool> complete = true;
  ForBlocks(static_cast<int64_t>(missing.size()), 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto [digit, value] = missing[static_cast<size_t>(i)];
      auto& slot = rows_[static_cast<size_t>(digit)][static_cast<size_t>(value)];
      slot = MakeRow(*ladder_, value << kShift[static_cast<size_t>(digit)]);
      if (!slot) complete = false;
    }
  });
  return complete;
}

RowWalker::RowWalker(const RowCache& cache)
    : cache_(&cache),
      anchors_{RotationRow(cache.ladder_->layout().Pairs()),
               RotationRow(cache.ladder_->layout().Pairs())},
      row_(cache.ladder_->layout().Pairs()) {}

std::array<const RotationRow*, 2> RowWalker::FactorsAt(int64_t position) {
  const RowCache::Digits digits = RowCache::DigitsOf(position);
  const auto made = [&](size_t digit) {
    return cache_->rows_[digit][static_cast<size_t>(digits[digit])].get();
  };
  if (const int64_t upper = position - digits[0]; upper != upper_) {
    upper_ = upper;
    anchor_ = nullptr;
    anchor_products_ = 0;
    for (size_t digit = digits.size() - 1; digit > 0; --digit) {
      if (digits[digit] == 0) continue;
      if (anchor_ == nullptr) {
        anchor_ = made(digit);
      } else {
        RotationRow& product = anchors_[anchor_products_ % 2];
        Multiply(*anchor_, *made(digit), &product);
        anchor_ = &product;
        ++anchor_products_;
      }
    }
  }
  if (anchor_ == nullptr) return {made(0), nullptr};
  return {anchor_, digits[0] == 0 ? nullptr : made(0)};
}

const RotationRow& RowWalker::At(int64_t position) {
  const auto [a, b] = FactorsAt(position);
  products_ = anchor_products_;
  if (b == nullptr) return *a;
  ++products_;
  Multiply(*a, *b, &row_);
  return row_;
}

}  // namespace posgauge
