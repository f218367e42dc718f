#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/bound.h"
#include "posgauge/verify/given_stages.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

struct TablePair {
  Tensor cos, sin;  // [tokens, pairs]
};

/// What a kernel of a rotary scheme is held to, and what posgauge hands to it. Copyable.
class RotationTruth {
 public:
  RotationTruth(const KernelInfo& info, const Scheme& scheme);

  /// The proven rotation of the scheme: the end-to-end truth.
  const ExactRotation& exact() const { return exact_; }

  /// The truth given exactly the frequencies that posgauge supplies; the same as exact() for a
  /// kernel that computes them itself. A supplied table is not part of it.
  const ExactRotation& given() const { return given_; }
  bool GivenIsExact() const { return given_is_exact_; }

  /// Frequencies in radians per token rounded to binary64, [pairs], and the magnitude.
  const std::vector<double>& frequencies() const { return frequencies_; }
  double magnitude() const { return magnitude_; }

  /// How positions are laid out.
  const Axes& axes() const { return exact_.axes(); }

  /// The kernel's bound against the end-to-end truth: the contract, with the stages that posgauge
  /// supplied as accurate as they were supplied. This is what laws use.
  const RotaryBound& bound() const { return bound_; }

  /// The kernel's bound against the truth given exactly what posgauge supplied.
  const RotaryBound& local_bound() const { return local_bound_; }

  /// The table that posgauge hands over for these positions, in the dtype that the kernel takes.
  /// The last few are kept: laws ask for the same positions again and again, and every entry is
  /// proven.
  TablePair SuppliedTable(Positions positions) const;

  /// A tensor that the kernel asked for, as posgauge hands it over; nothing if there is none of
  /// that name, or no axis to choose for a kernel that can do without.
  std::optional<Tensor> Supply(const TensorSpec& spec, Positions positions) const;

 private:
  ExactRotation exact_, given_;
  bool given_is_exact_ = true;
  std::optional<Dtype> table_dtype_;
  struct Tables;
  std::shared_ptr<Tables> tables_;  // shared by copies; safe between threads
  SuppliedFrequencies supplied_frequencies_;
  std::vector<double> frequencies_;
  double magnitude_;
  RotaryBound bound_, local_bound_;
};

}  // namespace posgauge
