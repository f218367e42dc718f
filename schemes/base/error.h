#pragma once

#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace posgauge {

/// A caller's mistake: one line that names the thing, the rule and the value. Commands exit with 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A scheme parameter outside its domain, or an unknown scheme, variant or field.
class ParameterError : public Error {
 public:
  using Error::Error;
};

/// A file whose content is not what its format demands; the message begins with the path.
class FormatError : public Error {
 public:
  using Error::Error;
};

/// The system refused a file operation: missing file, full disk, no permission.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Throws ParameterError with the formatted message unless `holds`.
template <class... Args>
void Require(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw ParameterError(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace posgauge
