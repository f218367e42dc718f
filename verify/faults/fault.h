#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// What a kernel was asked: tensors by their names in posgauge/kernel.h.
struct Question {
  Scheme scheme;
  std::string quantity;          // "rotate"
  NamedInputs inputs;            // positions of several axes are [tokens, axes]
  std::vector<int64_t> shape{};  // of the result; of a table that of its cosines
};

/// The frequencies of a series, radians per token, one a pair or wave, and the factor on its
/// entries.
struct FrequencySeries {
  std::vector<double> frequency;
  double magnitude = 1;
};

/// Where a position is used: its token and axis, and the positions of its axis' first token.
struct PositionPlace {
  size_t token = 0, axis = 0;
  double first = 0;
};

/// Where an entry of a table is formed.
struct EntryPlace {
  size_t token = 0, pair = 0, pairs = 0;
  double position = 0, frequency = 0, angle = 0, magnitude = 1;
  bool backward = false;  // of the transpose
};

/// cos and sin as the kernel holds them, magnitude included.
struct TableEntry {
  double cos, sin;
};

/// The two channels of a pair that is turned, and those of the pair beside it.
struct TurnPlace {
  double u, v, next_v;
  TableEntry entry;
};

/// An element of scores, biases, buckets or slopes.
struct ElementPlace {
  const Scheme* scheme;
  const NamedInputs* inputs;
  int64_t head, query_index, key_index;

  template <class Params>
  const Params& Of() const {
    return std::get<Params>(*scheme);
  }
  double Query() const { return (*inputs)["query_positions"].At(query_index); }
  double Key() const { return (*inputs)["key_positions"].At(key_index); }
  double Distance() const { return Query() < Key() ? Key() - Query() : Query() - Key(); }
  double Weight(const char* name) const { return (*inputs)[name].At(head); }
};

// One small change of what an honest kernel does, at the stage where it happens. Those that return
// a bool say whether there was anything to change.

/// The parameters as the kernel understands them; they need not be valid afterwards.
struct ChangeParameters {
  std::function<bool(Scheme&)> change;
};
/// What the frequencies come out as; `scheme` is as the kernel understands it.
struct ChangeFrequencies {
  std::function<bool(const Scheme&, FrequencySeries&)> change;
};
struct ChangePosition {
  std::function<double(double, const PositionPlace&)> change;
};
/// The angle in radians, from the one formed so far.
struct ChangeAngle {
  std::function<double(double, const EntryPlace&)> change;
};
struct ChangeEntry {
  std::function<void(TableEntry&, const EntryPlace&)> change;
};
/// The arithmetic of one pair, in place of (u cos - v sin, u sin + v cos).
struct ChangeTurn {
  std::function<std::array<double, 2>(const TurnPlace&)> change;
};
/// What is read in place of the inputs.
struct ChangeInputs {
  std::function<bool(const Scheme&, NamedInputs&)> change;
};
/// An equation of one scheme and quantity in place of the right one.
struct ChangeElement {
  std::string_view scheme, quantity;
  double (*value)(const ElementPlace&);
};
/// The whole result in place of the right one, in C order.
struct ChangeEvaluation {
  std::function<bool(const Question&, std::vector<double>&)> change;
};
/// What is made of the right result, in C order.
struct ChangeResult {
  std::function<bool(const Question&, std::vector<double>&)> change;
};

using Change =
    std::variant<ChangeParameters, ChangeFrequencies, ChangePosition, ChangeAngle, ChangeEntry,
                 ChangeTurn, ChangeInputs, ChangeElement, ChangeEvaluation, ChangeResult>;

/// A named, documented way to be wrong.
struct Fault {
  std::string id;                       // "frequency_bf16"
  std::string cause;                    // one line: "frequencies are rounded to bf16"
  std::string fix;                      // one line
  std::string shows;                    // the smallest condition under which it does
  Change change;                        // a fault of several schemes has a change for each:
  std::vector<Change> more = {};        // the first that has something to change acts
  std::vector<std::string> links = {};  // public reports
  std::vector<std::string> kinds = {};  // of those reports: "ANGLE_BF16"
};

/// "parameters", "frequency", "position", "angle", "table", "rotation", "inputs", "equation",
/// "result": where it happens.
std::string_view StageOf(const Fault& fault);

}  // namespace posgauge
