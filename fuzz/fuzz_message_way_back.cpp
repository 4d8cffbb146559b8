// Fuzzes the reader of WayBacks: whatever bytes are beside a document, converting the document must not crash.
#include "message_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bough;
  static constexpr std::string_view kDocument =
      R"({"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]})";
  const WayBack wayBack{std::string(reinterpret_cast<const char*>(data), size)};
  for (const Dialect to : {Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses}) {
    fuzz::require(convertHistory(kDocument, Dialect::Gemini, to, {}, &wayBack).has_value());
  }
  return 0;
}
