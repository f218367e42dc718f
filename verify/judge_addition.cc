#include "posgauge/verify/judge_addition.h"

#include <algorithm>
#include <cmath>

#include "posgauge/verify/double_double.h"
#include "posgauge/verify/use_collector.h"

namespace posgauge {

namespace {

// One element of a result.
struct Element {
  size_t token, index;
  int64_t channel_number;
  Channel channel;
  double x;  // 0 for a row
  DoubleDouble truth;
};

template <class Visit>
void ForEachElement(const Added& added, const RowTruth& truth, int64_t begin, int64_t end,
                    Visit visit) {
  const int64_t width = added.exact.width();
  for (int64_t token = begin; token < end; ++token) {
    const double position = added.positions[static_cast<size_t>(token)];
    for (int64_t number = 0; number < width; ++number) {
      const auto index = static_cast<size_t>(token * width + number);
      const double x = added.x == nullptr ? 0 : added.x->Value(index);
      const DoubleDouble value = !added.sums.empty() ? added.sums[index]
                                 : !std::isfinite(x) ? DoubleDouble{x, 0}
                                                     : truth.values[index] + DoubleDouble{x, 0};
      visit(Element{static_cast<size_t>(token), index, number,
                    added.exact.ChannelAt(position, number), x, value});
    }
  }
}

Witness WitnessOf(const Added& added, const Element& e) {
  std::string what = "zero";
  if (e.channel.function != Wave::zero) {
    what = fmt::format("{} of wave {}", e.channel.function == Wave::sin ? "sin" : "cos",
                       e.channel.wave);
  }
  return {.where = fmt::format("channel {} ({})", e.channel_number, what),
          .got = HexAndDecimal(added.out.Value(e.index)),
          .want = HexAndDecimal(e.truth.high)};
}

// What the arithmetic of verify/double_double.h may add to a sum, relative to its larger operand.
constexpr double kMeasuringError = 0x1p-97;

}  // namespace

RowTruth TruthOf(const ExactAddition& exact, Positions positions) {
  EnclosedRows rows = exact.EncloseRows(positions);
  return {std::move(rows.values), rows.radius};
}

RowTruth TruthOf(const Tensor& supplied) {
  RowTruth truth;
  for (size_t i = 0; i < supplied.size(); ++i) truth.values.push_back({supplied.Value(i), 0});
  return truth;
}

Finding HoldToBound(const Added& added, const RowTruth& truth, const AdditionBound& bound) {
  const Dtype io = added.out.dtype();
  const StoreRounding rounding =
      added.x == nullptr ? bound.RowRounding() : bound.contract().store_rounding;
  return Collect(added.positions, [&](int64_t begin, int64_t end, UseCollector& collector) {
    ForEachElement(added, truth, begin, end, [&](const Element& e) {
      const double got = added.out.Value(e.index);
      const auto describe = [&] { return WitnessOf(added, e); };
      if (!std::isfinite(e.x)) {
        const bool same = std::isnan(e.x) ? std::isnan(got) : got == e.x;
        collector.Add(e.token, same ? 0 : HUGE_VAL, e.index, describe);
        return;
      }
      const double position = added.positions[e.token];
      const double limit = added.x == nullptr
                               ? bound.RowExcess(position, e.channel)
                               : bound.EmbedExcess(position, e.channel, e.x, e.truth.high);
      // A zero that is added hides nothing of the waves.
      if (e.channel.function == Wave::zero) {
        collector.AddIdle();
      } else if (!(limit <= kBlindShare * std::max(1.0, std::fabs(e.x)))) {
        collector.AddBlind();
      }
      const double excess = RoundingIntervalExcess(io, rounding, got, e.truth);
      const double measuring = truth.radius + kMeasuringError * (1 + std::fabs(e.x));
      collector.Add(
          e.token,
          Use(std::max(0.0, excess - (e.channel.function == Wave::zero ? 0 : measuring)), limit),
          e.index, describe);
    });
  });
}

Finding HoldToBudget(const Added& added, const RowTruth& truth, double budget) {
  const Format format = FormatOf(added.out.dtype());
  return Collect(added.positions, [&](int64_t begin, int64_t end, UseCollector& collector) {
    ForEachElement(added, truth, begin, end, [&](const Element& e) {
      if (!std::isfinite(e.x)) return;
      const double size = std::max(1.0, std::fabs(e.x));
      if (size > std::ldexp(1.0, format.max_exponent)) return;
      const double error = std::fabs((added.out.Value(e.index) - e.truth.high) - e.truth.low);
      collector.Add(e.token, error / (budget * Ulp(format, size)), e.index,
                    [&] { return WitnessOf(added, e); });
    });
  });
}

}  // namespace posgauge
