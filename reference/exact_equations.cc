#include "posgauge/reference/exact_equations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "posgauge/reference/equation_rows.h"
#include "posgauge/reference/parallel.h"
#include "posgauge/reference/settle.h"

namespace posgauge {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What is made once a call: rows, or what heads share.
template <class I, class Params>
auto MakeOnce(const Params& params, const NamedInputs& inputs) {
  if constexpr (Adds<Params>) {
    return MakeRows<I>(params, inputs);
  } else if constexpr (SharesBetweenHeads<Params>) {
    auto shared = MakeShared<I>(params, inputs);
    shared->Evaluate();
    return shared;
  }
}

// Nothing of any precision yet; of most schemes of attention there is nothing to make.
template <class Params, size_t... L>
auto NothingYet(std::index_sequence<L...>) {
  if constexpr (Adds<Params> || SharesBetweenHeads<Params>) {
    return std::tuple<std::optional<decltype(MakeOnce<Interval<kDigits[L]>>(
        std::declval<const Params&>(), std::declval<const NamedInputs&>()))>...>();
  } else {
    return std::tuple<>();
  }
}

// What RowOf takes, at every precision. Safe between threads.
template <class Params>
class Equations {
 public:
  Equations(const Params& params, const NamedInputs& inputs) : params_(params), inputs_(inputs) {}

  template <size_t L>
  decltype(auto) At(int64_t head) {
    using I = Interval<kDigits[L]>;
    if constexpr (Adds<Params> || SharesBetweenHeads<Params>) {
      auto& once = std::get<L>(once_);
      std::call_once(made_[L], [&] { once.emplace(MakeOnce<I>(params_, inputs_)); });
      if constexpr (Adds<Params>) {
        return std::as_const(*once);
      } else {
        return MakeHead<I>(params_, inputs_, head, *once);
      }
    } else {
      return MakeHead<I>(params_, inputs_, head);
    }
  }

  const Params& params() const { return params_; }
  const NamedInputs& inputs() const { return inputs_; }

