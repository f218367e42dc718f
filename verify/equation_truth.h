#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/equation_bound.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// What a kernel of a scheme that is given by equations is held to, and what posgauge hands to it.
/// Copyable.
class EquationTruth {
 public:
  EquationTruth(const KernelInfo& info, const Scheme& scheme);

  const ExactEquations& exact() const { return exact_; }
  EquationQuantity quantity() const { return quantity_; }

  /// What the kernel's contract allows against the truth from the config alone, and against the
  /// truth given what posgauge handed over.
  const EquationBound& bound() const { return bound_; }

  /// The inputs that the local truth is computed from: `inputs` and the slopes as handed over.
  NamedInputs Given(NamedInputs inputs) const;
  bool GivenIsExact() const { return !slopes_; }

  /// Shape of the result for inputs of which only the shapes count: what is not visible may hold
  /// anything.
  std::vector<int64_t> ShapeFor(const NamedInputs& inputs) const;

  /// Ready-made inputs that the kernel takes: "slopes", "thresholds".
  const std::vector<std::string>& handed_over() const { return handed_over_; }

  /// Of what posgauge hands over without being asked for values of it.
  std::optional<Tensor> Supply(const TensorSpec& spec, Positions) const;

 private:
  Scheme scheme_;
  ExactEquations exact_;
  EquationQuantity quantity_;
  EquationBound bound_;
  std::vector<std::string> handed_over_;
  std::optional<ExactTensor> slopes_;  // as handed over
};

}  // namespace posgauge
