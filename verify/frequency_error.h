#pragma once

#include <span>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/contract.h"

namespace posgauge {

/// Relative errors, one a pair, of frequencies formed as the contract says: its formula for the
/// plain powers, then what the scheme does to them, every operation rounded in the contract's
/// frequency arithmetic. `frequencies` are the scheme's, rounded to nearest. Infinite where an
/// intermediate may overflow or a rounding may choose another branch. Derivations beside the code
/// and in docs/contracts.md.
std::vector<double> FrequencyErrors(const Contract& contract, const Scheme& scheme,
                                    std::span<const double> frequencies);

/// Where a frequency stands in the plain series: base^(-2 index/width).
struct PlainExponent {
  int64_t index, width;
};
PlainExponent PlainExponentOf(const Scheme& scheme, int64_t pair);

/// n factors 1 + d or 1/(1 + d), each |d| <= u, differ together from 1 by at most this:
/// (1 - u)^-n <= exp(n u/(1 - u)).
double Compound(double n, double u);

/// (1 + a)(1 + b) - 1 without cancellation.
inline double Together(double a, double b) { return a + b + a * b; }

/// What rounding `value` to the arithmetic may lose: nothing where it is a number of it.
struct Loss {
  double relative = 0, absolute = 0;
};
Loss LossOf(Arithmetic arithmetic, bool flush_to_zero, double value);

}  // namespace posgauge
