#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "decimal_text.h"
#include "posgauge/reference/exact_equations.h"

namespace posgauge {

/// A tensor of one dimension.
inline ExactTensor List(std::vector<double> values) {
  const auto size = static_cast<int64_t>(values.size());
  return {{size}, std::move(values)};
}

/// first, first + 1, ...: [count].
inline ExactTensor Consecutive(int64_t count, double first = 0) {
  ExactTensor tensor{{count}, {}};
  for (int64_t i = 0; i < count; ++i) tensor.values.push_back(first + static_cast<double>(i));
  return tensor;
}

/// Of every value, printed to 30 digits: the rounding to binary64, and every digit. "-inf" for
/// -infinity; what is printed to fewer digits is exact.
inline void ExpectPrinted(const Scheme& scheme, EquationQuantity quantity,
                          const NamedInputs& inputs, const std::vector<std::string>& printed) {
  SCOPED_TRACE(Text(scheme));
  const ExactEquations exact(scheme);
  const RoundedValues rounded = exact.Evaluate(quantity, inputs, Dtype::f64);
  const EnclosedEach enclosed = exact.Enclose(quantity, inputs);
  ASSERT_EQ(rounded.values.size(), printed.size());
  ASSERT_EQ(enclosed.values.size(), printed.size());
  for (size_t i = 0; i < printed.size(); ++i) {
    EXPECT_EQ(rounded.values[i], std::strtod(printed[i].c_str(), nullptr)) << i;
    EXPECT_NE(rounded.proofs[i], Proof::undecided) << i;
    if (DigitsOf(printed[i]).size() < 17) {  // also -inf and 0
      EXPECT_EQ(rounded.proofs[i], Proof::exact) << i;
      continue;
    }
    EXPECT_EQ(RoundedLike(printed[i], enclosed.values[i]), DigitsOf(printed[i])) << i;
    EXPECT_LE(enclosed.radii[i], std::fabs(enclosed.values[i].high) * 0x1p-100) << i;
  }
}

/// What a refusal says, in one line; "" where there is none.
template <class Call>
std::string Refusal(const Call& call) {
  try {
    call();
  } catch (const ParameterError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  return "";
}

}  // namespace posgauge
