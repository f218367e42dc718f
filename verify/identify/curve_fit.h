#pragma once

#include <functional>
#include <vector>

namespace posgauge {

/// Values of a curve at 0, 1, 2, ... for its parameters.
using Curve = std::function<std::vector<double>(const std::vector<double>&)>;

/// The parameters near `start` with the least sum of (weight (curve - seen))^2: Levenberg and
/// Marquardt, derivatives by differences. A parameter that nothing determines stays where it is.
std::vector<double> FitCurve(const Curve& curve, std::vector<double> start,
                             const std::vector<double>& seen, const std::vector<double>& weights);

/// The nearest number of that many significant decimal digits, 1..17.
double RoundToDigits(double value, int digits);

}  // namespace posgauge
