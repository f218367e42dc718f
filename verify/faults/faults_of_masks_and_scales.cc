#include <algorithm>
#include <cmath>

#include "posgauge/schemes/base/dtype.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

bool Masks(const Question& question) {
  if (!ActsInAttention(question.scheme) || !AsksScores(question)) return false;
  const auto* alibi = std::get_if<alibi::Params>(&question.scheme);
  const bool from_last = alibi != nullptr && alibi->form == alibi::Form::key_from_last;
  return AttentionOf(question.scheme).causal && !from_last;
}
double KeyItself(const PairPlace& at) { return at.key; }

Fault OfMask(const char* id, const char* cause, const char* shows,
             bool (*visible)(const PairPlace&)) {
  return {.id = id,
          .cause = cause,
          .fix = "a key is visible where its position is at most the query's",
          .shows = shows,
          .change = SeenAs(Masks, visible, KeyItself)};
}

// The scheme with the other factor on <q, k>.
template <ScoreScale from>
bool ScaleOtherwise(const Question& question, std::vector<double>& values) {
  if (!ActsInAttention(question.scheme) || !AsksScores(question)) return false;
  if (AttentionOf(question.scheme).scale != from) return false;
  if (std::holds_alternative<swin2::Params>(question.scheme)) return false;  // cosines
  Scheme scheme = question.scheme;
  std::visit(
      [](auto& params) {
        if constexpr (requires { params.attention; }) {
          params.attention.scale =
              from == ScoreScale::one ? ScoreScale::inverse_sqrt : ScoreScale::one;
        }
      },
      scheme);
  values = EquationValues(scheme, question.quantity, question.inputs, question.shape);
  return true;
}

// Queries times a factor.
ChangeInputs OfQueries(double (*factor)(const Attention&)) {
  return {[=](const Scheme& scheme, NamedInputs& inputs) {
    const auto q = inputs.tensors.find("q");
    if (q == inputs.tensors.end()) return false;
    const double by = factor(AttentionOf(scheme));
    for (double& value : q->second.values) value *= by;
    return by != 1;
  }};
}

Fault OfEachBias(const char* id, const char* cause, const char* fix, const char* shows,
                 double (*value)(double bias, const Attention&),
                 std::vector<std::string> links = {}, std::vector<std::string> kinds = {}) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = OfBias([=](const Question& question, std::vector<double>& bias) {
            const std::vector<double> right = bias;
            for (double& b : bias) b = value(b, AttentionOf(question.scheme));
            return bias != right;
          }),
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

// The bias of head `from` for every head.
ChangeEvaluation OfHeads(int64_t (*from)(int64_t head, int64_t heads)) {
  return OfBias([=](const Question& question, std::vector<double>& bias) {
    const int64_t heads = AttentionOf(question.scheme).heads;
    const std::vector<double> right = bias;
    const size_t of_head = bias.size() / static_cast<size_t>(heads);
    for (size_t i = 0; i < bias.size(); ++i) {
      const auto head = static_cast<int64_t>(i / of_head);
      bias[i] = right[static_cast<size_t>(from(head, heads)) * of_head + i % of_head];
    }
    return bias != right;
  });
}

template <Dtype dtype>
double Rounded(double value, const Attention&) {
  return RoundTo(FormatOf(dtype), value);
}

template <Dtype dtype>
bool RoundScores(const Question&, std::vector<double>& scores) {
  for (double& score : scores) score = RoundTo(FormatOf(dtype), score);
  return true;
}

// What makes of scores something else before their exponentials.
bool InBaseTwo(const Question& question, std::vector<double>& scores) {
  for (double& score : scores) score *= std::log(2.0);
  return question.quantity == "attention";
}
bool MaskedByNumber(const Question& question, std::vector<double>& scores) {
  bool any = false;
  for (double& score : scores) {
    any = any || score == -HUGE_VAL;
    if (score == -HUGE_VAL) score = -10000;
  }
  return any && question.quantity == "scores";
}

