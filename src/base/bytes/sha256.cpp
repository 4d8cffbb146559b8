#include "base/bytes/sha256.h"

#include <openssl/evp.h>

#include <new>

#include "base/check.h"

namespace bough {

namespace {

// Checks a pointer from OpenSSL. Null means out of memory.
template <typename Given>
Given* given(Given* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

// Fetched once, and again after a failure. `EVP_sha256` would be looked up by name, under a lock, at each start of a
// hash.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = given(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  return found;
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = given(EVP_MD_CTX_new());
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (EVP_DigestInit_ex(state_->context, algorithm(), nullptr) != 1) throw std::bad_alloc();
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  BOUGH_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  static constexpr char kHex[] = "0123456789abcdef";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  BOUGH_CHECK(EVP_DigestFinal_ex(state_->context, digest, &size) == 1);
  std::string hex(std::size_t{2} * size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    hex[2 * i] = kHex[digest[i] >> 4];
    hex[2 * i + 1] = kHex[digest[i] & 15];
  }
  return hex;
}

std::string Sha256::of(std::string_view bytes) {
  Sha256 sum;
  sum.add(bytes);
  return sum.hex();
}

}  // namespace bough
