// denormalize() writes one message, without the history around it.
#include <bough/message.h>

#include <string>
#include <unordered_map>

#include "message/dialect/writers.h"
#include "message/plan/plan.h"

namespace bough {

Result<Denormalized> denormalize(const Message& source, Dialect dialect) {
  using namespace message;
  if (dialect == Dialect::Plain) {
    return fail(ErrorCode::Unsupported, "plain entries are only read", "write bough instead");
  }
  Denormalized out;
  if (source.dialect == dialect && !source.raw.empty()) {
    out.messages.emplace_back(source.raw);
    return out;
  }
  History history;
  Original& original = history.originals.emplace_back();
  // Planned as if it came from another dialect, so that it is written again even in its own.
  original.dialect = source.dialect == dialect ? Dialect::Plain : source.dialect;
  original.message.role = source.role;
  original.message.roleName = source.roleName;
  original.message.blocks = source.blocks;
  original.message.extras = source.extras;
  CompatibilityReport report;
  Reporter reporter(report);
  const Plan plan = makePlan(history, dialect, {}, reporter, PlanMode::Fragment);
  auto write = [&](const OutMessage& each) {
    std::string text;
    Records records;
    Sink sink(text, records, Section::Messages);
    writeMessage(dialect, each, sink);
    out.messages.push_back(std::move(text));
  };
  if (plan.hasSystem) {
    OutMessage system{.role = Role::System};
    system.outBlocks = plan.system.outBlocks;
    write(system);
  }
  for (const OutMessage& each : plan.messages) {
    // In these dialects, results and items are separate messages.
    const bool splits =
        dialect == Dialect::OpenaiResponses || (dialect == Dialect::OpenaiChat && each.role == Role::Tool);
    if (!splits || (each.role != Role::Assistant && each.role != Role::Tool)) {
      write(each);
      continue;
    }
    for (const OutBlock& outBlock : each.outBlocks) {
      OutMessage single{.role = each.role, .roleName = each.roleName};
      single.outBlocks.push_back(outBlock);
      write(single);
    }
  }
  std::unordered_map<std::string, std::size_t> blockAt;
  for (std::size_t i = 0; !report.findings.empty() && i < original.message.blocks.size(); ++i) {
    blockAt[reporter.pathOf(original, &original.message.blocks[i])] = i;
  }
  for (const Finding& finding : report.findings) {
    const auto found = blockAt.find(finding.path);
    const std::size_t block = found == blockAt.end() ? 0 : found->second;
    out.leftOut.push_back({.block = block, .field = finding.field, .reason = finding.reason});
  }
  return out;
}

}  // namespace bough