// q of head 0 for every head.
bool LeakHead(const Scheme&, NamedInputs& inputs) {
  const auto found = inputs.tensors.find("q");
  if (found == inputs.tensors.end()) return false;
  ExactTensor& q = found->second;
  const auto row = static_cast<size_t>(q.shape[1] * q.shape[2]);
  const auto width = static_cast<size_t>(q.shape[2]);
  for (size_t i = 0; i < q.values.size(); ++i) q.values[i] = q.values[i / row * row + i % width];
  return q.shape[1] > 1;
}

// The last row is that of the one before.
template <char name>
bool KeepStale(const Scheme&, NamedInputs& inputs) {
  const auto found = inputs.tensors.find(std::string(1, name));
  if (found == inputs.tensors.end() || found->second.shape.size() != 3) return false;
  ExactTensor& rows = found->second;
  const auto width = static_cast<size_t>(rows.shape[1] * rows.shape[2]);
  if (rows.shape[0] < 2) return false;
  std::copy_n(rows.values.end() - static_cast<int64_t>(2 * width), width,
              rows.values.end() - static_cast<int64_t>(width));
  return true;
}

std::vector<Fault> FaultsOfHeads() {
  const char* fix = "index slopes and tables by the head";
  return {
      {.id = "bias_of_first_head",
       .cause = "all heads have the bias of the first one",
       .fix = fix,
       .shows = "two heads",
       .change = OfHeads([](int64_t, int64_t) { return int64_t{0}; })},
      {.id = "bias_of_next_head",
       .cause = "every head has the bias of the next one",
       .fix = fix,
       .shows = "two heads",
       .change = OfHeads([](int64_t head, int64_t heads) { return (head + 1) % heads; })},
      {.id = "bias_of_opposite_head",
       .cause = "heads have their biases in the reverse order",
       .fix = fix,
       .shows = "two heads",
       .change = OfHeads([](int64_t head, int64_t heads) { return heads - 1 - head; })},
      {.id = "head_leak",
       .cause = "every head reads the first one's query",
       .fix = "the stride between heads is head_dim",
       .shows = "two heads",
       .change = ChangeInputs{LeakHead}},
      {.id = "stale_key",
       .cause = "the last key is still that of the token before",
       .fix = "write the cache before it is read",
       .shows = "two keys, the last one visible",
       .change = ChangeInputs{KeepStale<'k'>}},
      {.id = "stale_value",
       .cause = "the last value is still that of the token before",
       .fix = "write the cache before it is read",
       .shows = "two keys, the last one visible",
       .change = ChangeInputs{KeepStale<'v'>}},
  };
}

std::vector<Fault> FaultsOfScales() {
  return {
      {.id = "softmax_scale_missing",
       .cause = "<q, k> is not divided by the root of head_dim",
       .fix = "scale by 1/sqrt(head_dim)",
       .shows = "head_dim above 1",
       .change = ChangeEvaluation{ScaleOtherwise<ScoreScale::inverse_sqrt>}},
      {.id = "softmax_scale_applied",
       .cause = "<q, k> is divided by the root of head_dim where the model does not",
       .fix = "T5 folds the factor into its weights: scale 1",
       .shows = "head_dim above 1, scale one",
       .change = ChangeEvaluation{ScaleOtherwise<ScoreScale::one>}},
      {.id = "softmax_scale_twice",
       .cause = "queries are scaled by 1/sqrt(head_dim) before scores are too",
       .fix = "scale once",
       .shows = "head_dim above 1",
       .change = OfQueries([](const Attention& attention) {
         return attention.scale == ScoreScale::one
                    ? 1.0
                    : 1 / std::sqrt(static_cast<double>(attention.head_dim));
       })},
      {.id = "softmax_scale_of_model",
       .cause = "scores are scaled by the width of the model, not of a head",
       .fix = "1/sqrt(head_dim)",
       .shows = "two heads",
       .change = OfQueries([](const Attention& attention) {
         return attention.scale == ScoreScale::one
                    ? 1.0
                    : 1 / std::sqrt(static_cast<double>(attention.heads));
       })},
      {.id = "softmax_base_two",
       .cause = "exponentials are powers of two, of scores that were not multiplied by log2(e)",
       .fix = "exp2(log2(e) score)",
       .shows = "two visible keys",
       .change = OfScores(InBaseTwo)},
      {.id = "scores_bf16",
       .cause = "scores are rounded to bf16 before softmax",
       .fix = "keep scores in f32",
       .shows = "two visible keys",
       .change = OfScores(RoundScores<Dtype::bf16>)},
      {.id = "scores_f16",
       .cause = "scores are rounded to f16 before softmax",
       .fix = "keep scores in f32",
       .shows = "two visible keys",
       .change = OfScores(RoundScores<Dtype::f16>)},
  };
}

