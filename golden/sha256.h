#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace posgauge::golden {

/// SHA-256 of bytes that come piece by piece.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;

  void Add(std::string_view bytes);
  /// The digest of everything added, as Sha256 gives it; once.
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// SHA-256 (FIPS 180-4) in 64 lower-case hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace posgauge::golden
