#include "agent/loop/requests.h"

#include "base/model/payloads.h"

namespace bough::agent {

std::string requestPayload(std::string_view purpose, std::string_view model, const Usage& usage) {
  json::Writer writer;
  writer.beginObject().member("kind", kRequestKind).member("purpose", purpose).member("model", model);
  writeUsage(writer, usage);
  return writer.endObject().take();
}

}  // namespace bough::agent
