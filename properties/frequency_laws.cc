#include "posgauge/properties/frequency_laws.h"

#include <algorithm>

#include "posgauge/properties/pairs.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge {

std::vector<double> FrequenciesOfPlainRope(const Rotary& layout) {
  rope::Params plain{.rotary = layout};
  plain.rotary.direction = Direction::counterclockwise;
  return ExactRotation(plain).Frequencies(Dtype::f64).values;
}

MeasuredSchedule MeasureSchedule(const Subject& subject, const LawCase& law_case) {
  return {MeasureFrequencies(subject, LargestPosition(law_case)),
          FrequenciesOfPlainRope(subject.layout())};
}

void AddFrequency(Comparisons& comparisons, const Subject& subject, int64_t pair,
                  const FrequencyInterval& measured, Relation relation, double limit) {
  constexpr double kLimitError = 0x1p-47;
  const double above = measured.middle - limit;
  const double error = relation == Relation::equal     ? std::fabs(above)
                       : relation == Relation::at_most ? above
                                                       : -above;
  comparisons.Add(
      0, error, measured.radius + kLimitError * std::fabs(limit), std::fabs(limit), [&] {
        constexpr std::array kWords = {"", "at most ", "at least "};
        return Witness{
            .where = NameOfPair(subject, pair),
            .got = fmt::format("{:.9g} radians per token (within {:.2g})", measured.middle,
                               measured.radius),
            .want = fmt::format("{}{:.9g}", kWords[static_cast<size_t>(relation)], limit),
            .positioned = false};
      });
}

Verdict HoldFrequencies(const Subject& subject, const LawCase& law_case, Relation relation,
                        const std::function<double(int64_t, double)>& limit) {
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    const auto pair = static_cast<int64_t>(i);
    AddFrequency(comparisons, subject, pair, schedule.measured[i], relation,
                 limit(pair, schedule.plain[i]));
  }
  return comparisons.Take();
}

namespace {

// The ratio of a measured frequency to the plain one: the same relative radius, and the rounding of
// the plain frequency and of the quotient.
FrequencyInterval Ratio(const MeasuredSchedule& schedule, size_t i) {
  const double plain = schedule.plain[i];
  const double ratio = schedule.measured[i].middle / plain;
  return {ratio, schedule.measured[i].radius / plain + std::fabs(ratio) * 0x1p-51};
}

// visit(pair, ratio, next ratio) -> by how much the law is broken between two neighbours.
template <class Excess>
Verdict HoldNeighbours(const Subject& subject, const LawCase& law_case, std::string_view want,
                       Excess excess) {
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i + 1 < schedule.plain.size(); ++i) {
    const FrequencyInterval here = Ratio(schedule, i), next = Ratio(schedule, i + 1);
    const double error = excess(static_cast<int64_t>(i), here.middle, next.middle);
    comparisons.Add(0, error, here.radius + next.radius, std::fabs(here.middle), [&] {
      return Witness{.where = NameOfPair(subject, static_cast<int64_t>(i)),
                     .got = fmt::format("ratio to the plain frequency {:.9g}, next {:.9g}",
                                        here.middle, next.middle),
                     .want = std::string(want),
                     .positioned = false};
    });
  }
  return comparisons.Take();
}

}  // namespace

Verdict HoldRatioSteps(const Subject& subject, const LawCase& law_case,
                       const std::function<double(int64_t)>& step) {
  return HoldNeighbours(
      subject, law_case, "a step no larger than the ramp's slope",
      [&](int64_t pair, double here, double next) { return std::fabs(here - next) - step(pair); });
}

Verdict HoldRatioNonIncreasing(const Subject& subject, const LawCase& law_case) {
  // A base below 1 makes later pairs faster: the order turns round.
  const double sign = subject.layout().base < 1 ? -1 : 1;
  return HoldNeighbours(subject, law_case, "no rise",
                        [&](int64_t, double here, double next) { return sign * (next - here); });
}

Verdict HoldStrictlyDecreasing(const Subject& subject, const LawCase& law_case) {
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i + 1 < schedule.plain.size(); ++i) {
    const FrequencyInterval here = schedule.measured[i], next = schedule.measured[i + 1];
    const double rise = next.middle - here.middle;
    comparisons.Add(0, rise, here.radius + next.radius, std::fabs(here.middle), [&] {
      return Witness{
          .where = NameOfPair(subject, static_cast<int64_t>(i)),
          .got = fmt::format("{:.9g} radians per token, next {:.9g}", here.middle, next.middle),
          .want = "the next pair slower",
          .positioned = false};
    });
  }
  return comparisons.Take();
}

void RequireMagnitude(const Subject& subject) {
  const auto& outputs = subject.info().outputs;
  if (std::ranges::find(outputs, "magnitude", &TensorSpec::name) == outputs.end()) {
    throw Unsupported("exports no magnitude");
  }
}

// It travels as one binary64 number: one rounding at least; where frequencies are formed in a
// narrower arithmetic, so is it, in two.
void AddMagnitude(Comparisons& comparisons, const Subject& subject, DoubleDouble want) {
  const double got = subject.Frequencies().magnitude;
  const double e = std::max(0x1p-53, 2 * subject.bound().Frequency(0));
  comparisons.Add(0, std::fabs((got - want.high) - want.low), e * want.high, want.high, [&] {
    return Witness{.where = "magnitude",
                   .got = HexFloat(got),
                   .want = HexFloat(want.high),
                   .positioned = false};
  });
}

Subject Rebind(const Subject& subject, const Scheme& scheme) {
  if (!subject.info().Serves(scheme)) throw Unsupported("does not serve the scheme so changed");
  return Subject(subject.info(), scheme);
}

}  // namespace posgauge
