#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "posgauge/schemes/base/error.h"

namespace posgauge::fuzz {

/// The bytes that a fuzzer tries.
inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the run, so that the bytes are kept as a finding.
inline void Demand(bool holds, std::string_view what, std::string_view shown = "") {
  if (holds) return;
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(shown.size()), shown.data());
  std::abort();
}

/// What read() returns, or nothing where it refuses as a parser may: by an Error of one line. Any
/// other exception is left to the fuzzer, which reports it.
template <class Read>
auto Parsed(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    Demand(!message.empty() && message.find_first_of("\n\r") == message.npos,
           "a refusal is not one line", message);
    return std::nullopt;
  }
}

/// read(), which must not refuse: what a parser accepted and was written again.
template <class Read>
auto Again(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    Demand(false, "what was accepted and written again is refused", error.what());
    throw;
  }
}

}  // namespace posgauge::fuzz
