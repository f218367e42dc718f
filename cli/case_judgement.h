#pragma once

#include <string>

#include "posgauge/verify/case_file.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/finding.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge::cli {

/// What a result is held to.
struct CaseTerms {
  std::string contract;   // a line, a preset or a .toml file; the default one if empty
  double budget = 2;      // spacings of the dtype that count as adequate
  bool rowshift = false;  // rows of biases or scores may differ by a constant
};

struct CaseJudgement {
  Finding contract, budget;
  Contract held_to;
};

/// Holds a result, the tensors of the file `path`, to what the case asks for: out, or cos and sin,
/// or rows, for a table; of attention the quantity's name. One tensor without a name is the only
/// one asked for. Throws FormatError that begins with `path` where the result lacks a tensor or has
/// it in another shape or dtype, and ParameterError and what reading a contract throws.
CaseJudgement JudgeCase(const CaseFile& asked, const Safetensors& result, const std::string& path,
                        const CaseTerms& terms);

}  // namespace posgauge::cli
