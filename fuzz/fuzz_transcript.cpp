// Fuzzes the readers of transcripts, each with every input. Whatever the bytes are, reading must end, keep every byte,
// and return entries with unique ids, each after its parent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_set>

#include "transcript/model/agent.h"
#include "transcript/model/origin.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace bough::transcript {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void readAs(const Agent& agent, std::string_view bytes) {
  std::string joined;
  std::unordered_set<std::string> ids;
  const auto source = fromMemory(bytes);
  const auto report = readSource(agent, *source, "", [&](Entry&& entry) -> Result<void> {
    require(ids.insert(entry.id).second);
    const std::string parent = entry.parentId.value_or("");
    require(isControlType(entry.type) || parent.empty() || ids.contains(parent));
    joined += lineOf(entry).value_or("");
    return {};
  });
  if (!report) return;  // it is not a transcript
  require(report->skippedBytes > 0 || joined == bytes);
  require(report->headId.empty() || ids.contains(report->headId));
}

}  // namespace
}  // namespace bough::transcript

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bough::transcript::Agent& agent : bough::transcript::agents()) bough::transcript::readAs(agent, bytes);
  return 0;
}
