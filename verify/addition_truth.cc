#include "posgauge/verify/addition_truth.h"

#include "posgauge/verify/given_stages.h"

namespace posgauge {

namespace {

AdditionBound BoundOf(const KernelInfo& info, const Scheme& scheme, const ExactAddition& exact,
                      std::vector<double> frequencies, bool local) {
  const auto [contract, given] = ContractWithGiven(info, local);
  return AdditionBound(contract, scheme, std::move(frequencies), exact.RowIndex(0), given);
}

}  // namespace

AdditionTruth::AdditionTruth(const KernelInfo& info, const Scheme& scheme)
    : exact_(scheme),
      given_(exact_),
      supplied_frequencies_(info, exact_.EncloseFrequencies()),
      frequencies_(exact_.Frequencies(Dtype::f64).values),
      bound_(BoundOf(info, scheme, exact_, frequencies_, false)),
      local_bound_(BoundOf(info, scheme, exact_, frequencies_, true)) {
  if (const TensorSpec* rows = info.Input("rows")) rows_dtype_ = rows->dtypes.front();
  if (supplied_frequencies_.are_rounded) {
    given_ = ExactAddition(scheme, supplied_frequencies_.values);
    given_is_exact_ = false;
    local_bound_ = BoundOf(info, scheme, exact_, supplied_frequencies_.High(), true);
  }
}

Tensor AdditionTruth::SuppliedRows(Positions positions) const {
  return Tensor::FromValues(rows_dtype_.value(),
                            {static_cast<int64_t>(positions.size()), exact_.width()},
                            exact_.Rows(positions, rows_dtype_.value()).values);
}

std::optional<Tensor> AdditionTruth::Supply(const TensorSpec& spec, Positions positions) const {
  if (spec.name == "frequency" || spec.name == "frequency_low") {
    return FrequencyTensor(spec, supplied_frequencies_.values);
  }
  if (spec.name == "rows") return SuppliedRows(positions);
  return std::nullopt;
}

}  // namespace posgauge
