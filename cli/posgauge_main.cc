// The program. Text is for people, --json for programs; both are printed from one record.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge::cli {

namespace {

// A command that is none, by its name: CLI11 says only that one is needed.
void RequireCommand(const CLI::App& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  Require(std::ranges::any_of(commands,
                              [&](const CLI::App* app) { return app->get_name() == argv[1]; }),
          "there is no command {} (posgauge --help)", Shown(argv[1]));
}

int Run(int argc, char** argv) {
  CLI::App program{"Proven references, property tests and gates for positional encodings"};
  program.name("posgauge");
  program.set_version_flag("--version", POSGAUGE_VERSION);
  program.require_subcommand(1);
  int exit_code = kUsage;
  AddSchemes(program, exit_code);
  AddDescribe(program, exit_code);
  AddDialects(program, exit_code);
  AddGolden(program, exit_code);
  AddGate(program, exit_code);
  AddAudit(program, exit_code);
  AddCompare(program, exit_code);
  AddRepro(program, exit_code);
  AddTable(program, exit_code);
  AddContract(program, exit_code);
  AddMutants(program, exit_code);
  AddFaults(program, exit_code);
  AddIdentify(program, exit_code);
  try {
    RequireCommand(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ExtrasError& error) {
    const bool is_setting = std::string_view(error.what()).find('=') != std::string_view::npos;
    fmt::print(stderr, "posgauge: {}{} (posgauge --help)\n", error.what(),
               is_setting ? "; each field=value needs a --set of its own" : "");
    return kUsage;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "posgauge: {} (posgauge --help)\n", error.what());
    return kUsage;
  }
  return exit_code;
}

}  // namespace

}  // namespace posgauge::cli

int main(int argc, char** argv) {
  using namespace posgauge::cli;
  // Beyond a file-size limit a write then fails, and says so, instead of killing the program.
  std::signal(SIGXFSZ, SIG_IGN);
  int exit_code = kUsage;
  try {
    exit_code = Run(argc, argv);
  } catch (const posgauge::Error& error) {
    fmt::print(stderr, "posgauge: {}\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    if (!std::ferror(stdout)) fmt::print(stderr, "posgauge: internal error: {}\n", error.what());
    exit_code = kUsage;
  }
  // A report that did not arrive is no success.
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) || !std::cout) {
    fmt::print(stderr, "posgauge: standard output cannot be written\n");
    return kUsage;
  }
  return exit_code;
}
