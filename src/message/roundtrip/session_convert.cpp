#include "message/roundtrip/session_convert.h"

#include <algorithm>
#include <unordered_set>

#include "message/model/signatures.h"
#include "message/plan/plan.h"
#include "message/plan/write_plan.h"
#include "message/request/stored.h"
#include "message/roundtrip/restore.h"
#include "message/roundtrip/way_back.h"

#include "base/try.h"

namespace bough::message {
namespace {

// Sets what Anthropic's signatures are bound to: what preceded them when they were issued.
void setPrefixes(const std::vector<SessionMessage>& messages, PrefixChain& chain, History& history) {
  ContentHasher hasher;
  for (Original& original : history.originals) {
    const SessionMessage& message = messages[static_cast<std::size_t>(original.messageIndex)];
    const bool own = original.dialect == Dialect::Anthropic && original.problem.empty();
    if (own && isSigned(original)) {
      original.signedBlocks = true;
      chain.prefix.system = hashOfRaw(message.system);
      chain.prefix.tools = hashOfRaw(message.tools);
      original.prefix = chain.prefix;
    }
    if (original.tree == nullptr || !original.problem.empty()) continue;
    own ? chain.addOwn(hasher.hash(*original.tree, original.node)) : chain.addForeign();
  }
}

// Returns true for typed text and system messages: every context puts them where its API requires them.
bool belongsToNoProvider(const Original& original) {
  if (!original.problem.empty()) return false;
  if (original.message.role == Role::System) return true;
  return original.dialect == Dialect::Bough && std::ranges::none_of(original.message.blocks, [](const Block& block) {
           return block.kind == BlockKind::ToolCall || block.kind == BlockKind::ToolResult;
         });
}

}  // namespace

std::uint64_t hashOfRaw(std::string_view raw) {
  return raw.empty() ? 0 : ContentHasher().hashIfValid(raw);
}

Result<void> readSession(const std::vector<SessionMessage>& messages, const WayBack* wayBack, History& history,
                         Reporter& reporter, PrefixChain* chain) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::size_t before = history.originals.size();
    if (messages[i].payload.empty()) {
      // With a way back, hidden content is missing from the document, so its original is not restored.
      if (wayBack == nullptr) addRedacted(messages[i].entryId, messages[i].type, messages[i].hidden, history);
    } else {
      addStoredMessage(messages[i].entryId, messages[i].type, messages[i].payload, history);
    }
    for (std::size_t k = before; k < history.originals.size(); ++k) {
      Original& original = history.originals[k];
      original.messageIndex = static_cast<std::int64_t>(i);
      original.documentPlace = static_cast<std::int64_t>(i);
      original.hasNoProvider = belongsToNoProvider(original);
      original.neverJoined = messages[i].neverJoined;
    }
  }
  PrefixChain own;
  if (chain != nullptr || std::ranges::any_of(history.originals, isSigned)) {
    setPrefixes(messages, chain == nullptr ? own : *chain, history);
  }
  reporter.report().messages = messages.size();
  if (wayBack == nullptr) return {};
  BOUGH_TRY(auto data, readWayBack(*wayBack, history));
  std::vector<Original> originals = std::move(history.originals);
  history.originals.clear();
  // Originals that could not be read take no part in the comparison; they keep their position.
  restoreOriginals(data, std::move(originals), history, reporter);
  return {};
}

SessionConversion convertSession(History& history, Dialect target, std::string_view system, std::string_view tools,
                                 Reporter& reporter) {
  const Plan plan = makePlan(history, target, kSessionOptions, reporter);
  SessionConversion out;
  Records records;
  PlanWriter writer(history, target, records, Hashing::Yes);
  writer.checkSignatures({.system = hashOfRaw(system), .tools = hashOfRaw(tools)}, reporter);
  const std::vector<WrittenMessage> written = writer.messages(plan, out.text);
  for (std::size_t m = 0; m < written.size(); ++m) {
    const OutMessage& message = plan.messages[m];
    for (std::size_t i = written[m].firstValue; i < written[m].endValue; ++i) {
      const ValueRecord& record = records.values[i];
      ConvertedMessage& converted = out.messages.emplace_back();
      converted.begin = i == 0 ? 0 : records.values[i - 1].end + 1;
      converted.end = record.end;
      converted.verbatim = record.verbatim;
      converted.dialect =
          record.verbatim ? history.originals[static_cast<std::size_t>(message.original)].dialect : target;
      if (record.verbatim) converted.originals.push_back(message.original);
      std::unordered_set<std::int32_t> seen(converted.originals.begin(), converted.originals.end());
      for (std::uint32_t k = 0; k < record.blockCount; ++k) {
        const std::int32_t original = records.blocks[record.firstBlock + k].original;
        if (original >= 0 && seen.insert(original).second) converted.originals.push_back(original);
      }
    }
  }
  reportCarriedSignatures(history, target, reporter);
  out.wayBack.json = writeWayBack(target, history, records);
  return out;
}

}  // namespace bough::message
