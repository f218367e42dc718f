#include "posgauge/verify/given_stages.h"

namespace posgauge {

std::pair<Contract, GivenStages> ContractWithGiven(const KernelInfo& info, bool local) {
  Contract contract = info.contract;
  GivenStages given;
  if (const TensorSpec* frequency = info.Input("frequency")) {
    contract.frequency_formula = FrequencyFormula::rn;
    // A pair of doubles is a rounding in both truths.
    const bool pair = info.Input("frequency_low") != nullptr;
    contract.frequency = pair ? Arithmetic::dd : ArithmeticOf(frequency->dtypes.front());
    if (local && !pair) given.frequency = contract.frequency;
  }
  const TensorSpec* table = info.Input("cos") != nullptr ? info.Input("cos") : info.Input("rows");
  if (table != nullptr) {
    contract.position = contract.frequency = contract.angle = contract.trig_arithmetic =
        Arithmetic::exact;
    contract.frequency_formula = FrequencyFormula::rn;
    contract.trig_ulps = 0;
    contract.table = ArithmeticOf(table->dtypes.front());
    if (local) given.table = contract.table;
  }
  return {contract, given};
}

SuppliedFrequencies::SuppliedFrequencies(const KernelInfo& info, const EnclosedValues& real) {
  const TensorSpec* frequency = info.Input("frequency");
  if (frequency == nullptr) return;
  values = real.values;
  if (info.Input("frequency_low") != nullptr) return;
  are_rounded = true;
  const Format format = FormatOf(frequency->dtypes.front());
  for (DoubleDouble& value : values) value = {RoundTo(format, value.high), 0};
}

std::vector<double> SuppliedFrequencies::High() const {
  std::vector<double> high;
  for (DoubleDouble value : values) high.push_back(value.high);
  return high;
}

Tensor FrequencyTensor(const TensorSpec& spec, const std::vector<DoubleDouble>& frequencies) {
  std::vector<double> values;
  for (DoubleDouble value : frequencies) {
    values.push_back(spec.name == "frequency" ? value.high : value.low);
  }
  return Tensor::FromValues(spec.dtypes.front(), {static_cast<int64_t>(values.size())}, values);
}

}  // namespace posgauge
