#include "posgauge/fast/attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "posgauge/fast/all.h"
#include "posgauge/fast/angles.h"
#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/fast/turns.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/kind.h"

namespace posgauge::fast {

namespace {

template <class Params>
concept Biased = Attends<Params> && requires(const Params& params, const WeightValues<float>& w) {
  FastBias<float>(params, w, int64_t{0});
};

template <class Params>
concept Scored = Attends<Params> && requires(const Params& params, const WeightValues<float>& w) {
  FastScoring<float>(params, w, int64_t{0});
};

// Calls use(params) for a scheme that gives the kernels a bias, or, where `any_score` says so, more
// than that.
template <bool any_score, class Use>
void WithAttention(const Call& call, const Use& use) {
  const Scheme scheme = SchemeFromScalars(call.SchemeName(), call.Scalars(), call.Lists());
  std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (Biased<Params> || (any_score && Scored<Params>)) {
          use(params);
        } else {
          throw ParameterError(fmt::format("{} has no kernel of this kind", Params::kName));
        }
      },
      scheme);
}

std::vector<double> PositionsIn(const Call& call, std::string_view name) {
  const Array array =
      call.Input(name, {Dtype::i64, Dtype::i32, Dtype::f64, Dtype::f32}, {kAnyLength});
  std::vector<double> positions;
  for (int64_t i = 0; i < array.shape[0]; ++i) {
    const double position = array.Value(i);
    Require(std::fabs(position) <= 0x1p52, "{} must be within 2^52, got {}", name, position);
    positions.push_back(position);
  }
  return positions;
}

// Throws ParameterError where an offset is beyond what turns are made of.
void CheckOffsets(const std::vector<double>& queries, const std::vector<double>& keys) {
  if (queries.empty() || keys.empty()) return;
  const auto [first_query, last_query] = std::ranges::minmax(queries);
  const auto [first_key, last_key] = std::ranges::minmax(keys);
  TurnPositionOf(last_query - first_key);
  TurnPositionOf(first_query - last_key);
}

// first, first + 1, ...
bool AreConsecutive(const std::vector<double>& positions) {
  for (size_t i = 1; i < positions.size(); ++i) {
    if (positions[i] != positions[i - 1] + 1) return false;
  }
  return !positions.empty() && std::trunc(positions[0]) == positions[0];
}

// Exact where positions are whole, rounded once otherwise.
std::vector<double> Offsets(const std::vector<double>& keys, double from) {
  std::vector<double> offsets(keys.size());
  for (size_t j = 0; j < keys.size(); ++j) offsets[j] = keys[j] - from;
  return offsets;
}

template <class Params>
void RequirePositions(const Params& params, const std::vector<double>& queries,
                      const std::vector<double>& keys) {
  if constexpr (requires { params.CheckPositions(queries, keys); }) {
    params.CheckPositions(queries, keys);
  }
}

template <class T, class Params>
WeightValues<T> WeightsIn(const Call& call, const Params& params) {
  WeightValues<T> weights;
  for (const Weight& weight : WeightsOf(params)) {
    weights[std::string(weight.name)] = ReadWeight<T>(call, weight);
  }
  return weights;
}

// Rows of biases of one head at a time, each made as seldom as the scheme allows.
template <class T, class Params>
class BiasRows {
 public:
  BiasRows(const Call& call, const Params& params, const std::vector<double>& queries,
           const std::vector<double>& keys)
      : params_(params),
        by_(BiasRowsBy(params)),
        queries_(queries),
        keys_(keys),
        weights_(WeightsIn<T>(call, params)) {
    RequirePositions(params, queries, keys);
    if constexpr (requires { SharedByHeads(params); }) of_all_heads_ = SharedByHeads(params);
    if (by_ == RowsBy::key && !keys.empty()) offset_ = Offsets(keys, keys.back());
    sliding_ = by_ == RowsBy::distance && AreConsecutive(queries) && AreConsecutive(keys);
    if (sliding_) {
      // Query i sees the distances from entry queries - 1 - i on.
      std::vector<double> distances;
      for (size_t i = 0; i < queries.size() + keys.size() - 1; ++i) {
        distances.push_back(keys[0] - queries.back() + static_cast<double>(i));
      }
      SetOffsets(std::move(distances));
    }
    shared_.resize(sliding_ ? offset_.size() : keys.size());
  }

