#include "posgauge/cli/case_folder.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/tensor_file.h"

namespace posgauge::cli {

namespace {

// What the kernel yields for a case, by the names of its outputs.
Safetensors Answer(const Subject& subject, const CaseFile& asked) {
  Safetensors answer;
  if (HasEquations(asked.scheme)) {
    const EquationQuantity quantity = subject.equations().quantity();
    answer.tensors[std::string(OutputName(quantity))] = subject.Evaluate(asked.inputs);
  } else {
    for (Named& named : subject.Answer(asked.positions, asked.x)) {
      answer.tensors[named.name] = std::move(named.tensor);
    }
  }
  return answer;
}

}  // namespace

std::string CaseName(const LayerGroup& group, const KernelInfo& info) {
  return fmt::format("{}.{}.{}", group.kind, info.quantity, Name(info.io()));
}

std::filesystem::path CasePath(const std::filesystem::path& folder, const std::string& name,
                               const std::string& format) {
  return folder / fmt::format("{}.case.{}", name, format);
}

CaseFile CaseFor(const Subject& subject, const CheckPlan& plan) {
  const Scheme& scheme = subject.scheme();
  const std::string& quantity = subject.info().quantity;
  if (!HasEquations(scheme)) {
    CaseFile file{scheme, quantity, PlaceOnAxes(AxesOf(scheme), plan.positions, plan.seed), {}, {}};
    if (quantity != "table") file.x = InputFor(subject, plan);
    return file;
  }
  const EquationTruth& truth = subject.equations();
  CaseFile file{scheme, quantity, {}, {}, {}};
  file.inputs = IsOfRows(truth.quantity())
                    ? PlanRows(scheme, truth.exact(), truth.quantity(), subject.io(),
                               plan.positions, plan.seed)
                    : PlanAttention(scheme, truth.exact(), truth.quantity(), subject.io(),
                                    plan.positions.back(), plan.seed);
  return file;
}

void MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(fmt::format("{}: {}", folder.string(), error.message()));
}

void DumpCases(const std::filesystem::path& folder, const std::string& format,
               const LayerGroup& group, const std::vector<Subject>& subjects,
               const CheckPlan& plan) {
  MakeFolder(folder);
  for (const Subject& subject : subjects) {
    const KernelInfo& info = subject.info();
    if (info.quantity == "frequencies") continue;
    const CaseFile file = CaseFor(subject, plan);
    WriteCaseFile(CasePath(folder, CaseName(group, info), format), file);
    try {
      WriteTensorFile(folder / fmt::format("{}.{}.{}", group.kind, info.name, format),
                      Answer(subject, file));
    } catch (const Unsupported&) {
      // The report says so; there is no answer to write.
    } catch (const KernelFailure&) {
    }
  }
}

}  // namespace posgauge::cli
