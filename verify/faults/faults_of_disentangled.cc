#include <algorithm>
#include <cmath>
#include <limits>

#include "posgauge/reference/deberta.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using Place = ElementPlace;

// DeBERTa: rows.
int64_t RowOf(const deberta::Params& params, const Place& at, double query, double key) {
  return deberta::Head<double>(params, *at.inputs, at.head).Bucket(query, key);
}
// A logarithm in binary32 that is an ulp high, as fast libraries may be.
double TieRaised(const Place& at) {
  const auto& params = at.Of<deberta::Params>();
  const auto mid = static_cast<float>(params.position_buckets / 2);
  const auto last = static_cast<float>(params.max_position - 1);
  auto n = static_cast<float>(at.Distance());
  if (n <= mid) return static_cast<double>(RowOf(params, at, at.Query(), at.Key()));
  if (params.far == deberta::Far::clamp) n = std::min(n, last);
  const float high = std::nextafter(std::log(n / mid), std::numeric_limits<float>::infinity());
  const float beside = mid + std::ceil(high / std::log(last / mid) * (mid - 1));
  const auto span = static_cast<double>(params.Span());
  const double row = span + (at.Key() > at.Query() ? -1 : 1) * static_cast<double>(beside);
  return std::clamp(row, 0.0, 2 * span - 1);
}
double FarUnclamped(const Place& at) {
  deberta::Params params = at.Of<deberta::Params>();
  params.far = deberta::Far::bucket;
  return static_cast<double>(RowOf(params, at, at.Query(), at.Key()));
}
double AfterShort(const Place& at) {
  const double key = at.Key() > at.Query() ? at.Key() - 1 : at.Key();
  return static_cast<double>(RowOf(at.Of<deberta::Params>(), at, at.Query(), key));
}

// The length of the sequence taken for the largest distance.
double LengthForLargest(const Place& at) {
  deberta::Params params = at.Of<deberta::Params>();
  const std::vector<double>& keys = (*at.inputs)["key_positions"].values;
  params.max_position = std::max(static_cast<int64_t>(*std::ranges::max_element(keys)) + 1,
                                 params.position_buckets / 2 + 2);
  return static_cast<double>(RowOf(params, at, at.Query(), at.Key()));
}
float Down(float x) { return std::floor(x); }
float Nearest(float x) { return std::round(x); }
template <float (*whole)(float)>
double WholeOtherwise(const Place& at) {
  const auto& params = at.Of<deberta::Params>();
  const auto mid = static_cast<float>(params.position_buckets / 2);
  const auto last = static_cast<float>(params.max_position - 1);
  const float n = std::min(static_cast<float>(at.Distance()), last);
  if (params.position_buckets == 0 || n <= mid) {
    return static_cast<double>(RowOf(params, at, at.Query(), at.Key()));
  }
  const float beside = mid + whole(std::log(n / mid) / std::log(last / mid) * (mid - 1));
  const auto span = static_cast<double>(params.Span());
  const double row = span + (at.Key() > at.Query() ? -1 : 1) * static_cast<double>(beside);
  return std::clamp(row, 0.0, 2 * span - 1);
}
double WithoutLogarithm(const Place& at) {
  const auto span = static_cast<double>(at.Of<deberta::Params>().Span());
  return std::clamp(span + at.Query() - at.Key(), 0.0, 2 * span - 1);
}
double RowBefore(const Place& at) {
  const int64_t row = RowOf(at.Of<deberta::Params>(), at, at.Query(), at.Key());
  return static_cast<double>(std::max<int64_t>(row - 1, 0));
}

// DeBERTa: scores of these parameters and inputs.
double DebertaScore(const Place& at, const deberta::Params& params, const NamedInputs& inputs) {
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  return deberta::Head<double>(params, inputs, at.head).Score(at.query_index, at.key_index);
}
double TermsUncounted(const Place& at) {
  const auto& params = at.Of<deberta::Params>();
  const double score = DebertaScore(at, params, *at.inputs);
  return params.attention.scale == ScoreScale::one
             ? score
             : score * std::sqrt(static_cast<double>(params.Terms()));
}
// Tables of rows of norm 1.
double TableNormalised(const Place& at) {
  NamedInputs inputs = *at.inputs;
  for (const char* name : {"position_keys", "position_queries"}) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end()) continue;
    std::vector<double>& values = found->second.values;
    const auto width = static_cast<size_t>(found->second.shape[2]);
    for (size_t row = 0; row < values.size(); row += width) {
      double squares = 1e-300;
      for (size_t c = row; c < row + width; ++c) squares += values[c] * values[c];
      for (size_t c = row; c < row + width; ++c) values[c] /= std::sqrt(squares);
    }
  }
  return DebertaScore(at, at.Of<deberta::Params>(), inputs);
}