  // Whether all rows of a head are windows of Shared().
  bool IsShared() const { return sliding_ || by_ == RowsBy::key; }
  const std::vector<T>& Shared() const { return shared_; }
  size_t WindowOf(size_t query) const { return sliding_ ? queries_.size() - 1 - query : 0; }

  void StartHead(int64_t head) {
    fill_ = FastBias<T>(params_, weights_, head);
    if constexpr (requires { FastFactors<T>(params_, weights_, head); }) {
      fill_factors_ = FastFactors<T>(params_, weights_, head);
      if (fill_factors_) factors_.resize(shared_.size());
    }
    if (IsShared() && !keys_.empty() && !queries_.empty()) Fill(0, shared_.size());
  }

  /// [keys], valid until the next call; no factors is a null pointer.
  struct OfQuery {
    const T *bias, *factors;
  };
  OfQuery Row(size_t query) {
    if (!IsShared()) {
      SetOffsets(Offsets(keys_, queries_[query]));
      Fill(queries_[query], keys_.size());
    }
    const size_t first = IsShared() ? WindowOf(query) : 0;
    return {shared_.data() + first, factors_.empty() ? nullptr : factors_.data() + first};
  }

 private:
  void SetOffsets(std::vector<double> offsets) {
    offset_ = std::move(offsets);
    if (of_all_heads_) of_all_heads_(offset_.data(), offset_.size());
  }
  void Fill(double query, size_t count) {
    const double* positions = by_ == RowsBy::distance ? nullptr : keys_.data();
    fill_({query, offset_.data(), positions, count, shared_.data()});
    if (fill_factors_) fill_factors_({query, offset_.data(), positions, count, factors_.data()});
  }

  const Params& params_;
  RowsBy by_;
  const std::vector<double>&queries_, &keys_;
  WeightValues<T> weights_;
  bool sliding_ = false;
  MapOffsets of_all_heads_;
  std::vector<double> offset_;
  std::vector<T> shared_, factors_;
  FillBiasRow<T> fill_, fill_factors_;
};

// Rows of an output, whatever its last stride.
class RowWriter {
 public:
  RowWriter(const Array& out, size_t length)
      : out_(out), length_(length), buffer_(out.stride[2] == 1 ? 0 : length) {}

  std::byte* Begin(int64_t i, int64_t j) {
    return out_.stride[2] == 1 ? out_.At(i, j) : buffer_.data();
  }
  void End(int64_t i, int64_t j) {
    if (out_.stride[2] == 1) return;
    const size_t size = SizeOf(out_.dtype);
    for (size_t c = 0; c < length_; ++c) {
      std::memcpy(out_.At(i, j, static_cast<int64_t>(c)), buffer_.data() + c * size, size);
    }
  }

 private:
  const Array& out_;
  size_t length_;
  RowBuffer buffer_;
};

// Calls run with a null pointer of the type that io is computed in.
template <class RunAs>
void InComputeType(Dtype io, const RunAs& run) {
  if (io == Dtype::f64) {
    run(static_cast<double*>(nullptr));
  } else {
    run(static_cast<float*>(nullptr));
  }
}

// One head of q, k or v with contiguous channels: as it is, or gathered.
class HeadRows {
 public:
  HeadRows(const Array& array, int64_t head) : size_(SizeOf(array.dtype)) {
    if (array.stride[2] == 1 || array.shape[0] == 0) {
      data_ = array.At(0, head);
      stride_ = array.stride[0];
      return;
    }
    stride_ = array.shape[2];
    gathered_.resize(static_cast<size_t>(array.shape[0] * stride_) * size_);
    for (int64_t row = 0; row < array.shape[0]; ++row) {
      for (int64_t c = 0; c < array.shape[2]; ++c) {
        std::memcpy(gathered_.data() + static_cast<size_t>(row * stride_ + c) * size_,
                    array.At(row, head, c), size_);
      }
    }
    data_ = gathered_.data();
  }
  HeadRows(const HeadRows&) = delete;
  HeadRows& operator=(const HeadRows&) = delete;

  const std::byte* At(size_t row) const {
    return data_ + static_cast<int64_t>(row) * stride_ * static_cast<int64_t>(size_);
  }
  int64_t stride() const { return stride_; }

 private:
  size_t size_;
  const std::byte* data_;
  int64_t stride_;
  std::vector<std::byte> gathered_;
};

