// The table of agents, and the recognition of an agent by its file.
#include "transcript/agents/agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "transcript/model/agent.h"

namespace bough::transcript {
namespace {

const auto& table() {
  static const std::array kAgents = {
      claudeCode(), codexRollout(), geminiCli(),      geminiCliDocument(), openclaw(),
      pi(),         claw0(),        myagentsLegacy(), myagents(),          plain(),
  };
  return kAgents;
}

constexpr std::size_t kSampleObjects = 32;
constexpr std::size_t kFewObjects = 3;

}  // namespace

std::span<const Agent> agents() {
  return table();
}

const Agent* findAgent(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Agent::name);
  return found == table().end() ? nullptr : &*found;
}

Result<const Agent*> recognize(std::string_view beginning, std::string_view path) {
  const std::size_t mark = beginning.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  Sample sample{.objects = {}, .bytes = beginning.substr(mark), .path = path};
  const auto source = fromMemory(beginning);
  LineRecords records(*source, [](std::string_view) { return true; });
  std::deque<std::string> texts;
  while (sample.objects.size() < kSampleObjects) {
    auto record = records.next();
    if (!record || !*record) break;
    if ((*record)->kind == RecordKind::Json) sample.objects.emplace_back(texts.emplace_back((*record)->text));
    // A file whose first few objects match the first agent of the table also matches it with more objects.
    if (sample.objects.size() <= kFewObjects && table().front().mismatch(sample).empty()) return &table().front();
  }
  std::string reasons;
  for (const Agent& agent : table()) {
    const std::string why = agent.mismatch(sample);
    if (why.empty()) return &agent;
    reasons += fmt::format("\n  {}: {}", agent.name, why);
  }
  if (beginning.contains(R"("type":"session_header")")) {
    return fail(ErrorCode::Unsupported, "a session of bough itself, not of another agent",
                "`bough show FILE` reads it where it is; `bough copy --from STORE --to STORE` brings sessions of one "
                "store into another");
  }
  return fail(ErrorCode::Unsupported, fmt::format("not a transcript of an agent that bough knows{}", reasons),
              "`bough import --help` lists the agents");
}

}  // namespace bough::transcript

namespace bough {

std::vector<std::string_view> transcriptAgents() {
  std::vector<std::string_view> names;
  for (const transcript::Agent& agent : transcript::agents()) {
    if (std::ranges::find(names, agent.name) == names.end()) names.push_back(agent.name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace bough
