#pragma once

#include <functional>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/schemes/base/turning.h"

namespace posgauge {

/// Which scores are those of plain RoPE.
struct RopeScores {
  Turning turning;
  std::function<bool(double query, double key)> where;  // by positions
  std::function<double(double query)> factor = [](double) { return 1.0; };
  double factor_error = 0;  // relative
};

/// Holds the scores that a query sees to factor <R(p) q, R(t) k>, times the scale, the products
/// being proven.
void CompareWithRope(Comparisons& comparisons, const Attention& attention,
                     const EquationAnswer& answer, const RopeScores& rope);

}  // namespace posgauge
