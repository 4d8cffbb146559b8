// Reads arbitrary bytes as the stream of each provider, cut anywhere. The result must be a message that can be stored,
// or nothing, and must not depend on where the bytes were cut.

#include <cstdint>
#include <string>

#include "agent/providers/stream_reader.h"
#include "base/check.h"
#include "base/json/json_scan.h"

namespace bough::agent {
namespace {

std::string readStream(std::unique_ptr<StreamReader> reader, std::string_view bytes, std::size_t pieceBytes,
                       bool aborted) {
  SseParser parser;
  const auto onEvent = [&](const SseEvent& event) { return reader->take(event, [](const Delta&) {}).has_value(); };
  for (std::size_t at = 0; at < bytes.size(); at += pieceBytes) {
    if (!parser.feed(bytes.substr(at, pieceBytes), onEvent)) break;
  }
  (void)parser.end(onEvent);
  const Answer answer = reader->answer(aborted);
  if (!answer.message.empty()) BOUGH_CHECK(json::check(answer.message).has_value());
  if (!answer.partial.empty()) BOUGH_CHECK(json::check(answer.partial).has_value());
  return answer.message;
}

}  // namespace
}  // namespace bough::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bough::agent;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (auto* make : {makeAnthropicReader, makeOpenaiChatReader, makeOpenaiResponsesReader, makeGeminiReader}) {
    for (const bool aborted : {false, true}) {
      const std::string whole = readStream(make(), bytes, size + 1, aborted);
      BOUGH_CHECK(readStream(make(), bytes, 1, aborted) == whole);
      BOUGH_CHECK(readStream(make(), bytes, 7, aborted) == whole);
    }
  }
  return 0;
}
