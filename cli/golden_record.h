#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "posgauge/reference/proof.h"

namespace posgauge::cli {

/// Evidence for a set of values, for programs and for people.
nlohmann::ordered_json ProofRecord(const ProofCounts& proof);
std::string ProofText(const ProofCounts& proof);

/// The subcommands of `posgauge golden` that write vectors: write and make.
void AddGoldenWrite(CLI::App& golden, int& exit_code);
void AddGoldenMake(CLI::App& golden, int& exit_code);

}  // namespace posgauge::cli
