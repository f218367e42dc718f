#pragma once

#include <array>
#include <cstdio>
#include <exception>
#include <utility>

#include "posgauge/verify/kernel.h"

namespace posgauge {

using RunFunction = int32_t (*)(const posgauge_call*, char*, size_t);

/// Functions for the `run` of so many descriptors: a plain function pointer carries no data, so the
/// number of the kernel is in its type. `serve(index, call)` throws what becomes POSGAUGE_FAILED.
template <void (*serve)(size_t, const posgauge_call&), size_t count>
constexpr std::array<RunFunction, count> NumberedRuns() {
  return []<size_t... index>(std::index_sequence<index...>) {
    return std::array<RunFunction, count>{
        [](const posgauge_call* call, char* why, size_t why_size) -> int32_t {
          try {
            serve(index, *call);
            return POSGAUGE_OK;
          } catch (const std::exception& error) {
            std::snprintf(why, why_size, "%s", error.what());
            return POSGAUGE_FAILED;
          }
        }...};
  }
  (std::make_index_sequence<count>());
}

}  // namespace posgauge
