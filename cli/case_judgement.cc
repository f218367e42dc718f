#include "posgauge/cli/case_judgement.h"

#include <fmt/format.h>

#include "posgauge/verify/check.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/judge_addition.h"
#include "posgauge/verify/judge_equations.h"

namespace posgauge::cli {

namespace {

// What is judged and what it is held to.
struct Judged {
  const CaseFile& asked;
  const Safetensors& result;
  const std::string& path;
  const CaseTerms& terms;

  const Tensor* Find(const std::string& name) const {
    auto at = result.tensors.find(name);
    if (at == result.tensors.end() && result.tensors.size() == 1) at = result.tensors.find("");
    return at == result.tensors.end() ? nullptr : &at->second;
  }

  const Tensor& Floating(const std::string& name, const std::vector<int64_t>& shape) const {
    const Tensor* tensor = Find(name);
    if (tensor == nullptr) throw FormatError(fmt::format("{}: needs a tensor {}", path, name));
    if (tensor->shape() != shape || !IsFloat(tensor->dtype())) {
      throw FormatError(fmt::format("{}: {} must be a floating tensor [{}], got {} [{}]", path,
                                    name, fmt::join(shape, ", "), Name(tensor->dtype()),
                                    fmt::join(tensor->shape(), ", ")));
    }
    return *tensor;
  }

  const Tensor& Out() const {
    const Tensor& out = Floating("out", asked.x.shape());
    if (out.dtype() != asked.x.dtype()) {
      throw FormatError(fmt::format("{}: out must be {} like the case's x, got {}", path,
                                    Name(asked.x.dtype()), Name(out.dtype())));
    }
    return out;
  }

  // What the caller declares, for a result in a dtype.
  Contract ContractFor(Dtype io) const {
    const Contract contract = terms.contract.empty()
                                  ? Contract::Default(io)
                                  : Contract::Parse(ReadContractLine(terms.contract), io);
    Require(contract.store == io, "--contract stores {}, but the result is {}",
            Name(contract.store), Name(io));
    return contract;
  }
};

CaseJudgement JudgeRotation(const Judged& judged) {
  const CaseFile& asked = judged.asked;
  const ExactRotation exact(asked.scheme);
  const Rotary& layout = RotaryOf(asked.scheme);
  const Axes& axes = exact.axes();
  const TruthTable truth = TruthOf(exact, asked.positions);
  const double magnitude = exact.Magnitude(Dtype::f64).values[0];
  const auto bound_for = [&](const Contract& contract) {
    return RotaryBound(contract, asked.scheme, exact.Frequencies(Dtype::f64).values, magnitude);
  };
  const double budget = judged.terms.budget;
  if (asked.quantity == "table") {
    const std::vector<int64_t> shape = {static_cast<int64_t>(axes.Tokens(asked.positions)),
                                        layout.Pairs()};
    const TablePair table{judged.Floating("cos", shape), judged.Floating("sin", shape)};
    const Contract contract = judged.ContractFor(table.cos.dtype());
    return {
        HoldToBound(table, layout, asked.positions, truth, bound_for(contract), magnitude, axes),
        HoldToBudget(table, layout, asked.positions, truth, magnitude, budget, axes), contract};
  }
  const Tensor& out = judged.Out();
  const Contract contract = judged.ContractFor(out.dtype());
  const Rotated rotated{
      layout, asked.positions, asked.x, out, asked.quantity == "rotate_backward", {}, axes};
  return {HoldToBound(rotated, truth, bound_for(contract)),
          HoldToBudget(rotated, truth, magnitude, budget), contract};
}

CaseJudgement JudgeAddition(const Judged& judged) {
  const CaseFile& asked = judged.asked;
  const ExactAddition exact(asked.scheme);
  const RowTruth truth = TruthOf(exact, asked.positions);
  const bool embeds = asked.quantity == "embed";
  const std::vector<int64_t> shape = {static_cast<int64_t>(asked.positions.size()), exact.width()};
  const Tensor& out = embeds ? judged.Out() : judged.Floating("rows", shape);
  const Contract contract = judged.ContractFor(out.dtype());
  const AdditionBound bound(contract, asked.scheme, exact.Frequencies(Dtype::f64).values,
                            exact.RowIndex(0));
  const Added added{exact, asked.positions, embeds ? &asked.x : nullptr, out};
  return {HoldToBound(added, truth, bound), HoldToBudget(added, truth, judged.terms.budget),
          contract};
}

CaseJudgement JudgeEquations(const Judged& judged) {
  const CaseFile& asked = judged.asked;
  const ExactEquations exact(asked.scheme);
  const auto quantity = ParseVariant<EquationQuantity>("quantity", asked.quantity);
  const std::vector<int64_t> shape = exact.CheckInputs(quantity, asked.inputs);
  const double farthest = FarthestQuery(asked.inputs);
  if (quantity == EquationQuantity::buckets) {
    const Tensor* buckets = judged.Find(asked.quantity);
    if (buckets == nullptr || buckets->shape() != shape || IsFloat(buckets->dtype())) {
      throw FormatError(fmt::format("{}: needs a tensor {} of integers [{}]", judged.path,
                                    asked.quantity, fmt::join(shape, ", ")));
    }
    const Finding finding = HoldToIntegers({quantity, asked.inputs, *buckets, farthest, false},
                                           exact.Buckets(asked.inputs));
    return {finding, finding, Contract::Default(Dtype::f64)};
  }
  const Tensor& out = judged.Floating(std::string(OutputName(quantity)), shape);
  const Contract contract = judged.ContractFor(out.dtype());
  const EnclosedEach truth = exact.Enclose(quantity, asked.inputs);
  const std::vector<EquationLimit> limits =
      EquationBound(contract, asked.scheme).Limits(quantity, asked.inputs, shape);
  const EquationResult held{quantity, asked.inputs, out, farthest, judged.terms.rowshift};
  return {HoldToBound(held, truth, limits, contract),
          HoldToBudget(held, truth, limits, judged.terms.budget), contract};
}

}  // namespace

CaseJudgement JudgeCase(const CaseFile& asked, const Safetensors& result, const std::string& path,
                        const CaseTerms& terms) {
  const Judged judged{asked, result, path, terms};
  if (HasEquations(asked.scheme)) return JudgeEquations(judged);
  return IsRotary(asked.scheme) ? JudgeRotation(judged) : JudgeAddition(judged);
}

}  // namespace posgauge::cli
