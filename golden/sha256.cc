#include "posgauge/golden/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace posgauge::golden {

namespace {

// OpenSSL fails only for want of memory or of the algorithm.
void Demand(int result) {
  if (result != 1) throw std::runtime_error("SHA-256 is not available from OpenSSL");
}

}  // namespace

struct Sha256Stream::Context {
  EVP_MD_CTX* state = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(state); }
};

Sha256Stream::Sha256Stream() : context_(std::make_unique<Context>()) {
  Demand(EVP_DigestInit_ex(context_->state, EVP_sha256(), nullptr));
}

Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;

void Sha256Stream::Add(std::string_view bytes) {
  Demand(EVP_DigestUpdate(context_->state, bytes.data(), bytes.size()));
}

std::string Sha256Stream::Finish() {
  std::array<unsigned char, 32> digest;
  unsigned size = 0;
  Demand(EVP_DigestFinal_ex(context_->state, digest.data(), &size));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string Sha256(std::string_view bytes) {
  Sha256Stream stream;
  stream.Add(bytes);
  return stream.Finish();
}

}  // namespace posgauge::golden
