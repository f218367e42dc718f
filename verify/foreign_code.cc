#include "posgauge/verify/foreign_code.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace posgauge {

// The library shares the buffer of stdout: what is ours must leave it before, what is not before
// the descriptor is put back.
ForeignCode::ForeignCode() {
  std::fegetenv(&environment_);
  std::fflush(stdout);
  output_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

ForeignCode::~ForeignCode() {
  if (output_ >= 0) {
    std::fflush(stdout);
    dup2(output_, STDOUT_FILENO);
    close(output_);
  }
  std::fesetenv(&environment_);
}

}  // namespace posgauge
