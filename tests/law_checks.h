#pragma once

#include <rapidcheck.h>

#include <string>
#include <string_view>
#include <vector>

#include "posgauge/properties/generators.h"
#include "posgauge/properties/laws.h"

namespace posgauge {

/// A verdict in one line: "composition of faulty.clamps.rotate.f32: FAIL, 12 of 1024, use 7.1,
/// ...".
std::string Line(const Verdict& verdict);

/// Names of the honest kernels of tests/faulty_kernels.h and of our fast ones.
const std::vector<std::string>& GoodKernels();

/// Those that serve a scheme.
std::vector<std::string> GoodKernelsOf(const Scheme& scheme);

/// A good or faulty kernel, or a fast one, by name. Throws ParameterError.
KernelInfo AnyKernel(std::string_view name);

/// Every law on the standard cases; the forward or backward partner is the honest one.
std::vector<Verdict> CheckStandardLaws(const Subject& subject, const CasePlan& plan);

/// One of them. Throws ParameterError if the scheme has no such law.
Verdict CheckStandardLaw(std::string_view law, const Subject& subject, const CasePlan& plan);

/// One law on one case drawn by RapidCheck; fails the property with the verdict's line.
void RequireLaws(std::string_view kernel, const Scheme& scheme);

/// The laws of a scheme for any parameters, any good kernel of them, any vectors, bit patterns
/// included.
/// On failure RapidCheck prints the smallest case and the string that reproduces it.
template <class Params>
bool LawsHoldForAny(const rc::Gen<Params>& any_params) {
  return rc::check("every law holds for every good kernel", [&] {
    const Scheme scheme = *any_params;
    RC_LOG() << ToJson(scheme) << '\n';
    RequireLaws(*rc::gen::elementOf(GoodKernelsOf(scheme)), scheme);
  });
}

}  // namespace posgauge
