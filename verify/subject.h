#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "posgauge/verify/addition_truth.h"
#include "posgauge/verify/equation_truth.h"
#include "posgauge/verify/kernel_call.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/ragged_batch.h"
#include "posgauge/verify/rotation_truth.h"

namespace posgauge {

/// A kernel bound to one scheme, as every check sees it. What the kernel wants but does not compute
/// (frequencies, tables, slopes) posgauge supplies from the proven reference, rounded to the dtype
/// that the kernel takes. Copyable; calls may throw Unsupported and KernelFailure.
class Subject {
 public:
  /// Throws ParameterError where the kernel is of another kind of scheme.
  Subject(const KernelInfo& info, const Scheme& scheme);

  const KernelInfo& info() const { return info_; }
  const Scheme& scheme() const { return scheme_; }
  Dtype io() const { return info_.io(); }

  /// Stages whose results posgauge supplied ("frequency", "table", "slopes", "thresholds"): not
  /// covered by a verdict.
  std::vector<std::string> NotCovered() const;
  bool TakesTable() const {
    return info_.Input("cos") != nullptr || info_.Input("rows") != nullptr;
  }

  /// What the kernel is held to, by the scheme's kind.
  using Truth = std::variant<RotationTruth, AdditionTruth, EquationTruth>;
  const Truth& truth() const { return truth_; }

  /// Of one kind. Throws ParameterError for a scheme of another.
  const RotationTruth& rotation() const;
  const AdditionTruth& addition() const;
  const EquationTruth& equations() const;

  // Of a rotation: shorter names for what its laws ask for all the time.
  const Rotary& layout() const { return RotaryOf(scheme_); }
  const ExactRotation& exact() const { return rotation().exact(); }
  const std::vector<double>& frequencies() const { return rotation().frequencies(); }
  double magnitude() const { return rotation().magnitude(); }
  const Axes& axes() const { return rotation().axes(); }
  const RotaryBound& bound() const { return rotation().bound(); }

  /// The quantity `frequencies`: high parts, low parts (zeros where the kernel has none),
  /// magnitude.
  struct FrequencyOutput {
    std::vector<double> high, low;
    double magnitude = 1;
    // Unit roundoff of the dtypes they came in, where those do not hold the contract's arithmetic.
    double export_roundoff = 0;
  };
  FrequencyOutput Frequencies() const;
  /// What the outputs of such a call say.
  FrequencyOutput ReadFrequencies(const std::vector<Named>& outputs) const;

  // Positions of a rotation over several axes are [tokens, axes] everywhere.

  /// The quantity `table` of a rotation.
  TablePair Table(Positions positions) const;

  /// The quantities `rotate` and `rotate_backward`, whichever the kernel is. x and the result
  /// [tokens, heads, head_dim] of dtype io(). In place it writes over a
  /// copy of x.
  Tensor Rotate(Positions positions, const Tensor& x, Placement placement = Placement::apart) const;

  /// The quantity `table` of an addition, [tokens, width].
  Tensor Rows(Positions positions) const;

  /// The quantity `embed`: x and the result [tokens, width] of dtype io().
  Tensor Embed(Positions positions, const Tensor& x, Placement placement = Placement::apart) const;

  /// The quantity of a kernel whose scheme is given by equations: the inputs are those of
  /// ExactEquations::InputsOf, the result has the shape that CheckInputs says. Inputs that none of
  /// the dtypes that the kernel takes holds are Unsupported.
  Tensor Evaluate(const NamedInputs& inputs, Placement placement = Placement::apart) const;

  /// Whatever the kernel yields for these positions and, where its quantity has one, x, in the
  /// order that it declares: any quantity of a scheme that is not given by equations.
  std::vector<Named> Answer(Positions positions, const Tensor& x,
                            Placement placement = Placement::apart) const;

  /// Everything that the kernel is called with for these positions and x (null where it takes
  /// none), or for the inputs of a scheme that is given by equations: what it asked for by name.
  std::vector<Named> InputsFor(Positions positions, const Tensor* x,
                               const RaggedBatch* batch = nullptr) const;
  std::vector<Named> InputsFor(const NamedInputs& inputs) const;

 private:
  std::vector<Named> AnswerCompact(Positions positions, const Tensor& x, Placement placement,
                                   const RaggedBatch* batch) const;
  // A list of the scheme that the kernel names among its inputs.
  std::optional<Named> ListFor(const TensorSpec& spec) const;
  int64_t TokensOf(Positions positions) const;

  KernelInfo info_;
  Scheme scheme_;
  Truth truth_;
  int64_t axis_count_ = 1;
};

}  // namespace posgauge