 private:
  const Params& params_;
  const NamedInputs& inputs_;
  decltype(NothingYet<Params>(std::make_index_sequence<kLevels>())) once_;
  std::array<std::once_flag, kLevels> made_;
};

// Calls visit(enclosures of a row) at rising precision until it returns true; `last` tells that
// there is no higher one.
template <size_t L = 0, class Params, class Visit>
void RaiseRow(Equations<Params>& equations, EquationQuantity quantity, int64_t head, int64_t query,
              const Visit& visit) {
  constexpr bool kLast = L + 1 == kLevels;
  using I = Interval<kDigits[L]>;
  try {
    decltype(auto) made = equations.template At<L>(head);
    if (visit(RowOf<I>(equations.params(), made, quantity, equations.inputs(), head, query), kLast))
      return;
  } catch (const Undecided&) {
    if constexpr (kLast) {
      throw ParameterError("a branch of the scheme cannot be decided at 1025 bits");
    }
  }
  if constexpr (!kLast) RaiseRow<L + 1>(equations, quantity, head, query, visit);
}

// Calls visit(head, query) for every row, in parallel.
template <class Visit>
void ForRows(EquationQuantity quantity, const std::vector<int64_t>& shape, const Visit& visit) {
  std::vector<std::pair<int64_t, int64_t>> rows;
  ForEachRow(quantity, shape, [&](int64_t head, int64_t query) { rows.emplace_back(head, query); });
  constexpr int64_t kRowsPerThread = 8;  // below it a thread costs more than it saves
  ForBlocks(static_cast<int64_t>(rows.size()), kRowsPerThread, [&](int64_t begin, int64_t end) {
    thread_local const ReleaseMpfrCache release;
    for (int64_t row = begin; row < end; ++row) {
      visit(rows[static_cast<size_t>(row)].first, rows[static_cast<size_t>(row)].second);
    }
  });
}

// Elements of a shape; the largest number where there are more.
int64_t Product(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

}  // namespace

ExactEquations::ExactEquations(const Scheme& scheme) : scheme_(scheme) {
  Validate(scheme);
  WithEquations(scheme, [](const auto&) { return 0; });
}

bool ExactEquations::Yields(EquationQuantity quantity) const {
  return WithEquations(scheme_,
                       [&]<class Params>(const Params&) { return YieldsOf<Params>(quantity); });
}

std::vector<Weight> ExactEquations::InputsOf(EquationQuantity quantity) const {
  return WithEquations(scheme_, [&]<class Params>(const Params& params) {
    std::vector<Weight> inputs;
    if constexpr (Adds<Params>) {
      inputs.push_back({"positions", {-1}, "tokens"});
      if (quantity == EquationQuantity::embed) {
        inputs.push_back({"x", {-1, params.width}, "embeddings"});
      }
    } else {
      const Attention& attention = params.attention;
      if (quantity == EquationQuantity::slopes) return inputs;
      inputs.push_back({"query_positions", {-1}, "tokens"});
      inputs.push_back({"key_positions", {-1}, "tokens"});
      if (quantity == EquationQuantity::buckets) return inputs;
      if (quantity != EquationQuantity::bias) {
        const std::vector<int64_t> rows = {-1, attention.heads, attention.head_dim};
        inputs.push_back({"q", rows, "queries"});
        inputs.push_back({"k", rows, "keys"});
        if (quantity == EquationQuantity::attention) inputs.push_back({"v", rows, "values"});
      }
    }
    for (const Weight& weight : WeightsOf(params)) inputs.push_back(weight);
    return inputs;
  });
}

std::optional<ExactTensor> ExactEquations::ReadyMade(std::string_view name, Dtype dtype) const {
  if (name == "slopes" && Yields(EquationQuantity::slopes)) {
    RoundedValues slopes = Evaluate(EquationQuantity::slopes, {}, dtype);
    return ExactTensor{{static_cast<int64_t>(slopes.values.size())}, std::move(slopes.values)};
  }
  return WithEquations(scheme_, [&](const auto& params) -> std::optional<ExactTensor> {
    if constexpr (requires { FirstDistances(params); }) {
      if (name == "thresholds") {
        const auto& first = FirstDistances(params);
        return ExactTensor{{static_cast<int64_t>(first.size())}, {first.begin(), first.end()}};
      }
    }
    return std::nullopt;
  });
}

std::vector<int64_t> ExactEquations::CheckInputs(EquationQuantity quantity,
                                                 const NamedInputs& inputs) const {
  Require(Yields(quantity), "{} has no {}", Name(scheme_), VariantName(quantity));
  const std::vector<Weight> wanted = InputsOf(quantity);
  for (const auto& [name, tensor] : inputs.tensors) {
    if (name == "slopes" && Yields(EquationQuantity::slopes)) {
      const int64_t heads = AttentionOf(scheme_).heads;
      Require(tensor.shape == std::vector{heads}, "input slopes must have shape [{}], got [{}]",
              heads, fmt::join(tensor.shape, ", "));
      continue;
    }
    Require(std::ranges::find(wanted, name, &Weight::name) != wanted.end(), "{} takes no input {}",
            VariantName(quantity), name);
  }
  for (const Weight& weight : wanted) {
    const ExactTensor& tensor = inputs[weight.name];
    bool fits = tensor.shape.size() == weight.shape.size() &&
                static_cast<int64_t>(tensor.values.size()) == Product(tensor.shape);
    for (size_t i = 0; fits && i < weight.shape.size(); ++i) {
      fits = tensor.shape[i] >= 0 && (weight.shape[i] < 0 || tensor.shape[i] == weight.shape[i]);
    }
    Require(fits, "input {} must have shape [{}], got [{}]", weight.name,
            fmt::join(weight.shape, ", "), fmt::join(tensor.shape, ", "));
    for (double value : tensor.values) {
      Require(value >= weight.lowest && value <= weight.highest,
              "input {} must hold finite numbers in {}..{}, got {}", weight.name, weight.lowest,
              weight.highest, value);
    }
  }
  return WithEquations(scheme_, [&]<class Params>(const Params& params) -> std::vector<int64_t> {
    if constexpr (Adds<Params>) {
      const int64_t positions = inputs["positions"].shape[0];
      if (quantity == EquationQuantity::embed) {
        Require(inputs["x"].shape[0] == positions,
                "input x must have {} rows, as its positions, got {}", positions,
                inputs["x"].shape[0]);
      }
      params.CheckPositions(inputs["positions"].values);
      return {positions, params.width};
    } else {
      const Attention& attention = params.attention;
      if (quantity == EquationQuantity::slopes) return {attention.heads};
      const ExactTensor &query_positions = inputs["query_positions"],
                        &key_positions = inputs["key_positions"];
      const int64_t queries = query_positions.shape[0], keys = key_positions.shape[0];
      for (const auto& [name, rows] :
           {std::pair("q", queries), std::pair("k", keys), std::pair("v", keys)}) {
        const auto found = inputs.tensors.find(name);
        if (found == inputs.tensors.end()) continue;
        Require(found->second.shape[0] == rows,
                "input {} must have {} rows, as its positions, got {}", name, rows,
                found->second.shape[0]);
      }
      if constexpr (requires {
                      params.CheckPositions(query_positions.values, key_positions.values);
                    }) {
        params.CheckPositions(query_positions.values, key_positions.values);
      }
      if (quantity == EquationQuantity::attention) {
        for (double query : query_positions.values) {
          Require(std::ranges::any_of(key_positions.values,
                                      [&](double key) { return attention.Visible(query, key); }),
                  "the query at position {} sees no key: its softmax has no meaning", query);
        }
        return {queries, attention.heads, attention.head_dim};
      }
      if (quantity == EquationQuantity::buckets) return {queries, keys};
      return {attention.heads, queries, keys};
    }
  });
}

RoundedValues ExactEquations::Evaluate(EquationQuantity quantity, const NamedInputs& inputs,
                                       Dtype dtype) const {
  const std::vector<int64_t> shape = CheckInputs(quantity, inputs);
  Require(quantity != EquationQuantity::buckets, "buckets are integers: ask for Buckets");
  Collector collector(dtype, Product(shape));
  WithEquations(scheme_, [&](const auto& params) {
    Equations equations(params, inputs);
    ForRows(quantity, shape, [&](int64_t head, int64_t query) {
      const RowPlace place = PlaceOf(quantity, shape, head, query);
      std::vector<bool> done(static_cast<size_t>(place.count));
      for (int64_t i = 0; i < place.count; ++i) {
        if (!IsMasked(params, quantity, inputs, query, i)) continue;
        done[static_cast<size_t>(i)] = true;
        // A format without infinities has a NaN in its place, which is not exact.
        const double masked = RoundTo(collector.format(), -kInfinity);
        collector.Set(place.first + i,
                      {masked, 0, std::isinf(masked) ? Proof::exact : Proof::proven}, kLowestBits);
      }
      RaiseRow(
          equations, quantity, head, query, [&]<class I>(const std::vector<I>& row, bool last) {
            bool complete = true;
            for (size_t i = 0; i < row.size(); ++i) {
              if (done[i]) continue;
              const int64_t at = place.first + static_cast<int64_t>(i);
              if (const auto decided =
                      Decide(row[i], collector.format(), collector.with_distance())) {
                collector.Set(at, *decided, static_cast<int>(I::Bits()));
                done[i] = true;
              } else if (last) {
                collector.Set(at,
                              Undecidable(row[i], collector.format(), collector.with_distance()),
                              static_cast<int>(I::Bits()));
              } else {
                complete = false;
              }
            }
            return complete;
          });
    });
    return 0;
  });
  return collector.Take();
}

std::vector<int64_t> ExactEquations::Buckets(const NamedInputs& inputs) const {
  CheckInputs(EquationQuantity::buckets, inputs);
  return WithEquations(scheme_, [&]<class Params>(const Params& params) {
    std::vector<int64_t> buckets;
    if constexpr (YieldsOf<Params>(EquationQuantity::buckets)) {
      const auto head = MakeHead<double>(params, inputs, 0);
      for (double query : inputs["query_positions"].values) {
        for (double key : inputs["key_positions"].values) {
          buckets.push_back(head.Bucket(query, key));
        }
      }
    }
    return buckets;
  });
}

EnclosedEach ExactEquations::Enclose(EquationQuantity quantity, const NamedInputs& inputs) const {
  // Of the value; a sum that cancels is as wide as its terms allow.
  constexpr double kNarrow = 0x1p-100;
  const std::vector<int64_t> shape = CheckInputs(quantity, inputs);
  EnclosedEach enclosed;
  enclosed.values.resize(static_cast<size_t>(Product(shape)));
  enclosed.radii.resize(enclosed.values.size());
  WithEquations(scheme_, [&](const auto& params) {
    Equations equations(params, inputs);
    ForRows(quantity, shape, [&](int64_t head, int64_t query) {
      const RowPlace place = PlaceOf(quantity, shape, head, query);
      RaiseRow(equations, quantity, head, query, [&](const auto& row, bool last) {
        bool complete = true;
        for (size_t i = 0; i < row.size(); ++i) {
          const size_t at = static_cast<size_t>(place.first) + i;
          if (IsMasked(params, quantity, inputs, query, static_cast<int64_t>(i))) {
            enclosed.values[at] = {-kInfinity, 0};
            continue;
          }
          enclosed.values[at] = MiddleOf(row[i], &enclosed.radii[at]);
          complete =
              complete && enclosed.radii[at] <= kNarrow * std::fabs(enclosed.values[at].high);
        }
        return complete || last;
      });
    });
    return 0;
  });
  return enclosed;
}

}  // namespace posgauge
