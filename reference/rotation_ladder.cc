#include "posgauge/reference/rotation_ladder.h"

#include "posgauge/reference/addition.h"
#include "posgauge/reference/all.h"

namespace posgauge {

namespace {

template <class I>
I SumOf(DoubleDouble value) {
  return I(value.high) + I(value.low);
}

template <class I>
Rotation<I> RotationOf(const RotationLadder::Source& source, Direction direction) {
  if (const auto* given = std::get_if<GivenRotation>(&source)) {
    Rotation<I> rotation{.frequency = {}, .magnitude = SumOf<I>(given->magnitude)};
    for (DoubleDouble frequency : given->frequency) {
      rotation.frequency.push_back(SumOf<I>(frequency));
    }
    return rotation;
  }
  Rotation<I> rotation = std::visit(
      []<class Params>(const Params& params) -> Rotation<I> {
        if constexpr (!ByEquations<Params>) return AsRotation(Exact<I>(params));
        throw ParameterError(
            fmt::format("{} has no frequencies: {}", Params::kName, Params::kSummary));
      },
      std::get<Scheme>(source));
  if (direction == Direction::clockwise) {
    for (I& frequency : rotation.frequency) frequency = -frequency;
  }
  return rotation;
}

// The rotation at one precision; absent where the precision does not suffice to decide the scheme's
// own branches.
template <unsigned Digits>
struct Level {
  std::once_flag once;
  std::optional<Rotation<Interval<Digits>>> rotation;
};

}  // namespace

struct RotationLadder::Levels {
  std::tuple<Level<kDigits[0]>, Level<kDigits[1]>, Level<kDigits[2]>, Level<kDigits[3]>> each;
};

RotationLadder::RotationLadder(Source source, const Rotary& layout)
    : source_(std::move(source)), layout_(layout), levels_(std::make_unique<Levels>()) {
  WithLowest([](const auto&) {});  // refusals come now, not at the first use
}

RotationLadder::~RotationLadder() = default;

template <size_t L>
const Rotation<Interval<kDigits[L]>>& RotationLadder::At() const {
  thread_local const ReleaseMpfrCache release;
  auto& level = std::get<L>(levels_->each);
  std::call_once(level.once, [&] {
    try {
      level.rotation = RotationOf<Interval<kDigits[L]>>(source_, layout_.direction);
    } catch (const Undecided&) {
      // Stays absent.
    }
  });
  if (!level.rotation) throw Undecided();
  return *level.rotation;
}

template const Rotation<Interval<kDigits[0]>>& RotationLadder::At<0>() const;
template const Rotation<Interval<kDigits[1]>>& RotationLadder::At<1>() const;
template const Rotation<Interval<kDigits[2]>>& RotationLadder::At<2>() const;
template const Rotation<Interval<kDigits[3]>>& RotationLadder::At<3>() const;

}  // namespace posgauge
