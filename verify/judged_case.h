#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "posgauge/verify/case_file.h"
#include "posgauge/verify/judged_call.h"

namespace posgauge {

/// One call of a kernel with the truth that it is held to, judged as CheckKernels judges its own.
/// Of frequencies, which are asked for nothing, the case has a scheme and a quantity alone.
class JudgedCase {
 public:
  /// Throws ParameterError where the scheme has no such case or the kernel serves no such position.
  JudgedCase(const Subject& subject, CaseFile asked);

  const Subject& subject() const { return subject_; }
  const CaseFile& asked() const { return asked_; }

  /// Every tensor that the kernel is called with, lists of the scheme left out.
  std::vector<Named> Inputs() const;

  /// Calls the kernel. Throws Unsupported and KernelFailure.
  std::vector<Named> Answer() const;

  /// The truth that the contract is held to, rounded to what the kernel yields.
  std::vector<Named> Exact() const;

  /// `answer` has the outputs, shapes and dtypes of Exact().
  CallFindings Judge(const std::vector<Named>& answer, double budget) const;

 private:
  struct OfRotation {
    TruthTable exact;
    std::optional<TruthTable> own;
  };
  struct OfAddition {
    RowTruth exact;
    std::optional<RowTruth> own;
  };
  struct OfEquations {
    EnclosedEach exact, given;
    std::vector<EquationLimit> limits;
    std::vector<int64_t> buckets;
  };

  Subject subject_;
  CaseFile asked_;
  std::variant<std::monostate, OfRotation, OfAddition, OfEquations> truth_;  // none: frequencies
};

}  // namespace posgauge
