#pragma once

#include <optional>
#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// Every law of a scheme: those of its kind, then its own.
std::vector<Law> Laws(const Scheme& scheme);

/// Nothing if the scheme has no law of that name.
std::optional<Law> FindLaw(const Scheme& scheme, std::string_view name);

/// Whether a law can be tried on kernels of a quantity.
bool AppliesTo(const Law& law, std::string_view quantity);

/// One law on one case. A kernel of another quantity, and one that does not offer what the law
/// needs, gives `unsupported`, and so does a law that is blind in eight bits; a kernel that fails
/// gives `fail`; the note says why.
Verdict CheckLaw(const Law& law, const Subject& subject, const LawCase& law_case);

/// One law on all cases, as one verdict.
Verdict CheckLaw(const Law& law, const Subject& subject, const std::vector<LawCase>& cases);

/// Every law of the subject's scheme that its quantity comes under, on all cases: one verdict a
/// law.
std::vector<Verdict> CheckLaws(const Subject& subject, const std::vector<LawCase>& cases);

/// The kernel among `others` that is the subject's transpose in the same dtype; null if none is.
const Subject* FindTranspose(const Subject& subject, const std::vector<Subject>& others);

}  // namespace posgauge
