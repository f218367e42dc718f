// The program. Text is for people, --json for programs; both are printed from one record.
#include <csignal>
#include <exception>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/schemes/base/error.h"

int main(int argc, char** argv) {
  using namespace posgauge::cli;
  // Beyond a file-size limit a write then fails, and says so, instead of killing the program.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App program{"Proven references, property tests and gates for positional encodings"};
  program.name("posgauge");
  program.set_version_flag("--version", POSGAUGE_VERSION);
  program.require_subcommand(1);
  int exit_code = kUsage;
  AddSchemes(program, exit_code);
  AddDescribe(program, exit_code);
  AddGolden(program, exit_code);
  AddGate(program, exit_code);
  AddAudit(program, exit_code);
  AddCompare(program, exit_code);
  AddRepro(program, exit_code);
  AddTable(program, exit_code);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "posgauge: {} (posgauge --help)\n", error.what());
    return kUsage;
  } catch (const posgauge::Error& error) {
    fmt::print(stderr, "posgauge: {}\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "posgauge: internal error: {}\n", error.what());
    return kUsage;
  }
  return exit_code;
}
