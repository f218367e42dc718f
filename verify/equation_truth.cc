#include "posgauge/verify/equation_truth.h"

namespace posgauge {

namespace {

// Slopes that are handed over are a rounding of the scheme's.
Contract WithGivenSlopes(const KernelInfo& info) {
  Contract contract = info.contract;
  if (const TensorSpec* slopes = info.Input("slopes")) {
    contract.frequency = ArithmeticOf(slopes->dtypes.front());
    contract.frequency_formula = FrequencyFormula::rn;
  }
  return contract;
}

}  // namespace

EquationTruth::EquationTruth(const KernelInfo& info, const Scheme& scheme)
    : scheme_(scheme),
      exact_(scheme),
      quantity_(ParseVariant<EquationQuantity>("quantity", info.quantity)),
      bound_(WithGivenSlopes(info), scheme) {
  for (const TensorSpec& spec : info.inputs) {
    const std::optional<ExactTensor> ready = exact_.ReadyMade(spec.name, spec.dtypes.front());
    if (!ready) continue;
    handed_over_.push_back(spec.name);
    if (spec.name == "slopes") slopes_ = *ready;
  }
}

NamedInputs EquationTruth::Given(NamedInputs inputs) const {
  if (slopes_) inputs.tensors["slopes"] = *slopes_;
  return inputs;
}

std::vector<int64_t> EquationTruth::ShapeFor(const NamedInputs& inputs) const {
  if (IsOfRows(quantity_)) return {inputs["positions"].shape[0], WidthOf(scheme_)};
  const Attention& attention = AttentionOf(scheme_);
  if (quantity_ == EquationQuantity::slopes) return {attention.heads};
  const int64_t queries = inputs["query_positions"].shape[0];
  const int64_t keys = inputs["key_positions"].shape[0];
  if (quantity_ == EquationQuantity::buckets) return {queries, keys};
  if (quantity_ == EquationQuantity::attention) {
    return {queries, attention.heads, attention.head_dim};
  }
  return {attention.heads, queries, keys};
}

std::optional<Tensor> EquationTruth::Supply(const TensorSpec& spec, Positions) const {
  const std::optional<ExactTensor> ready = exact_.ReadyMade(spec.name, spec.dtypes.front());
  if (!ready) return std::nullopt;
  return Tensor::FromValues(spec.dtypes.front(), ready->shape, ready->values);
}

}  // namespace posgauge
