#pragma once

#include <string>
#include <string_view>

namespace posgauge {

/// A contract as people give it: a line, or the name of a TOML file (it ends in .toml) that has the
/// line's words as keys, and `preset`. Returns the line.
///
///   preset = "vllm-cache"    # optional, docs/contracts.md lists them
///   trig = "1ulp:f32"
///   flush = false
///
/// Throws FileError, and FormatError with file, line and column: no TOML, a key that contracts do
/// not have, a value that the key cannot take.
std::string ReadContractLine(const std::string& given);

/// The line of a TOML file's text. Throws FormatError as above, which begins with `path`.
std::string ContractLineFromToml(std::string_view text, const std::string& path);

}  // namespace posgauge
