#include "posgauge/cli/kernel_options.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "posgauge/cli/check_options.h"
#include "posgauge/fast/kernels.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/library.h"

namespace posgauge::cli {

bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return Matches(pattern.substr(1), name) || (!name.empty() && Matches(pattern, name.substr(1)));
  }
  return !name.empty() && name.front() == pattern.front() &&
         Matches(pattern.substr(1), name.substr(1));
}

std::string ShellWord(const std::string& word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+:,=@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void KernelOptions::AddTo(CLI::App& command) {
  command.add_option("--library", libraries,
                     "shared library that exports posgauge_kernels (posgauge/kernel.h); without it "
                     "posgauge's own fast kernels are tested");
  CLI::Option* here = command.add_flag(
      "--in-process", in_process,
      "run libraries in posgauge's own process, for a debugger: what crashes or hangs is its end");
  command
      .add_option(
          "--time-limit", time_limit,
          "seconds that a call of a library's kernel may take, 60 if not given; or a command "
          "for all cases, 600")
      ->excludes(here);
  command
      .add_option("--memory-limit", memory_limit,
                  "MiB that a library's process may hold; half of the machine's if not given")
      ->excludes(here);
  command.add_option("--kernel", kernels, "only kernels of this name; * stands for anything");
  command
      .add_option("--contract", contract,
                  "hold the kernels to this arithmetic, not to what they declare: a line, a preset "
                  "or a .toml file (docs/contracts.md)")
      ->check(NotEmpty());
}

namespace {

// "fast.table.*" for all names that begin so, in order; a name with no dot stands for itself.
std::vector<std::string> Families(const std::vector<std::string>& names) {
  std::vector<std::string> families;
  for (const std::string& name : names) {
    size_t end = name.find('.');
    if (end != std::string::npos) end = name.find('.', end + 1);
    std::string family = end == std::string::npos ? name : name.substr(0, end + 1) + "*";
    if (std::ranges::find(families, family) == families.end()) {
      families.push_back(std::move(family));
    }
  }
  return families;
}

// Beside this program, as it is built, or where it is installed.
std::filesystem::path KernelHost() {
  namespace fs = std::filesystem;
  constexpr std::string_view kName = "posgauge-kernel-host";
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = (folder / POSGAUGE_LIBEXEC / kName).lexically_normal();
  return !error && fs::exists(installed, error) ? installed : folder / kName;
}

}  // namespace

void HoldTo(const std::string& line, KernelInfo& info) {
  if (!IsFloat(info.io())) return;
  info.contract = Contract::Parse(line, info.io());
  Require(info.contract.store == info.io(),
          "--contract stores {}, but {} yields {}: leave store out, or choose by --kernel",
          Name(info.contract.store), info.name, Name(info.io()));
}

std::string KernelOptions::CommandText() const {
  std::string text;
  for (const std::string& library : libraries) {
    text += fmt::format(" --library {}", ShellWord(library));
  }
  const bool isolated = !libraries.empty() && !in_process;
  if (!libraries.empty() && in_process) text += " --in-process";
  if (isolated && time_limit) text += fmt::format(" --time-limit {}", *time_limit);
  if (isolated && memory_limit) text += fmt::format(" --memory-limit {}", *memory_limit);
  if (!contract.empty()) text += fmt::format(" --contract {}", ShellWord(contract));
  return text;
}

void KernelOptions::Validate() const {
  Require(!time_limit || (*time_limit > 0 && *time_limit <= 1e6),
          "--time-limit must be above 0 and at most 1e6 seconds, got {}", time_limit.value_or(0));
  Require(!memory_limit || (*memory_limit > 0 && *memory_limit <= int64_t{1} << 40),
          "--memory-limit must be in 1..2^40 MiB, got {}", memory_limit.value_or(0));
}

std::vector<KernelInfo> KernelOptions::Resolve() const {
  Validate();
  Isolation isolation{.host = KernelHost()};
  if (time_limit) isolation.time_limit = *time_limit;
  isolation.memory_limit = memory_limit ? static_cast<uint64_t>(*memory_limit) << 20
                                        : static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                              static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
  std::vector<KernelInfo> all;
  if (libraries.empty()) {
    size_t count = 0;
    const posgauge_kernel* own = FastKernels(&count);
    for (size_t i = 0; i < count; ++i) all.emplace_back(own[i]);
  }
  for (const std::string& library : libraries) {
    std::vector<KernelInfo> loaded =
        in_process ? LoadKernels(library) : LoadKernels(library, isolation);
    for (KernelInfo& info : loaded) all.push_back(std::move(info));
  }
  std::vector<std::string> names;
  for (const KernelInfo& info : all) {
    // Reports and repro ids name a kernel by this word alone.
    Require(std::ranges::find(names, info.name) == names.end(),
            "two libraries have a kernel {}: give them one at a time", info.name);
    names.push_back(info.name);
  }
  for (const std::string& pattern : kernels) {
    Require(std::ranges::any_of(names, [&](const auto& name) { return Matches(pattern, name); }),
            "--kernel {} matches none of {} kernels: {}", pattern, names.size(),
            fmt::join(Families(names), ", "));
  }
  std::erase_if(all, [&](const KernelInfo& info) {
    return !kernels.empty() && std::ranges::none_of(kernels, [&](const std::string& pattern) {
      return Matches(pattern, info.name);
    });
  });
  if (contract.empty()) return all;
  const std::string line = ReadContractLine(contract);
  for (KernelInfo& info : all) HoldTo(line, info);
  return all;
}

}  // namespace posgauge::cli
