#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/identify/curve_fit.h"
#include "posgauge/verify/identify/seen_rotation.h"

namespace posgauge {

/// Frequencies that were seen, made ready for fitting: one search for every scheme and parameters
/// whose frequencies and magnitude they are.
class ScheduleFit {
 public:
  /// `roundoff`: relative error with which the kernel may have formed its frequencies.
  ScheduleFit(const Rotary& layout, const SeenFrequencies& seen, double roundoff);

  /// The scheme's frequencies and magnitude, as plain doubles give them, are those that were seen.
  bool Fits(const Scheme& scheme) const;

  /// Makes a scheme of parameters; throws ParameterError outside their domain.
  using Make = std::function<Scheme(const std::vector<double>&)>;

  /// Adds the scheme with the fewest significant digits in its parameters that fits, if any near
  /// `solution` does.
  void Add(const std::vector<double>& solution, const Make& make);

  /// The schemes found, those of the fewest digits first; of as many, the one added first.
  std::vector<Scheme> Found() const;
  /// Significant digits of the first of them; 0 for none.
  int Digits() const;

  std::vector<double> Polish(const Curve& curve, std::vector<double> start) const {
    return FitCurve(curve, std::move(start), logs_, weights_);
  }

  const Rotary& layout() const { return layout_; }
  const SeenFrequencies& seen() const { return seen_; }
  size_t pairs() const { return logs_.size(); }
  /// ln of the frequency; meaningful where weights() is not 0.
  const std::vector<double>& logs() const { return logs_; }
  /// 1 / relative error, 0 where nothing is known.
  const std::vector<double>& weights() const { return weights_; }
  /// Pairs that are seen to turn are those before this one.
  size_t turning() const { return turning_; }
  bool IsPure() const;
  /// A rotary block of that base.
  Rotary WithBase(double base) const;

 private:
  Rotary layout_;
  SeenFrequencies seen_;
  double roundoff_;
  size_t turning_ = 0;
  std::vector<double> logs_, weights_;
  struct Candidate {
    Scheme scheme;
    int digits;
  };
  std::vector<Candidate> found_;
};

/// rope, linear, ntk, proportional, and what others are where they scale nothing or all alike.
void AddSeries(ScheduleFit& fit);
/// Schemes whose ratio to a series is a ramp: yarn over pairs and turns, llama3.
void AddRamps(ScheduleFit& fit);
/// Any ratios at all: longrope.
void AddLists(ScheduleFit& fit);

/// Every rotary scheme and parameter set found whose reference gives these frequencies and this
/// magnitude, simplest first; empty for none. `roundoffs`: with which the kernel may have formed
/// its frequencies, the smallest first; the first that anything fits counts.
std::vector<Scheme> FitSchedules(const Rotary& layout, const SeenFrequencies& seen,
                                 const std::vector<double>& roundoffs);

}  // namespace posgauge
