#pragma once

#include <optional>
#include <vector>

#include "posgauge/reference/exact_addition.h"
#include "posgauge/verify/addition_bound.h"
#include "posgauge/verify/given_stages.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// What a kernel of a scheme of added rows is held to, and what posgauge hands to it. Copyable. As
/// RotationTruth, whose comments say what each part is.
class AdditionTruth {
 public:
  AdditionTruth(const KernelInfo& info, const Scheme& scheme);

  const ExactAddition& exact() const { return exact_; }
  const ExactAddition& given() const { return given_; }
  bool GivenIsExact() const { return given_is_exact_; }

  /// Radians per token rounded to binary64, [waves].
  const std::vector<double>& frequencies() const { return frequencies_; }

  const AdditionBound& bound() const { return bound_; }
  const AdditionBound& local_bound() const { return local_bound_; }

  /// The rows that posgauge hands over, [positions, width], in the dtype that the kernel takes.
  Tensor SuppliedRows(Positions positions) const;

  std::optional<Tensor> Supply(const TensorSpec& spec, Positions positions) const;

 private:
  ExactAddition exact_, given_;
  bool given_is_exact_ = true;
  std::optional<Dtype> rows_dtype_;
  SuppliedFrequencies supplied_frequencies_;
  std::vector<double> frequencies_;
  AdditionBound bound_, local_bound_;
};

}  // namespace posgauge
