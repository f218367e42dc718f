#pragma once

#include <string>
#include <string_view>

namespace posgauge::golden {

/// SHA-256 (FIPS 180-4) in 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace posgauge::golden
