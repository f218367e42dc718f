#include <algorithm>
#include <cmath>

#include "posgauge/reference/attention.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using cope::Params;

// What goes wrong where gates are counted and a table is interpolated.
struct CountFault {
  bool exclusive = false;   // a key's own gate is left out
  bool from_start = false;  // the sum runs from the first key on
  bool unmasked = false;    // gates of keys out of sight count
  bool swapped = false;     // the weights of floor and ceiling change places
  bool unbalanced = false;  // the floor has weight 1
  bool raw = false;         // gates are of <q, k> as it is, not scaled
  bool floored = false;     // no interpolation
  int64_t rows_short = 0;   // of the table
};

// [keys], those out of sight included.
std::vector<double> CountedScores(const Params& params, const NamedInputs& inputs, int64_t head,
                                  int64_t query, const CountFault& fault) {
  const int64_t keys = inputs["key_positions"].shape[0];
  std::vector<double> dots, positions(static_cast<size_t>(keys));
  for (int64_t key = 0; key < keys; ++key) {
    dots.push_back(DotOf<double>(inputs, head, query, key));
  }
  double counted = 0;
  for (int64_t i = 0; i < keys; ++i) {
    const int64_t key = fault.from_start ? i : keys - 1 - i;
    const bool visible = params.attention.Visible(inputs["query_positions"].At(query),
                                                  inputs["key_positions"].At(key));
    const double dot = dots[static_cast<size_t>(key)];
    const double gate =
        visible || fault.unmasked ? Sigmoid(fault.raw ? dot : Scaled(params.attention, dot)) : 0;
    counted += gate;
    positions[static_cast<size_t>(key)] = fault.exclusive ? counted - gate : counted;
  }
  const auto logit = [&](int64_t row) {
    double sum = 0;
    for (int64_t c = 0; c < params.attention.head_dim; ++c) {
      sum += inputs["q"].At(query, head, c) * inputs["embedding"].At(row, c);
    }
    return sum;
  };
  std::vector<double> scores;
  const int64_t last = params.num_positions - 1 - fault.rows_short;
  for (size_t key = 0; key < dots.size(); ++key) {
    const double position = std::min(positions[key], static_cast<double>(last)),
                 floor = std::floor(position);
    double upper = fault.floored ? 0 : position - floor, lower = 1 - upper;
    if (fault.swapped) std::swap(upper, lower);
    if (fault.unbalanced) lower = 1;
    // What no position stands for, a NaN, counts as nothing.
    const auto low = floor >= 0 ? static_cast<int64_t>(floor) : 0;
    const double added = lower * logit(low) + upper * logit(std::min(low + 1, last));
    scores.push_back(params.placement == cope::Placement::before_scale
                         ? Scaled(params.attention, dots[key] + added)
                         : Scaled(params.attention, dots[key]) + added);
  }
  return scores;
}

Fault Of(const char* id, const char* cause, const char* fix, const char* shows,
         const CountFault& fault) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = OfScores([=](const Question& question, std::vector<double>& scores) {
            const auto* params = std::get_if<Params>(&question.scheme);
            if (params == nullptr) return false;
            const std::vector<int64_t> shape = ScoreShape(question);
            std::vector<double> wrong;
            for (int64_t head = 0; head < shape[0]; ++head) {
              for (int64_t query = 0; query < shape[1]; ++query) {
                const auto row = CountedScores(*params, question.inputs, head, query, fault);
                wrong.insert(wrong.end(), row.begin(), row.end());
              }
            }
            for (size_t i = 0; i < scores.size(); ++i) {
              if (scores[i] != -HUGE_VAL) scores[i] = wrong[i];
            }
            return true;
          })};
}

}  // namespace

std::vector<Fault> FaultsOfCounts() {
  const char* count = "count the gates of the visible keys from this one up to the query";
  const char* blend = "(1 - t) of the row below and t of the row above";
  return {
      {.id = "placement_swapped",
       .cause = "the position logit is added on the other side of the scale",
       .fix = "before or after <q, k> is scaled, as the model's code",
       .shows = "head_dim above 1",
       .change = posgauge::Of<Params>([](Params& params) {
         params.placement = params.placement == cope::Placement::before_scale
                                ? cope::Placement::after_scale
                                : cope::Placement::before_scale;
         return true;
       })},
      Of("count_exclusive", "a key's own gate is left out of its position", count, "one key",
         {.exclusive = true}),
      Of("count_from_start", "gates are counted from the first key up to this one", count,
         "two keys", {.from_start = true}),
      Of("count_unmasked", "gates of keys out of sight are counted", count,
         "a key behind the query", {.unmasked = true}),
      Of("count_of_raw_scores", "gates are of <q, k> before it is scaled", count,
         "head_dim above 1", {.raw = true}),
      Of("interpolation_swapped", "the weights of the rows below and above change places", blend,
         "a position that is not half way", {.swapped = true}),
      Of("interpolation_unbalanced", "the row below counts in full", blend,
         "a position that is not whole", {.unbalanced = true}),
      Of("interpolation_missing", "positions are cut to whole numbers", blend,
         "a position that is not whole", {.floored = true}),
      Of("last_row_unreached", "positions end a row below the last one",
         "clamp to num_positions - 1", "more keys than rows", {.rows_short = 1}),
  };
}

}  // namespace posgauge
