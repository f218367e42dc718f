#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "posgauge/verify/faults/fault.h"

namespace posgauge {

// What faults of schemes that are given by equations have in common: how one wrong thing reaches
// every quantity that comes of it.

/// A quantity in binary64, of parameters and inputs that need not be valid. Buckets must be.
std::vector<double> EquationValues(const Scheme& scheme, std::string_view quantity,
                                   const NamedInputs& inputs, const std::vector<int64_t>& shape);

/// Values of a question with one equation changed: that of its quantity, or of the bias or scores
/// that it comes of. Says whether there is one.
bool ElementValues(const ChangeElement& change, const Question& question,
                   std::vector<double>& values);

/// What `attention` makes of scores [heads, queries, keys], -infinity where a key is masked. Throws
/// ParameterError where a query sees no key.
std::vector<double> Attended(const Scheme& scheme, const NamedInputs& inputs,
                             const std::vector<double>& scores);

/// Of `bias` and of what comes of it: [heads, queries, keys], `change` says whether it has anything
/// to do.
ChangeEvaluation OfBias(std::function<bool(const Question&, std::vector<double>& bias)> change);

/// Of `scores` and of `attention`; masked ones are -infinity.
ChangeEvaluation OfScores(std::function<bool(const Question&, std::vector<double>& scores)> change);

/// A question about scores or outputs.
bool AsksScores(const Question& question);

/// [heads, queries, keys] of bias and scores, whatever is asked.
std::vector<int64_t> ScoreShape(const Question& question);

/// Rows that are added, of any scheme that has such: [positions, width]. Not where they are given.
ChangeResult OfRows(std::function<bool(const Question&, std::vector<double>& rows)> change);

/// Of rows computed anew from what is asked: the value of one channel at a position.
template <class Params>
ChangeResult OfEachChannel(
    double (*value)(const Params&, const NamedInputs&, double position, int64_t channel),
    bool (*concerns)(const Params&) = [](const Params&) { return true; }) {
  return OfRows([=](const Question& question, std::vector<double>& rows) {
    const auto* params = std::get_if<Params>(&question.scheme);
    if (params == nullptr || !concerns(*params)) return false;
    const std::vector<double>& positions = question.inputs["positions"].values;
    const auto width = static_cast<size_t>(params->width);
    for (size_t i = 0; i < rows.size(); ++i) {
      rows[i] =
          value(*params, question.inputs, positions[i / width], static_cast<int64_t>(i % width));
    }
    return true;
  });
}

/// Valid parameters of one scheme changed in place.
template <class Params>
ChangeParameters Of(bool (*change)(Params&)) {
  return {[=](Scheme& scheme) {
    auto* params = std::get_if<Params>(&scheme);
    return params != nullptr && change(*params);
  }};
}

/// The inputs of one scheme.
template <class Params>
ChangeInputs Given(bool (*change)(const Params&, NamedInputs&)) {
  return {[=](const Scheme& scheme, NamedInputs& inputs) {
    const auto* params = std::get_if<Params>(&scheme);
    return params != nullptr && change(*params, inputs);
  }};
}

/// Parameters and inputs of one scheme, which need not be valid afterwards.
template <class Params>
ChangeEvaluation Anyhow(bool (*change)(Params&, NamedInputs&)) {
  return {[=](const Question& question, std::vector<double>& values) {
    if (!std::holds_alternative<Params>(question.scheme)) return false;
    Scheme scheme = question.scheme;
    NamedInputs inputs = question.inputs;
    if (!change(std::get<Params>(scheme), inputs)) return false;
    values = EquationValues(scheme, question.quantity, inputs, question.shape);
    return true;
  }};
}

/// A query and a key of a call.
struct PairPlace {
  const NamedInputs* inputs;
  double query, key;
  int64_t query_index, key_index;
};

/// Every query on its own, with the keys that `visible` says, at the positions that `key` says.
ChangeEvaluation SeenAs(bool (*concerns)(const Question&), bool (*visible)(const PairPlace&),
                        double (*key)(const PairPlace&));

/// Of the distance to each key alone: positions of keys as they count for one query. The mask goes
/// by the right ones.
ChangeEvaluation OfDistance(bool (*concerns)(const Question&), double (*key)(const PairPlace&));

/// Of schemes that see a distance and nothing else of a key's position.
bool CountsDistances(const Question& question);

/// Of those that tell a key before the query from one behind.
bool TellsDirections(const Question& question);

template <class... Params>
bool IsOneOf(const Scheme& scheme) {
  return (std::holds_alternative<Params>(scheme) || ...);
}

/// All of `more` behind those of `faults`.
inline void Append(std::vector<Fault>& faults, std::vector<Fault> more) {
  faults.insert(faults.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

// Parts of FaultsOfAttention, FaultsOfBiases, FaultsOfRows and FaultsOfWindows.
std::vector<Fault> FaultsOfMasksAndScales();
std::vector<Fault> FaultsOfDistances();
std::vector<Fault> FaultsOfCounts();        // cope
std::vector<Fault> FaultsOfTurns();         // xpos, rerope, dual_chunk, mixed
std::vector<Fault> FaultsOfVectors();       // shaw, transformer_xl, none
std::vector<Fault> FaultsOfSlopes();        // alibi
std::vector<Fault> FaultsOfBuckets();       // t5
std::vector<Fault> FaultsOfGrids();         // resampled, sincos2d
std::vector<Fault> FaultsOfDisentangled();  // deberta

}  // namespace posgauge
