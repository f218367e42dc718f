#include "posgauge/verify/rotation_truth.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace posgauge {

namespace {

// Against the end-to-end truth what posgauge hands over is a rounding of it, against the local
// truth it is exact. `frequencies` are the ones that the truth is computed from.
RotaryBound BoundOf(const KernelInfo& info, const Scheme& scheme, std::vector<double> frequencies,
                    double magnitude, bool local) {
  Contract contract = info.contract;
  GivenStages given;
  if (const TensorSpec* frequency = info.Input("frequency")) {
    contract.frequency_formula = FrequencyFormula::rn;
    // A pair of doubles is a rounding in both truths.
    const bool pair = info.Input("frequency_low") != nullptr;
    contract.frequency = pair ? Arithmetic::dd : ArithmeticOf(frequency->dtypes.front());
    if (local && !pair) given.frequency = contract.frequency;
  }
  if (const TensorSpec* table = info.Input("cos")) {
    contract.position = contract.frequency = contract.angle = contract.trig_arithmetic =
        Arithmetic::exact;
    contract.frequency_formula = FrequencyFormula::rn;
    contract.trig_ulps = 0;
    contract.table = ArithmeticOf(table->dtypes.front());
    if (local) given.table = contract.table;
  }
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
      frequencies_(exact_.Frequencies(Dtype::f64).values),
      magnitude_(exact_.Magnitude(Dtype::f64).values[0]),
      bound_(BoundOf(info, scheme, frequencies_, magnitude_, false)),
      local_bound_(BoundOf(info, scheme, frequencies_, magnitude_, true)) {
  if (const TensorSpec* table = info.Input("cos")) table_dtype_ = table->dtypes.front();
  if (const TensorSpec* frequency = info.Input("frequency")) {
    supplied_frequencies_ = exact_.EncloseFrequencies().values;
    // A pair of doubles is the real number to within the bound of `dd`.
    if (info.Input("frequency_low") != nullptr) return;
    std::vector<double> handed;
    for (DoubleDouble& value : supplied_frequencies_) {
      value = {RoundTo(FormatOf(frequency->dtypes.front()), value.high), 0};
      handed.push_back(value.high);
    }
    const TensorSpec* magnitude = info.Input("magnitude");
    const double factor = magnitude == nullptr
                              ? magnitude_
                              : RoundTo(FormatOf(magnitude->dtypes.front()), magnitude_);
    given_ = ExactRotation(exact_.layout(), supplied_frequencies_, {factor, 0});
    given_is_exact_ = false;
    local_bound_ = BoundOf(info, scheme, std::move(handed), factor, true);
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
  const std::vector<int64_t> shape = {static_cast<int64_t>(positions.size()),
                                      exact_.layout().Pairs()};
  TablePair supplied = {Tensor::FromValues(dtype, shape, table.cos.values),
                        Tensor::FromValues(dtype, shape, table.sin.values)};
  const std::lock_guard lock(tables_->mutex);
  if (tables_->kept.size() == Tables::kKept) tables_->kept.pop_front();
  tables_->kept.emplace_back(std::vector<double>(positions.begin(), positions.end()), supplied);
  return supplied;
}

Tensor FrequencyTensor(const TensorSpec& spec, const std::vector<DoubleDouble>& frequencies) {
  std::vector<double> values;
  for (DoubleDouble value : frequencies) {
    values.push_back(spec.name == "frequency" ? value.high : value.low);
  }
  return Tensor::FromValues(spec.dtypes.front(), {static_cast<int64_t>(values.size())}, values);
}

std::optional<Tensor> RotationTruth::Supply(const TensorSpec& spec, Positions positions) const {
  if (spec.name == "frequency" || spec.name == "frequency_low") {
    return FrequencyTensor(spec, supplied_frequencies_);
  }
  if (spec.name == "magnitude") {
    return Tensor::FromValues(spec.dtypes.front(), {1}, std::span(&magnitude_, 1));
  }
  if (spec.name == "cos") return SuppliedTable(positions).cos;
  if (spec.name == "sin") return SuppliedTable(positions).sin;
  return std::nullopt;
}

}  // namespace posgauge
