#include "message/session_convert.h"

#include <algorithm>

#include "message/origin.h"
#include "message/plan.h"
#include "message/request.h"
#include "message/restore.h"
#include "message/signatures.h"
#include "message/writers.h"

namespace bough::message {
namespace {

std::uint64_t hashOfRaw(std::string_view raw) {
  return raw.empty() ? 0 : ContentHasher().hashIfValid(raw);
}

// What Anthropic's signatures are bound to: what stood before them when they were given.
void setPrefixes(const std::vector<SessionMessage>& messages, History& history) {
  if (std::ranges::none_of(history.natives, isSigned)) return;
  PrefixChain chain;
  ContentHasher hasher;
  for (Native& native : history.natives) {
    const SessionMessage& message = messages[static_cast<std::size_t>(native.documentIndex)];
    const bool own = native.dialect == Dialect::Anthropic && native.problem.empty();
    if (own && isSigned(native)) {
      native.signedBlocks = true;
      chain.prefix.system = hashOfRaw(message.system);
      chain.prefix.tools = hashOfRaw(message.tools);
      native.prefix = chain.prefix;
    }
    if (native.tree == nullptr || !native.problem.empty()) continue;
    own ? chain.own(hasher.hash(*native.tree, native.node)) : chain.foreign();
  }
}

// Typed text and system messages: every context puts them where its API wants them.
bool isNeutral(const Native& native) {
  if (!native.problem.empty()) return false;
  if (native.message.role == Role::System) return true;
  return native.dialect == Dialect::Bough && std::ranges::none_of(native.message.blocks, [](const Block& block) {
           return block.kind == BlockKind::ToolCall || block.kind == BlockKind::ToolResult;
         });
}

void addNatives(const OutMessage& out, std::int32_t leafNative, SessionNode& node) {
  if (out.verbatim) {
    node.natives.push_back(out.native);
  } else if (leafNative >= 0 && std::ranges::find(node.natives, leafNative) == node.natives.end()) {
    node.natives.push_back(leafNative);
  }
}

}  // namespace

Result<void> readSession(const std::vector<SessionMessage>& messages, const Origin* origin, History& history,
                         Reporter& reporter) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::size_t before = history.natives.size();
    addStoredMessage(messages[i].entryId, messages[i].type, messages[i].payload, history);
    for (std::size_t k = before; k < history.natives.size(); ++k) {
      Native& native = history.natives[k];
      native.documentIndex = static_cast<std::int64_t>(i);
      native.place = static_cast<std::int64_t>(i);
      native.rawHash = hashBytes(native.raw);
      native.neutral = isNeutral(native);
    }
  }
  setPrefixes(messages, history);
  reporter.report().messages = messages.size();
  if (origin == nullptr) return {};
  auto data = readOrigin(*origin, history);
  if (!data) return std::unexpected(data.error());
  std::vector<Native> natives = std::move(history.natives);
  history.natives.clear();
  // What could not even be read has no place in the comparison; it stands behind what it stood behind.
  restoreNatives(*data, std::move(natives), history, reporter);
  return {};
}

SessionConversion convertSession(History& history, Dialect target, std::string_view system, std::string_view tools,
                                 Reporter& reporter) {
  // Calls at the end may still be answered; until then every context gives them a result of its own.
  const Plan plan = makePlan(history, target, {.strict = false, .keepPendingCalls = true}, reporter);
  SessionConversion out;
  Records records;
  PrefixChain chain;
  ContentHasher hasher;
  chain.prefix.system = hashOfRaw(system);
  chain.prefix.tools = hashOfRaw(tools);
  Sink sink(out.text, records, Section::Messages);
  for (const OutMessage& message : plan.messages) {
    const std::size_t first = records.nodes.size();
    if (message.verbatim) {
      const Native& native = history.natives[static_cast<std::size_t>(message.native)];
      checkSignatures(native, chain.prefix, reporter);
      sink.splice(message.native, native.raw, {}, hasher.hashOf(native));
    } else {
      writeMessage(target, message, sink);
    }
    for (std::size_t i = first; i < records.nodes.size(); ++i) {
      const NodeRecord& record = records.nodes[i];
      SessionNode& node = out.nodes.emplace_back();
      node.begin = i == 0 ? 0 : records.nodes[i - 1].end + 1;
      node.end = record.end;
      node.verbatim = record.verbatim;
      node.dialect = record.verbatim ? history.natives[static_cast<std::size_t>(message.native)].dialect : target;
      node.dialect == Dialect::Anthropic&& record.verbatim ? chain.own(record.hash) : chain.foreign();
      if (record.verbatim) addNatives(message, -1, node);
      for (std::uint32_t k = 0; k < record.leafCount; ++k) {
        addNatives(message, records.leaves[record.firstLeaf + k].native, node);
      }
    }
  }
  reportCarriedSignatures(history, target, reporter);
  out.origin.json = writeOrigin(target, history, records);
  return out;
}

}  // namespace bough::message