template <class T>
T ScaleFor(const Attention& attention) {
  if (attention.scale == ScoreScale::one) return 1;
  return 1 / std::sqrt(static_cast<T>(attention.head_dim));
}

struct QueriesAndKeys {
  std::vector<double> query_positions, key_positions;
  Array q, k;
};

QueriesAndKeys QueriesAndKeysIn(const Call& call, const Attention& attention, Dtype io) {
  QueriesAndKeys in{
      PositionsIn(call, "query_positions"), PositionsIn(call, "key_positions"), {}, {}};
  const auto queries = static_cast<int64_t>(in.query_positions.size());
  const auto keys = static_cast<int64_t>(in.key_positions.size());
  in.q = call.Input("q", {io}, {queries, attention.heads, attention.head_dim});
  in.k = call.Input("k", {io}, {keys, attention.heads, attention.head_dim});
  return in;
}

// Rows of scores of one head at a time: scale <q, k> + bias.
template <class T, class Params>
class BiasedScores {
 public:
  BiasedScores(const Call& call, const Params& params, const QueriesAndKeys& in, Dtype io)
      : io_(io),
        scale_(ScaleFor<T>(params.attention)),
        biases_(call, params, in.query_positions, in.key_positions),
        q_(static_cast<size_t>(params.attention.head_dim)) {}

  void StartHead(int64_t head, const HeadRows&) { biases_.StartHead(head); }

  // [keys].
  void Row(size_t query, const HeadRows& q, const HeadRows& k, std::vector<T>& scores) {
    Load(io_, q.At(query), q_.size(), q_.data());
    const auto [bias, factors] = biases_.Row(query);
    ScoreRow(io_, q_.data(), k.At(0), k.stride(), q_.size(), scores.size(), scale_, factors, bias,
             scores.data());
  }

  static constexpr bool kAddsToValues = false;

 private:
  Dtype io_;
  T scale_;
  BiasRows<T, Params> biases_;
  std::vector<T> q_;
};

// The same, as the scheme makes them of the products of queries and keys.
template <class T, class Params>
class OwnScores {
 public:
  OwnScores(const Call& call, const Params& params, const QueriesAndKeys& in, Dtype io)
      : io_(io),
        params_(params),
        in_(in),
        weights_(WeightsIn<T>(call, params)),
        q_(static_cast<size_t>(params.attention.head_dim)),
        shifted_(q_.size()),
        nothing_(in.key_positions.size()) {
    RequirePositions(params, in.query_positions, in.key_positions);
    if constexpr (requires { SharedByHeads(params); }) of_all_heads_ = SharedByHeads(params);
    if constexpr (requires { Waves(params); }) {
      CheckOffsets(in.query_positions, in.key_positions);
    }
  }

  void StartHead(int64_t head, const HeadRows& k) {
    if constexpr (requires { SharedByHeads(params_); }) {
      scoring_ = FastScoring<T>(params_, weights_, head, of_all_heads_);
    } else {
      scoring_ = FastScoring<T>(params_, weights_, head);
    }
    if (!scoring_.take_keys) return;
    if constexpr (requires { Waves(params_); }) {
      for (double query : in_.query_positions) TurnPositionOf(query);
      for (double key : in_.key_positions) TurnPositionOf(key);
    }
    const size_t keys = in_.key_positions.size(), width = q_.size();
    keys_.resize(keys * width);
    for (size_t key = 0; key < keys; ++key) Load(io_, k.At(key), width, keys_.data() + key * width);
    scoring_.take_keys({in_.key_positions, keys_.data()});
  }

  void Row(size_t query, const HeadRows& q, const HeadRows& k, std::vector<T>& scores) {
    Load(io_, q.At(query), q_.size(), q_.data());
    const bool shifts = !scoring_.query_shift.empty();
    for (size_t c = 0; shifts && c < q_.size(); ++c) shifted_[c] = q_[c] + scoring_.query_shift[c];
    if (!scoring_.own_products) {
      ScoreRow(io_, shifts ? shifted_.data() : q_.data(), k.At(0), k.stride(), q_.size(),
               scores.size(), 1, nullptr, nothing_.data(), scores.data());
    }
    scoring_.score({in_.query_positions[query], in_.key_positions, q_.data(),
                    ScaleFor<T>(params_.attention), scores.data()});
  }

  static constexpr bool kAddsToValues = true;

  // Null where nothing is added.
  const T* AddedToValue(size_t query, size_t key) const {
    return scoring_.added_value
               ? scoring_.added_value(in_.query_positions[query], in_.key_positions[key])
               : nullptr;
  }

