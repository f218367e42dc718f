#include "posgauge/verify/identify/curve_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace posgauge {

namespace {

using Matrix = std::vector<std::vector<double>>;

// Gauss with pivots on a symmetric positive matrix; its last column is the right side.
std::vector<double> Solve(Matrix a) {
  const size_t n = a.size();
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < n; ++row) {
      if (std::fabs(a[row][column]) > std::fabs(a[pivot][column])) pivot = row;
    }
    std::swap(a[column], a[pivot]);
    for (size_t row = column + 1; row < n; ++row) {
      const double ratio = a[row][column] / a[column][column];
      for (size_t k = column; k <= n; ++k) a[row][k] -= ratio * a[column][k];
    }
  }
  std::vector<double> x(n);
  for (size_t row = n; row-- > 0;) {
    x[row] = a[row][n];
    for (size_t k = row + 1; k < n; ++k) x[row] -= a[row][k] * x[k];
    x[row] /= a[row][row];
  }
  return x;
}

}  // namespace

std::vector<double> FitCurve(const Curve& curve, std::vector<double> start,
                             const std::vector<double>& seen, const std::vector<double>& weights) {
  constexpr int kRounds = 40;
  const size_t n = start.size(), points = seen.size();
  const auto misfits = [&](const std::vector<double>& parameters) {
    std::vector<double> result = curve(parameters);
    for (size_t i = 0; i < points; ++i) {
      result[i] = weights[i] == 0 ? 0 : (seen[i] - result[i]) * weights[i];
    }
    return result;
  };
  const auto sum = [](const std::vector<double>& values) {
    double total = 0;
    for (double value : values) total += value * value;
    return total;
  };
  std::vector<double> off = misfits(start);
  double least = sum(off), damping = 0x1p-20;
  for (int round = 0; round < kRounds && least > 0; ++round) {
    Matrix slopes;
    for (size_t k = 0; k < n; ++k) {
      std::vector<double> moved = start;
      const double step = 0x1p-24 * std::max(1.0, std::fabs(start[k]));
      moved[k] += step;
      std::vector<double> change = misfits(moved);
      for (size_t i = 0; i < points; ++i) change[i] = (off[i] - change[i]) / step;
      slopes.push_back(std::move(change));
    }
    Matrix normal(n, std::vector<double>(n + 1));
    for (size_t a = 0; a < n; ++a) {
      for (size_t i = 0; i < points; ++i) {
        for (size_t b = 0; b < n; ++b) normal[a][b] += slopes[a][i] * slopes[b][i];
        normal[a][n] += slopes[a][i] * off[i];
      }
      // What nothing determines has no slope: it then stays.
      normal[a][a] = normal[a][a] == 0 ? 1 : normal[a][a] * (1 + damping);
    }
    const std::vector<double> step = Solve(normal);
    std::vector<double> next = start;
    for (size_t k = 0; k < n; ++k) next[k] += step[k];
    std::vector<double> next_off = misfits(next);
    const double now = sum(next_off);
    if (now < least) {
      const bool settled = now > least * (1 - 0x1p-20);
      start = std::move(next);
      off = std::move(next_off);
      least = now;
      damping = std::max(damping / 8, 0x1p-40);
      if (settled) break;
    } else {
      damping *= 64;
      if (damping > 0x1p40) break;
    }
  }
  return start;
}

double RoundToDigits(double value, int digits) {
  return std::strtod(fmt::format("{:.{}e}", value, digits - 1).c_str(), nullptr);
}

}  // namespace posgauge
