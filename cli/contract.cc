// posgauge contract: what a contract says in full; without one, the presets.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "posgauge/cli/command.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/contract_presets.h"

namespace posgauge::cli {

namespace {

struct Options {
  std::string contract, dtype = "f32";
  bool json = false;
};

void PrintPresets(const Options& options) {
  if (options.json) {
    nlohmann::ordered_json record{{"version", 1}, {"presets", nlohmann::ordered_json::array()}};
    for (const ContractPreset& preset : ContractPresets()) {
      record["presets"].push_back(
          {{"name", preset.name}, {"contract", preset.line}, {"about", preset.about}});
    }
    fmt::print("{}\n", record.dump(2));
    return;
  }
  for (const ContractPreset& preset : ContractPresets()) {
    fmt::print("{}\n  {}\n  {}\n", preset.name, preset.about, preset.line);
  }
}

void Run(const Options& options) {
  if (options.contract.empty()) {
    PrintPresets(options);
    return;
  }
  const Dtype io = ParseFloatDtype("--dtype", options.dtype);
  const std::string text = Contract::Parse(ReadContractLine(options.contract), io).Text();
  if (options.json) {
    fmt::print("{}\n", nlohmann::ordered_json{{"version", 1}, {"contract", text}}.dump(2));
  } else {
    fmt::print("{}\n", text);
  }
}

}  // namespace

void AddContract(CLI::App& program, int& exit_code) {
  CLI::App* command = program.add_subcommand(
      "contract", "Print what a contract says in full, or the presets that it may begin with");
  auto options = std::make_shared<Options>();
  command->add_option("contract", options->contract,
                      "a line of stage=arithmetic words, a preset, or a .toml file");
  command->add_option("--dtype", options->dtype, "dtype of the vectors")->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] {
    Run(*options);
    exit_code = kHolds;
  });
}

}  // namespace posgauge::cli