 private:
  Dtype io_;
  const Params& params_;
  const QueriesAndKeys& in_;
  WeightValues<T> weights_;
  MapOffsets of_all_heads_;
  std::vector<T> q_, shifted_, nothing_, keys_;
  Scoring<T> scoring_;
};

template <class T, class Params>
using ScoresOf = std::conditional_t<Scored<Params>, OwnScores<T, Params>, BiasedScores<T, Params>>;

}  // namespace

template <class T>
std::vector<T> ReadWeight(const Call& call, const Weight& weight) {
  return call.Numbers<T>(weight.name, weight.shape);
}
template std::vector<float> ReadWeight(const Call&, const Weight&);
template std::vector<double> ReadWeight(const Call&, const Weight&);

void ComputeSlopes(const Call& call, Dtype dtype) {
  const Scheme scheme = SchemeFromScalars(call.SchemeName(), call.Scalars(), call.Lists());
  std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (requires { Slopes(params); }) {
          const std::vector<Wide> slopes = Slopes(params);
          const Array out = call.Output("slopes", {dtype}, {static_cast<int64_t>(slopes.size())});
          for (size_t head = 0; head < slopes.size(); ++head) {
            const auto narrow = RoundedTo<float>(slopes[head]);
            const auto wide = RoundedTo<double>(slopes[head]);
            std::byte* to = out.At(static_cast<int64_t>(head));
            if (dtype == Dtype::f32) {
              std::memcpy(to, &narrow, sizeof narrow);
            } else {
              std::memcpy(to, &wide, sizeof wide);
            }
          }
        } else {
          throw ParameterError(fmt::format("{} has no slopes", Params::kName));
        }
      },
      scheme);
}

void ComputeBuckets(const Call& call) {
  const Scheme scheme = SchemeFromScalars(call.SchemeName(), call.Scalars(), call.Lists());
  std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (requires { Buckets(params); }) {
          const std::vector<double> queries = PositionsIn(call, "query_positions");
          const std::vector<double> keys = PositionsIn(call, "key_positions");
          RequirePositions(params, queries, keys);
          const Array out = call.Output(
              "buckets", {Dtype::i32},
              {static_cast<int64_t>(queries.size()), static_cast<int64_t>(keys.size())});
          const auto to_buckets = Buckets(params);
          for (size_t query = 0; query < queries.size(); ++query) {
            std::vector<double> buckets;
            if constexpr (std::is_same_v<decltype(to_buckets), const MapOffsets>) {
              buckets = Offsets(keys, queries[query]);
              to_buckets(buckets.data(), buckets.size());
            } else {
              buckets.resize(keys.size());
              to_buckets(queries[query], keys.data(), keys.size(), buckets.data());
            }
            for (size_t key = 0; key < keys.size(); ++key) {
              const auto bucket = static_cast<int32_t>(buckets[key]);
              std::memcpy(out.At(static_cast<int64_t>(query), static_cast<int64_t>(key)), &bucket,
                          sizeof bucket);
            }
          }
        } else {
          throw ParameterError(fmt::format("{} has no buckets", Params::kName));
        }
      },
      scheme);
}

void ComputeBias(const Call& call, Dtype io) {
  WithAttention<false>(call, [&](const auto& params) {
    const std::vector<double> queries = PositionsIn(call, "query_positions");
    const std::vector<double> keys = PositionsIn(call, "key_positions");
    const int64_t heads = params.attention.heads;
    const Array out = call.Output(
        "bias", {io},
        {heads, static_cast<int64_t>(queries.size()), static_cast<int64_t>(keys.size())});
    InComputeType(io, [&]<class T>(T*) {
      BiasRows<T, std::remove_cvref_t<decltype(params)>> rows(call, params, queries, keys);
      RowWriter writer(out, keys.size());
      const size_t size = SizeOf(io);
      RowBuffer shared(rows.IsShared() ? rows.Shared().size() : 0);
      // Beyond what caches keep, stores go past them.
      const bool stream = out.stride[2] == 1 && static_cast<double>(heads) *
                                                        static_cast<double>(queries.size()) *
                                                        static_cast<double>(keys.size() * size) >
                                                    kLargestCached;
      for (int64_t head = 0; head < heads; ++head) {
        rows.StartHead(head);
        if (rows.IsShared()) Store(io, rows.Shared().data(), rows.Shared().size(), shared.data());
        for (size_t query = 0; query < queries.size(); ++query) {
          const auto row = static_cast<int64_t>(query);
          std::byte* to = writer.Begin(head, row);
          if (rows.IsShared()) {
            CopyBytes(shared.data() + rows.WindowOf(query) * size, keys.size() * size, stream, to);
          } else {
            Store(io, rows.Row(query).bias, keys.size(), to);
          }
          writer.End(head, row);
        }
      }
      if (stream) FlushStream();
    });
  });
}

