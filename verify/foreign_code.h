#pragma once

#include <cfenv>

namespace posgauge {

/// While one lives, code of a kernel library runs. What such code may leave behind is put back: the
/// floating-point environment (rounding mode, exceptions, flushing of subnormals), which a library
/// built with -ffast-math changes when it is loaded; and what it writes to standard output goes to
/// standard error, so that no report is spoilt. For one thread at a time.
class ForeignCode {
 public:
  ForeignCode();
  ~ForeignCode();
  ForeignCode(const ForeignCode&) = delete;
  ForeignCode& operator=(const ForeignCode&) = delete;

 private:
  std::fenv_t environment_;
  int output_;  // a copy of standard output's descriptor; -1 if it is closed
};

}  // namespace posgauge