// Scores by the rows that a fault of them chooses, of queries' and keys' products alike.
template <double (*row)(const Place&)>
double ScoreByRow(const Place& at) {
  const auto& params = at.Of<deberta::Params>();
  const NamedInputs& in = *at.inputs;
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  const auto of_query = static_cast<int64_t>(row(at));
  const int64_t of_key = params.p2c_index == deberta::P2cIndex::same
                             ? of_query
                             : std::min(2 * params.Span() - of_query, 2 * params.Span() - 1);
  double sum = 0;
  for (int64_t c = 0; c < params.attention.head_dim; ++c) {
    const double q = in["q"].At(at.query_index, at.head, c),
                 k = in["k"].At(at.key_index, at.head, c);
    sum += q * k;
    if (params.c2p) sum += q * in["position_keys"].At(at.head, of_query, c);
    if (params.p2c) sum += k * in["position_queries"].At(at.head, of_key, c);
  }
  if (params.attention.scale == ScoreScale::one) return sum;
  return sum / std::sqrt(static_cast<double>(params.Terms() * params.attention.head_dim));
}
// A kind of product left out, its number still counted.
template <bool c2p>
double TermLeftOut(const Place& at) {
  deberta::Params params = at.Of<deberta::Params>();
  const double terms = static_cast<double>(params.Terms());
  (c2p ? params.c2p : params.p2c) = false;
  const double score = DebertaScore(at, params, *at.inputs);
  return params.attention.scale == ScoreScale::one
             ? score
             : score * std::sqrt(static_cast<double>(params.Terms()) / terms);
}
double TablesSwapped(const Place& at) {
  NamedInputs inputs = *at.inputs;
  const auto& params = at.Of<deberta::Params>();
  if (params.c2p && params.p2c) {
    std::swap(inputs.tensors["position_keys"], inputs.tensors["position_queries"]);
  }
  return DebertaScore(at, params, inputs);
}

using Value = double (*)(const Place&);

template <Value row>
Fault OfRow(const char* id, const char* cause, const char* fix, const char* shows) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = ChangeElement{"deberta", "buckets", row},
          .more = {ChangeElement{"deberta", "scores", ScoreByRow<row>}}};
}
Fault OfScore(const char* id, Value score, const char* cause, const char* fix, const char* shows) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = ChangeElement{"deberta", "scores", score}};
}

}  // namespace

std::vector<Fault> FaultsOfDisentangled() {
  const char* rule = "mid + ceil((mid - 1) ln(n/mid) / ln((max_position - 1)/mid))";
  Fault length = OfRow<LengthForLargest>(
      "length_for_max_position", "the length of the sequence stands for max_position",
      "the model's max_position, whatever the length", "a distance above half of the buckets");
  length.links = {"https://github.com/NVIDIA/TensorRT/issues/3370"};
  length.kinds = {"DEBERTA_LOG_DENOM"};
  return {
      OfRow<TieRaised>("tie_raised", "the logarithm comes out an ulp high where it should be whole",
                       "look distances up in a table of where rows begin",
                       "the last distance of a row"),
      OfRow<FarUnclamped>("far_unclamped", "distances beyond max_position are not clamped first",
                          "clamp to max_position - 1, as in the authors' code",
                          "a key max_position tokens behind the query"),
      OfRow<AfterShort>("after_short", "keys behind the query count a token nearer",
                        "distances of both sides are symmetric", "a key behind the query"),
      std::move(length),
      OfRow<WholeOtherwise<Down>>("row_cut", "the logarithm's steps are cut, not rounded up", rule,
                                  "a distance above half of the buckets"),
      OfRow<WholeOtherwise<Nearest>>("row_rounded",
                                     "the logarithm's steps are rounded to nearest, not up", rule,
                                     "a distance above half of the buckets"),
      OfRow<WithoutLogarithm>("rows_linear", "every distance has a row of its own", rule,
                              "a distance above half of the buckets"),
      OfRow<RowBefore>("span_short", "rows are counted from span - 1",
                       "row span is that of distance 0", "any query and key"),
      OfScore("terms_uncounted", TermsUncounted, "the scale does not count the kinds of products",
              "divide by the root of terms times head_dim", "c2p or p2c"),
      OfScore("c2p_left_out", TermLeftOut<true>, "queries meet no positions",
              "add <q, K>, as pos_att_type says", "c2p"),
      OfScore("p2c_left_out", TermLeftOut<false>, "keys meet no positions",
              "add <k, Q>, as pos_att_type says", "p2c"),
      OfScore("position_tables_swapped", TablesSwapped,
              "the projections of positions change places", "queries meet K, keys meet Q",
              "c2p and p2c"),
      OfScore("table_normalised", TableNormalised, "rows of the tables are scaled to norm 1",
              "project the embeddings as they are, or as norm_rel_ebd says", "any query and key"),
  };
}

}  // namespace posgauge
