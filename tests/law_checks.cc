#include "law_checks.h"

#include <algorithm>

#include "faulty_kernels.h"
#include "posgauge/fast/kernels.h"

namespace posgauge {

namespace {

std::span<const posgauge_kernel> Fast() {
  size_t count = 0;
  const posgauge_kernel* kernels = FastKernels(&count);
  return {kernels, count};
}

std::vector<Subject> HonestPartners(const Subject& subject) {
  std::vector<Subject> partners;
  if (!IsRotary(subject.scheme())) return partners;
  for (const std::string_view form : {"rotate", "rotate_backward"}) {
    if (subject.info().quantity == form || subject.info().quantity == "table" ||
        subject.info().quantity == "frequencies") {
      continue;
    }
    partners.emplace_back(FaultyKernel(fmt::format("honest.{}.{}", form, Name(subject.io()))),
                          subject.scheme());
  }
  return partners;
}

// The partners must outlive the cases.
std::vector<LawCase> CasesWithPartner(const Subject& subject, const CasePlan& plan,
                                      const std::vector<Subject>& partners) {
  std::vector<LawCase> cases = StandardCases(subject, plan, 1);
  for (LawCase& law_case : cases) law_case.transpose = FindTranspose(subject, partners);
  return cases;
}

}  // namespace

std::string Line(const Verdict& verdict) {
  std::string line = fmt::format("{} of {}: {}, {} of {} over, use {:.3g} {}", verdict.check,
                                 verdict.subject, VariantName(verdict.outcome), verdict.use.over(),
                                 verdict.use.count(), verdict.use.max(), verdict.note);
  if (verdict.first_failure) {
    const Witness& first = *verdict.first_failure;
    line += fmt::format("; first at {}, {}: got {}, want {}", first.position, first.where,
                        first.got, first.want);
  }
  return line + "\n  " + verdict.claim;
}

const std::vector<std::string>& GoodKernels() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> good;
    for (const posgauge_kernel& kernel : FaultyKernels()) {
      if (std::string_view(kernel.name).starts_with("honest.")) good.emplace_back(kernel.name);
    }
    for (const posgauge_kernel& kernel : Fast()) good.emplace_back(kernel.name);
    return good;
  }();
  return names;
}

std::vector<std::string> GoodKernelsOf(const Scheme& scheme) {
  static const std::vector<KernelInfo> good = [] {
    std::vector<KernelInfo> infos;
    for (const std::string& name : GoodKernels()) infos.push_back(AnyKernel(name));
    return infos;
  }();
  std::vector<std::string> serving;
  for (const KernelInfo& info : good) {
    if (info.Serves(scheme)) serving.push_back(info.name);
  }
  return serving;
}

KernelInfo AnyKernel(std::string_view name) {
  for (const posgauge_kernel& kernel : Fast()) {
    if (name == kernel.name) return KernelInfo(kernel);
  }
  return FaultyKernel(name);
}

std::vector<Verdict> CheckStandardLaws(const Subject& subject, const CasePlan& plan) {
  const std::vector<Subject> partners = HonestPartners(subject);
  return CheckLaws(subject, CasesWithPartner(subject, plan, partners));
}

Verdict CheckStandardLaw(std::string_view law, const Subject& subject, const CasePlan& plan) {
  const std::optional<Law> found = FindLaw(subject.scheme(), law);
  Require(found.has_value(), "{} has no law {}", Name(subject.scheme()), law);
  const std::vector<Subject> partners = HonestPartners(subject);
  return CheckLaw(*found, subject, CasesWithPartner(subject, plan, partners));
}

void RequireLaws(std::string_view kernel, const Scheme& scheme) {
  const KernelInfo info = AnyKernel(kernel);
  RC_LOG() << kernel << '\n';
  const Subject subject(info, scheme);
  const std::vector<Subject> partners = HonestPartners(subject);
  LawCase law_case = *AnyLawCase(subject, {.rows = 2, .heads = 2, .largest_position = 1 << 20});
  law_case.transpose = FindTranspose(subject, partners);
  for (size_t row = 0; row < law_case.positions.size(); ++row) {
    RC_LOG() << fmt::format("row {}: position {}, other {}, shift {}\n", row,
                            law_case.positions[row], law_case.others[row], law_case.shifts[row]);
  }
  for (const Law& law : Laws(scheme)) {
    const Verdict verdict = CheckLaw(law, subject, law_case);
    if (verdict.outcome == Outcome::fail) RC_FAIL(Line(verdict));
  }
}

}  // namespace posgauge
