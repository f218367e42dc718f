// Schedules whose ratio to a plain series falls from 1 to 1/factor by a ramp.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/verify/identify/schedule_fit.h"

namespace posgauge {

namespace {

using Values = std::vector<double>;

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr double kLengths[] = {8192, 4096, 2048, 32768, 16384, 65536, 131072, 1024};

// What a ramp is of: delta = ln base/pairs, lambda = ln factor, where it begins and ends, and the
// weight of the unscaled frequencies.
struct Ramp {
  double delta, lambda, begin, end, weight;

  double Pairs(double i) const { return 1 - std::clamp((i - begin) / (end - begin), 0.0, 1.0); }
  // begin and end are of ln(1/plain frequency).
  double Turns(double i) const {
    const double low = std::exp(-end), high = std::exp(-begin);
    return std::clamp((std::exp(-delta * i) - low) / (high - low), 0.0, 1.0);
  }
  double Log(double i, bool turns) const {
    const double kept = (turns ? Turns(i) : Pairs(i)) * weight;
    return -delta * i + std::log(std::exp(-lambda) * (1 - kept) + kept);
  }
};

Ramp Fit(const ScheduleFit& fit, Ramp ramp, bool turns, bool fixed_ends) {
  const bool weighted = ramp.weight < 1;
  const auto unpack = [=](const Values& p) {
    Ramp next = ramp;
    next.delta = p[0];
    next.lambda = p[1];
    size_t at = 2;
    if (!fixed_ends) {
      next.begin = p[at++];
      next.end = p[at++];
    }
    if (weighted) next.weight = p[at];
    return next;
  };
  Values start = {ramp.delta, ramp.lambda};
  if (!fixed_ends) {
    start.push_back(ramp.begin);
    start.push_back(ramp.end);
  }
  if (weighted) start.push_back(ramp.weight);
  const Curve curve = [&](const Values& p) {
    const Ramp next = unpack(p);
    Values logs;
    for (size_t i = 0; i < fit.pairs(); ++i)
      logs.push_back(next.Log(static_cast<double>(i), turns));
    return logs;
  };
  return unpack(fit.Polish(curve, start));
}

double Misfit(const ScheduleFit& fit, const Ramp& ramp, bool turns) {
  double worst = 0;
  for (size_t i = 0; i < fit.pairs(); ++i) {
    const double off = fit.logs()[i] - ramp.Log(static_cast<double>(i), turns);
    worst = std::max(worst, std::fabs(off) * fit.weights()[i]);
  }
  return worst;
}

// yarn with the magnitude that was seen: by a rule, or else as given.
Scheme Yarn(const ScheduleFit& fit, yarn::Params params, double magnitude) {
  params.inverted_ramp = yarn::InvertedRamp::refuse;
  for (yarn::Magnitude rule :
       {yarn::Magnitude::huggingface, yarn::Magnitude::none, yarn::Magnitude::telechat3}) {
    params.magnitude = rule;
    if (fit.Fits(Scheme(params))) return params;
  }
  params.magnitude = yarn::Magnitude::huggingface;
  params.attention_factor = magnitude;
  return params;
}

void AddTurns(ScheduleFit& fit, const Ramp& ramp) {
  const auto pairs = static_cast<double>(fit.pairs());
  const double base = std::exp(ramp.delta * pairs), factor = std::exp(ramp.lambda);
  for (double length : kLengths) {
    const double low = length * std::exp(-ramp.end) / kTwoPi;
    const double high = length * std::exp(-ramp.begin) / kTwoPi;
    const auto tokens = static_cast<int64_t>(length);
    if (ramp.weight == 1) {
      fit.Add({base, factor, low, high}, [&](const Values& p) {
        return Scheme(llama3::Params{.rotary = fit.WithBase(p[0]),
                                     .factor = p[1],
                                     .low_frequency_factor = p[2],
                                     .high_frequency_factor = p[3],
                                     .original_length = tokens});
      });
    }
    fit.Add({base, factor, low, high, ramp.weight, fit.seen().magnitude}, [&](const Values& p) {
      return Yarn(fit,
                  {.rotary = fit.WithBase(p[0]),
                   .factor = p[1],
                   .original_length = tokens,
                   .beta_fast = p[3],
                   .beta_slow = p[2],
                   .ramp = yarn::RampOver::turns,
                   .extrapolation_factor = p[4]},
                  p[5]);
    });
  }
}

// Turns over the length of the pair at that index.
double TurnsAt(const Ramp& ramp, double length, double index) {
  return length / kTwoPi * std::exp(-ramp.delta * index);
}

void AddPairs(ScheduleFit& fit, const Ramp& ramp, bool truncate) {
  const auto pairs = static_cast<double>(fit.pairs());
  const double base = std::exp(ramp.delta * pairs), factor = std::exp(ramp.lambda);
  const auto make = [&](const Values& p, double length, double fast, double slow) {
    return Yarn(fit,
                {.rotary = fit.WithBase(p[0]),
                 .factor = p[1],
                 .original_length = static_cast<int64_t>(length),
                 .beta_fast = fast,
                 .beta_slow = slow,
                 .truncate = truncate,
                 .extrapolation_factor = p[2]},
                p[3]);
  };
  const Values common = {base, factor, ramp.weight, fit.seen().magnitude};
  for (double length : kLengths) {
    fit.Add(common, [&](const Values& p) { return make(p, length, 32, 1); });
  }
  // Whole ends stand for what rounds to them; the middle is farthest from other ones.
  const double inside = truncate ? 0.5 : 0;
  for (double length : kLengths) {
    Values solution = common;
    solution.push_back(TurnsAt(ramp, length, ramp.begin + inside));
    solution.push_back(TurnsAt(ramp, length, ramp.end - inside));
    fit.Add(solution, [&](const Values& p) { return make(p, length, p[4], std::min(p[4], p[5])); });
    if (truncate && fit.Digits() > 0) break;
  }
}

void AddFrom(ScheduleFit& fit, double delta) {
  const size_t pairs = fit.pairs();
  // g_i, the ratio to the plain series.
  Values ratio;
  std::vector<size_t> known;
  for (size_t i = 0; i < pairs; ++i) {
    ratio.push_back(std::exp(fit.logs()[i] + delta * static_cast<double>(i)));
    if (fit.weights()[i] > 0) known.push_back(i);
  }
  if (known.size() < 2) return;
  const double top = ratio[known.front()], bottom = ratio[known.back()];
  if (!(bottom < top * 0.999) || !(top < 1.001) || !(bottom > 0)) return;
  const double slack = 0x1p-8 * (top - bottom);
  size_t begin = known.front(), end = known.back();
  for (size_t i : known) {
    if (ratio[i] >= top - slack) begin = i;
  }
  for (size_t i : known) {
    if (ratio[i] <= bottom + slack) {
      end = i;
      break;
    }
  }
  if (begin >= end) return;
  const double lambda = -std::log(bottom);
  double weight = 1;
  if (top < 1 - 1e-4) weight = (top - bottom) / (1 - bottom);
  const auto low = static_cast<double>(begin), high = static_cast<double>(end);
  const bool complete = end < known.back();
  const double highest = complete ? high + 2 : 2 * static_cast<double>(pairs) - 1;
  // Over pairs, whole ends first.
  Ramp best{};
  double least = HUGE_VAL;
  for (double a = std::max(0.0, low - 1); a <= low + 1; ++a) {
    for (double b = std::max(a + 1, high - 1); b <= highest; ++b) {
      // An end beyond the last pair leaves the factor to be what it must: 1 - (1 - 1/s) share.
      double stretched = lambda;
      const double share = (static_cast<double>(known.back()) - a) / (b - a);
      if (share < 1) {
        const double rest = 1 - (1 - bottom) / share;
        if (!(rest > 0)) continue;
        stretched = -std::log(rest);
      }
      const Ramp tried = Fit(fit, {delta, stretched, a, b, weight}, false, true);
      const double misfit = Misfit(fit, tried, false);
      if (misfit <= 2) AddPairs(fit, tried, true);
      if (misfit < least) {
        least = misfit;
        best = tried;
      }
    }
  }
  for (double shift : {0.0, 0.5}) {
    AddPairs(fit, Fit(fit, {delta, lambda, low + shift, high - shift / 2, weight}, false, false),
             false);
  }
  // Over turns: ends between the pairs where the plateaus end; the end may lie beyond the last.
  for (double shift : {0.5, 0.0}) {
    for (double beyond : {0.0, 1.0, 4.0}) {
      if (complete && beyond > 1) continue;
      const Ramp start{delta, lambda + (complete ? 0 : beyond * 0.3), delta * (low + shift),
                       delta * (high - shift + beyond), weight};
      const Ramp tried = Fit(fit, start, true, false);
      if (Misfit(fit, tried, true) <= 4 && tried.begin < tried.end) AddTurns(fit, tried);
    }
  }
}

}  // namespace

void AddRamps(ScheduleFit& fit) {
  const auto pairs = static_cast<double>(fit.pairs());
  if (fit.pairs() < 2) return;
  // The steps of a plateau are those of the series; on a ramp they are longer.
  Values steps;
  for (size_t i = 0; i + 1 < fit.pairs(); ++i) {
    if (fit.weights()[i] > 0 && fit.weights()[i + 1] > 0) {
      steps.push_back(fit.logs()[i] - fit.logs()[i + 1]);
    }
  }
  if (steps.empty()) return;
  Values deltas = {steps.front(), *std::ranges::min_element(steps), steps.back()};
  for (double base : {10000.0, 500000.0, 1e6}) deltas.push_back(std::log(base) / pairs);
  for (double delta : deltas) {
    AddFrom(fit, delta);
    if (fit.Digits() > 0 && fit.Digits() <= 6) return;
  }
}

}  // namespace posgauge
