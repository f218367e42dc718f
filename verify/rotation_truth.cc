#include "posgauge/verify/rotation_truth.h"

#include <algorithm>
#include <deque>
#include <mutex>

#include "posgauge/verify/given_stages.h"

namespace posgauge {

namespace {

// `frequencies` are the ones that the truth is computed from.
RotaryBound BoundOf(const KernelInfo& info, const Scheme& scheme, std::vector<double> frequencies,
                    double magnitude, bool local) {
  const auto [contract, given] = ContractWithGiven(info, local);
  return RotaryBound(contract, scheme, std::move(frequencies), magnitude, given);
}

}  // namespace

// Tables by their positions, the oldest first.
struct RotationTruth::Tables {
  static constexpr size_t kKept = 8;
  std::mutex mutex;
  std::deque<std::pair<std::vector<double>, TablePair>> kept;
};

RotationTruth::RotationTruth(const KernelInfo& info, const Scheme& scheme)
    : exact_(scheme),
      given_(exact_),
      tables_(std::make_shared<Tables>()),
      supplied_frequencies_(info, exact_.EncloseFrequencies()),
      frequencies_(exact_.Frequencies(Dtype::f64).values),
      magnitude_(exact_.Magnitude(Dtype::f64).values[0]),
      bound_(BoundOf(info, scheme, frequencies_, magnitude_, false)),
      local_bound_(BoundOf(info, scheme, frequencies_, magnitude_, true)) {
  if (const TensorSpec* table = info.Input("cos")) table_dtype_ = table->dtypes.front();
  if (supplied_frequencies_.are_rounded) {
    const TensorSpec* magnitude = info.Input("magnitude");
    const double factor = magnitude == nullptr
                              ? magnitude_
                              : RoundTo(FormatOf(magnitude->dtypes.front()), magnitude_);
    given_ = ExactRotation(exact_.layout(), supplied_frequencies_.values, {factor, 0}, axes());
    given_is_exact_ = false;
    local_bound_ = BoundOf(info, scheme, supplied_frequencies_.High(), factor, true);
  }
}

TablePair RotationTruth::SuppliedTable(Positions positions) const {
  {
    const std::lock_guard lock(tables_->mutex);
    for (const auto& [kept, table] : tables_->kept) {
      if (std::ranges::equal(kept, positions)) return table;
    }
  }
  const Dtype dtype = table_dtype_.value();
  const RoundedTable table = exact_.Table(positions, dtype);
  const std::vector<int64_t> shape = {static_cast<int64_t>(axes().Tokens(positions)),
                                      exact_.layout().Pairs()};
  TablePair supplied = {Tensor::FromValues(dtype, shape, table.cos.values),
                        Tensor::FromValues(dtype, shape, table.sin.values)};
  const std::lock_guard lock(tables_->mutex);
  if (tables_->kept.size() == Tables::kKept) tables_->kept.pop_front();
  tables_->kept.emplace_back(std::vector<double>(positions.begin(), positions.end()), supplied);
  return supplied;
}

std::optional<Tensor> RotationTruth::Supply(const TensorSpec& spec, Positions positions) const {
  if (spec.name == "frequency" || spec.name == "frequency_low") {
    return FrequencyTensor(spec, supplied_frequencies_.values);
  }
  if (spec.name == "magnitude") {
    return Tensor::FromValues(spec.dtypes.front(), {1}, std::span(&magnitude_, 1));
  }
  if (spec.name == "axis" && !(spec.optional && axes().count == 1)) {
    std::vector<double> axis;
    for (int64_t pair = 0; pair < exact_.layout().Pairs(); ++pair) {
      axis.push_back(static_cast<double>(axes().Of(pair)));
    }
    return Tensor::FromValues(spec.dtypes.front(), {exact_.layout().Pairs()}, axis);
  }
  if (spec.name == "cos") return SuppliedTable(positions).cos;
  if (spec.name == "sin") return SuppliedTable(positions).sin;
  return std::nullopt;
}

}  // namespace posgauge
