#pragma once

#include <optional>
#include <string>

#include "posgauge/verify/accepted_values.h"
#include "posgauge/verify/minimal_case.h"

namespace posgauge::cli {

/// A C++ program in one file that repeats a minimal case without posgauge: it has the structs of
/// posgauge/kernel.h, every tensor of the call as hexadecimal bits, the proven values and the
/// numbers that the check accepts. Built by g++ -std=c++20 FILE -ldl and given the path of a
/// library it calls the kernel of that name twice, between guard pages, and exits with 1 where it
/// still fails, with 0 where it holds and with 2 where it cannot be called. Nothing where no
/// element of the answer alone is what fails (AcceptedValues).
std::optional<std::string> MinimalProgram(const JudgedCase& judged, const MinimalCase& minimal,
                                          const JudgedBy& judged_by, const std::string& title);

}  // namespace posgauge::cli
