#include "posgauge/golden/sha256.h"

#include <openssl/sha.h>

#include <fmt/format.h>

namespace posgauge::golden {

std::string Sha256(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace posgauge::golden
