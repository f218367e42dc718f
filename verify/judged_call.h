#pragma once

#include <optional>
#include <vector>

#include "posgauge/verify/judge.h"
#include "posgauge/verify/judge_addition.h"
#include "posgauge/verify/judge_equations.h"
#include "posgauge/verify/subject.h"

namespace posgauge {

/// What one call yielded, held to the contract and to the budget.
struct CallFindings {
  Finding contract, budget;
};

/// What a call of a rotation (TruthTable) or an addition (RowTruth) was asked, and the truth.
template <class Truth>
struct HeldCall {
  Positions positions;
  const Tensor& x;     // empty for tables and rows
  const Truth& exact;  // from the config alone: of the budget
  const Truth& given;  // given what posgauge handed over: of the contract
};

/// The truth given what posgauge hands over, where that differs from the truth of the config.
std::optional<TruthTable> OwnTruth(const Subject& subject, const RotationTruth& truth,
                                   Positions positions);
std::optional<RowTruth> OwnTruth(const Subject& subject, const AdditionTruth& truth,
                                 Positions positions);

/// The judgement that every check makes of what Subject::Answer yields.
CallFindings JudgeAnswer(const Subject& subject, const RotationTruth& truth,
                         const HeldCall<TruthTable>& call, const std::vector<Named>& answer,
                         double budget);
CallFindings JudgeAnswer(const Subject& subject, const AdditionTruth& truth,
                         const HeldCall<RowTruth>& call, const std::vector<Named>& answer,
                         double budget);

/// The same of equations, but for buckets, which are integers.
struct HeldEquations {
  const EnclosedEach& exact;
  const EnclosedEach& given;
  const std::vector<EquationLimit>& limits;
};
CallFindings JudgeAnswer(const Subject& subject, const HeldEquations& held,
                         const EquationResult& result, double budget);

/// Frequencies, of a kernel of any scheme that has them; empty of one that has none.
Finding JudgeFrequencies(const Subject& subject, const Subject::FrequencyOutput& output);

}  // namespace posgauge
