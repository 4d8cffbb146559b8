// Fuzzes the reader of the dialect `bough`.
#include "message_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bough::fuzz::readDialect(bough::Dialect::Bough, {reinterpret_cast<const char*>(data), size});
  return 0;
}