std::vector<Fault> FaultsOfBiasInScores() {
  return {
      OfEachBias("bias_negated", "the bias has the wrong sign: it grows with the distance",
                 "add -m (i - j), m (j - i)", "a query behind a key",
                 [](double b, const Attention&) { return -b; },
                 {"https://github.com/meta-pytorch/attention-gym/pull/86",
                  "https://github.com/meta-pytorch/attention-gym/issues/29"},
                 {"ALIBI_SIGN"}),
      OfEachBias("bias_dropped", "no bias is added",
                 "add it in every phase, of decoding with a cache too", "a bias other than 0",
                 [](double, const Attention&) { return 0.0; },
                 {"https://github.com/NVIDIA/TensorRT-LLM/pull/13870",
                  "https://github.com/NVIDIA-NeMo/Speech/pull/6666"},
                 {"T5_BIAS_DROPPED", "KERPLE_INIT"}),
      OfEachBias("bias_twice",
                 "the bias counts twice: it is added twice, or scaled with a layer's scores",
                 "divide it by what scores are multiplied with later, the number of the layer",
                 "a bias other than 0", [](double b, const Attention&) { return 2 * b; },
                 {"https://github.com/bigscience-workshop/Megatron-DeepSpeed/pull/222"},
                 {"ALIBI_LAYER_SCALE"}),
      OfEachBias("bias_scaled", "the bias is divided by the root of head_dim, as <q, k> is",
                 "add the bias to scaled scores", "head_dim above 1, a bias other than 0",
                 [](double b, const Attention& a) {
                   return a.scale == ScoreScale::one
                              ? b
                              : b / std::sqrt(static_cast<double>(a.head_dim));
                 }),
      OfEachBias("bias_unscaled",
                 "the bias is multiplied by the root of head_dim: it is added before the scale, "
                 "made up for twice",
                 "add the bias to scaled scores", "head_dim above 1, a bias other than 0",
                 [](double b, const Attention& a) {
                   return a.scale == ScoreScale::one
                              ? b
                              : b * std::sqrt(static_cast<double>(a.head_dim));
                 }),
      OfEachBias("bias_bf16", "the bias is rounded to bf16 before it is added",
                 "keep the bias in f32", "a bias that bf16 does not hold", Rounded<Dtype::bf16>),
      OfEachBias("bias_f16", "the bias is rounded to f16 before it is added",
                 "keep the bias in f32", "a bias that f16 does not hold", Rounded<Dtype::f16>),
  };
}

}  // namespace

std::vector<Fault> FaultsOfMasksAndScales() {
  std::vector<Fault> faults = {
      OfMask("no_mask", "keys behind the query are visible", "a key behind the query",
             [](const PairPlace&) { return true; }),
      OfMask("mask_shows_next", "the key right behind the query is visible",
             "a key right behind the query",
             [](const PairPlace& at) { return at.key <= at.query + 1; }),
      OfMask("mask_hides_self", "a query does not see its own position", "position 1",
             [](const PairPlace& at) { return at.key < at.query; }),
      OfMask("mask_reversed", "keys before the query are hidden, not those behind it",
             "a key before the query", [](const PairPlace& at) { return at.key >= at.query; }),
      OfMask("mask_top_left", "the mask counts queries from the first key, not up to the last",
             "fewer queries than keys",
             [](const PairPlace& at) { return at.key_index <= at.query_index; }),
      {.id = "mask_finite",
       .cause = "hidden scores are -10000, which a bias may undercut, not -infinity",
       .fix = "mask with -infinity",
       .shows = "a hidden key",
       .change = OfScores(MaskedByNumber)},
  };
  Append(faults, FaultsOfScales());
  Append(faults, FaultsOfBiasInScores());
  Append(faults, FaultsOfHeads());
  return faults;
}

}  // namespace posgauge
