#include "posgauge/cli/golden_folder.h"

#include <filesystem>

namespace posgauge::cli {

std::string DefaultGoldenFolder() {
  namespace fs = std::filesystem;
  const std::string here = "golden/vectors";
  std::error_code error;
  if (fs::exists(here, error)) return here;
  // Relative to the program, so that an installed tree may be moved.
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed =
      (program.parent_path() / POSGAUGE_SHARE / "golden/vectors").lexically_normal();
  return !error && fs::exists(installed, error) ? installed.string() : here;
}

}  // namespace posgauge::cli
