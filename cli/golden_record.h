#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "posgauge/reference/proof.h"

namespace posgauge::cli {

/// Evidence for a set of values, for programs and for people.
nlohmann::ordered_json ProofRecord(const ProofCounts& proof);
std::string ProofText(const ProofCounts& proof);

/// The subcommands of `posgauge golden`: those that write vectors, and those that read a corpus.
void AddGoldenWrite(CLI::App& golden, int& exit_code);
void AddGoldenMake(CLI::App& golden, int& exit_code);
void AddGoldenList(CLI::App& golden, int& exit_code);
void AddGoldenLint(CLI::App& golden, int& exit_code);
void AddGoldenDiff(CLI::App& golden, int& exit_code);
void AddGoldenExport(CLI::App& golden, int& exit_code);

}  // namespace posgauge::cli
