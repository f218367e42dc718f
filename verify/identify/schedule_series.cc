// Schedules that are a series of powers, scaled alike or by a power of the pair index.
#include <algorithm>
#include <cmath>

#include "posgauge/verify/identify/schedule_fit.h"

namespace posgauge {

namespace {

// Bases of published models, for what a base and a factor say together.
constexpr double kBases[] = {10000, 500000, 1e6};

// ln f_i = -c - i delta.
std::vector<double> SeriesOf(const ScheduleFit& fit, bool scaled) {
  const Curve curve = [&](const std::vector<double>& p) {
    std::vector<double> logs;
    for (size_t i = 0; i < fit.pairs(); ++i) {
      logs.push_back(-(scaled ? p[1] : 0) - static_cast<double>(i) * p[0]);
    }
    return logs;
  };
  return fit.Polish(curve, scaled ? std::vector{0.3, 0.0} : std::vector{0.3});
}

void AddNtk(ScheduleFit& fit, double base) {
  const auto d = static_cast<double>(fit.layout().rotary_dim);
  for (double trained : kBases) {
    if (d > 2) {
      fit.Add({std::pow(base / trained, (d - 2) / d)}, [&](const std::vector<double>& p) {
        return Scheme(
            ntk::Params{.rotary = fit.WithBase(trained), .form = ntk::Form::aware, .factor = p[0]});
      });
    }
    fit.Add({base / trained}, [&](const std::vector<double>& p) {
      return Scheme(
          ntk::Params{.rotary = fit.WithBase(trained), .form = ntk::Form::naive, .factor = p[0]});
    });
  }
}

void AddScaled(ScheduleFit& fit, double base, double factor) {
  using Values = std::vector<double>;
  const double pairs = static_cast<double>(fit.pairs());
  const std::vector<double> both = {base, factor};
  fit.Add(both, [&](const Values& p) {
    return Scheme(linear::Params{.rotary = fit.WithBase(p[0]), .factor = p[1]});
  });
  // s'^(2/d) = factor, base' s' = base.
  const double fixed = std::pow(factor, pairs);
  fit.Add({base / fixed, fixed}, [&](const Values& p) {
    return Scheme(
        ntk::Params{.rotary = fit.WithBase(p[0]), .form = ntk::Form::fixed, .factor = p[1]});
  });
  fit.Add(both, [&](const Values& p) {
    return Scheme(ntk::Params{.rotary = fit.WithBase(p[0]),
                              .form = ntk::Form::mixed,
                              .factor = p[1],
                              .mixed_exponent = 0});
  });
  fit.Add(both, [&](const Values& p) {
    return Scheme(
        llama3::Params{.rotary = fit.WithBase(p[0]), .factor = p[1], .original_length = 1});
  });
  fit.Add({base, factor, fit.seen().magnitude}, [&](const Values& p) {
    yarn::Params params{.rotary = fit.WithBase(p[0]),
                        .factor = p[1],
                        .extrapolation_factor = 0,
                        .inverted_ramp = yarn::InvertedRamp::huggingface};
    if (!fit.Fits(Scheme(params))) params.attention_factor = p[2];
    return Scheme(params);
  });
}

// ln f_i = -i delta - ln s ((i + 1)/n)^B.
void AddMixed(ScheduleFit& fit) {
  const double pairs = static_cast<double>(fit.pairs());
  if (fit.pairs() < 4) return;
  const Curve curve = [&](const std::vector<double>& p) {
    std::vector<double> logs;
    for (size_t i = 0; i < fit.pairs(); ++i) {
      const auto index = static_cast<double>(i);
      logs.push_back(-index * p[0] - p[1] * std::pow((index + 1) / pairs, p[2]));
    }
    return logs;
  };
  const auto make = [&](const std::vector<double>& p) {
    return Scheme(ntk::Params{.rotary = fit.WithBase(p[0]),
                              .form = ntk::Form::mixed,
                              .factor = p[1],
                              .mixed_exponent = p[2]});
  };
  const double delta = SeriesOf(fit, false)[0];
  for (double start : {0.25, 0.5, 0.75, 1.5, 2.0}) {
    const std::vector<double> p = fit.Polish(curve, {delta, 0.5, start});
    fit.Add({std::exp(p[0] * pairs), std::exp(p[1]), p[2]}, make);
  }
}

void AddProportional(ScheduleFit& fit, double base, double factor) {
  const auto pairs = static_cast<double>(fit.pairs());
  const auto turning = static_cast<double>(fit.turning());
  for (double share : {turning / pairs, (turning + 0.5) / pairs}) {
    if (share > 1) continue;
    fit.Add({base, factor}, [&](const std::vector<double>& p) {
      return Scheme(
          proportional::Params{.rotary = fit.WithBase(p[0]), .proportion = share, .factor = p[1]});
    });
  }
}

}  // namespace

void AddSeries(ScheduleFit& fit) {
  const auto pairs = static_cast<double>(fit.pairs());
  // Of one pair the base says nothing.
  const bool single = fit.pairs() == 1 || fit.turning() < 2;
  const auto base_of = [&](double delta) { return single ? 10000 : std::exp(delta * pairs); };
  const double plain = base_of(SeriesOf(fit, false)[0]);
  fit.Add({plain}, [&](const std::vector<double>& p) {
    return Scheme(rope::Params{.rotary = fit.WithBase(p[0])});
  });
  const std::vector<double> scaled = SeriesOf(fit, true);
  const double base = base_of(scaled[0]);
  const double factor = std::exp(single ? -fit.logs()[0] : scaled[1]);
  if (fit.Digits() > 0) {
    fit.Add({plain, 1}, [&](const std::vector<double>& p) {
      return Scheme(linear::Params{.rotary = fit.WithBase(p[0]), .factor = p[1]});
    });
    AddNtk(fit, plain);
  }
  AddScaled(fit, base, factor);
  AddProportional(fit, plain, 1);
  AddProportional(fit, base, factor);
  // A magnitude without a schedule: yarn and longrope replace theirs.
  fit.Add({plain, fit.seen().magnitude}, [&](const std::vector<double>& p) {
    return Scheme(yarn::Params{.rotary = fit.WithBase(p[0]),
                               .attention_factor = fit.IsPure() ? 1 : p[1],
                               .inverted_ramp = yarn::InvertedRamp::huggingface});
  });
  fit.Add({plain, fit.seen().magnitude}, [&](const std::vector<double>& p) {
    longrope::Params params{.rotary = fit.WithBase(p[0])};
    if (!fit.IsPure()) params.attention_factor = p[1];
    return Scheme(params);
  });
  if (fit.Digits() == 0) AddMixed(fit);
}

void AddLists(ScheduleFit& fit) {
  const auto pairs = static_cast<double>(fit.pairs());
  for (double base : kBases) {
    std::vector<double> factors;
    for (size_t i = 0; i < fit.pairs(); ++i) {
      const double plain = std::pow(base, -static_cast<double>(i) / pairs);
      // What is too slow to see may be anything up to its error.
      const double seen = fit.weights()[i] > 0
                              ? std::exp(fit.logs()[i])
                              : std::max(std::fabs(fit.seen().values[i]), fit.seen().errors[i] / 2);
      factors.push_back(plain / seen);
    }
    factors.push_back(fit.seen().magnitude);
    fit.Add(factors, [&](const std::vector<double>& p) {
      longrope::Params params{.rotary = fit.WithBase(base),
                              .long_factor = std::vector(p.begin(), p.end() - 1),
                              .length = 8192};
      if (!fit.IsPure()) params.attention_factor = p.back();
      return Scheme(params);
    });
  }
}

}  // namespace posgauge
