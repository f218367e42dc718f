#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/none.h"

namespace posgauge::none {

/// Adds nothing.
template <class R>
struct Head {};

template <class R>
Head<R> MakeHead(const Params&, const NamedInputs&, int64_t) {
  return {};
}

}  // namespace posgauge::none