void ComputeScores(const Call& call, Dtype io) {
  WithAttention<true>(call, [&](const auto& params) {
    const Attention& attention = params.attention;
    const QueriesAndKeys in = QueriesAndKeysIn(call, attention, io);
    const size_t queries = in.query_positions.size(), keys = in.key_positions.size();
    const Array out =
        call.Output("scores", {io},
                    {attention.heads, static_cast<int64_t>(queries), static_cast<int64_t>(keys)});
    InComputeType(io, [&]<class T>(T*) {
      ScoresOf<T, std::remove_cvref_t<decltype(params)>> scores(call, params, in, io);
      RowWriter writer(out, keys);
      std::vector<T> row(keys);
      for (int64_t head = 0; head < attention.heads; ++head) {
        const HeadRows q(in.q, head), k(in.k, head);
        scores.StartHead(head, k);
        for (size_t query = 0; query < queries; ++query) {
          const double at = in.query_positions[query];
          scores.Row(query, q, k, row);
          for (size_t key = 0; key < keys; ++key) {
            if (!attention.Visible(at, in.key_positions[key])) {
              row[key] = -std::numeric_limits<T>::infinity();
            }
          }
          const auto index = static_cast<int64_t>(query);
          Store(io, row.data(), keys, writer.Begin(head, index));
          writer.End(head, index);
        }
      }
    });
  });
}

void ComputeAttention(const Call& call, Dtype io) {
  WithAttention<true>(call, [&](const auto& params) {
    const Attention& attention = params.attention;
    const QueriesAndKeys in = QueriesAndKeysIn(call, attention, io);
    const size_t queries = in.query_positions.size(), keys = in.key_positions.size();
    const auto channels = static_cast<size_t>(attention.head_dim);
    const Array v =
        call.Input("v", {io}, {static_cast<int64_t>(keys), attention.heads, attention.head_dim});
    const Array out = call.Output(
        "attention", {io}, {static_cast<int64_t>(queries), attention.heads, attention.head_dim});
    for (double query : in.query_positions) {
      Require(std::ranges::any_of(in.key_positions,
                                  [&](double key) { return attention.Visible(query, key); }),
              "the query at position {} sees no key", query);
    }
    InComputeType(io, [&]<class T>(T*) {
      using Scores = ScoresOf<T, std::remove_cvref_t<decltype(params)>>;
      Scores scores_of(call, params, in, io);
      RowWriter writer(out, channels);
      std::vector<T> scores(keys), weights(keys), sums(channels);
      std::vector<const void*> values, added;
      for (int64_t head = 0; head < attention.heads; ++head) {
        const HeadRows q(in.q, head), k(in.k, head), rows(v, head);
        scores_of.StartHead(head, k);
        for (size_t query = 0; query < queries; ++query) {
          scores_of.Row(query, q, k, scores);
          // Only what is visible takes part: the rest may hold anything.
          values.clear();
          added.clear();
          size_t visible = 0;
          T highest = -std::numeric_limits<T>::infinity();
          for (size_t key = 0; key < keys; ++key) {
            if (!attention.Visible(in.query_positions[query], in.key_positions[key])) continue;
            values.push_back(rows.At(key));
            if constexpr (Scores::kAddsToValues) {
              if (const T* more = scores_of.AddedToValue(query, key)) added.push_back(more);
            }
            highest = std::max(highest, scores[key]);
            weights[visible++] = scores[key];
          }
          const T total = Exponentials(weights.data(), visible, highest);
          WeightedSum(io, values.data(), added.empty() ? nullptr : added.data(), weights.data(),
                      visible, channels, sums.data());
          for (T& sum : sums) sum /= total;
          const auto index = static_cast<int64_t>(query);
          Store(io, sums.data(), channels, writer.Begin(index, head));
          writer.End(index, head);
        }
      }
    });
  });
}

}  // namespace posgauge::fast
