#include "catalog/database/entry_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json/json_checked.h"
#include "base/json/json_scan.h"
#include "base/model/shown.h"
#include "base/model/typed_text.h"
#include "base/model/usage_counts.h"
#include "base/model/uuid.h"

namespace bough::catalog {
namespace {

constexpr std::string_view kRoleNames[] = {"other", "user", "assistant", "tool", "system", "summary"};

void addLine(std::string& out, std::string_view escaped) {
  if (escaped.empty() || out.size() >= kMaxTextBytes) return;
  if (!out.empty()) out += '\n';
  json::appendDecoded(out, escaped);
  if (out.size() <= kMaxTextBytes) return;
  std::size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
  out.resize(end);
}

void addText(std::string& out, const Block& block) {
  switch (block.kind) {
    case BlockKind::Text:
    case BlockKind::Thinking:
    case BlockKind::Refusal: addLine(out, block.text.escaped); break;
    case BlockKind::ToolCall:
      addLine(out, block.name.escaped);
      // Arguments are indexed as they are displayed, without escapes: `{"command":"ls -l"}`.
      addLine(out, block.freeform ? block.text.escaped : block.input);
      break;
    case BlockKind::ToolResult:
      for (const Block& part : block.content) {
        if (part.kind == BlockKind::Text) addLine(out, part.text.escaped);
      }
      break;
    case BlockKind::Document:
      addLine(out, block.name.escaped);
      if (block.source == MediaSource::Text) addLine(out, block.text.escaped);
      break;
    default: break;
  }
}

EntryRole roleOf(const Message& message) {
  const auto isResult = [](const Block& block) { return block.kind == BlockKind::ToolResult; };
  switch (message.role) {
    case Role::System: return EntryRole::System;
    case Role::Assistant: return EntryRole::Assistant;
    case Role::Tool: return EntryRole::Tool;
    case Role::User: break;
  }
  const bool onlyResults = !message.blocks.empty() && std::ranges::all_of(message.blocks, isResult);
  return onlyResults ? EntryRole::Tool : EntryRole::User;
}

void readMessage(const Message& message, bool wantText, bool wantSpoken, EntryFacts& facts) {
  facts.role = roleOf(message);
  facts.model = message.model.decode();
  facts.messageId = message.id.decode();
  facts.usage = message.usage;
  for (const Block& block : message.blocks) {
    if (block.kind == BlockKind::ToolCall) {
      ++facts.callCount;
      if (!block.idMissing) facts.calls.push_back(block.id.decode());
    } else if (block.kind == BlockKind::ToolResult) {
      facts.failureCount += block.isError ? 1 : 0;
      if (!block.idMissing) facts.results.push_back(block.id.decode());
    } else if (wantSpoken && block.kind == BlockKind::Text && facts.role == EntryRole::User &&
               facts.spoken.size() < 4096 && (facts.spoken.empty() || !isAttachedBlock(block.text.escaped))) {
      addLine(facts.spoken, block.text.escaped);
    }
    if (wantText) addText(facts.text, block);
  }
}

// A message that does not follow its dialect still counts, and its words can be found.
void readUnknown(std::string_view message, bool wantText, EntryFacts& facts) {
  const auto role = json::findString(message, "role");
  if (role) facts.role = parseRole(*role == "model" ? "assistant" : *role).value_or(EntryRole::Other);
  if (wantText) addLine(facts.text, message);
}

// Returns true when the user typed none of it: the chat reports an undo or a command to the model.
bool isTold(const Entry& entry, const Message& message) {
  return !message.blocks.empty() && isChatReport(entry, message.blocks.front().text.escaped);
}

// Returns true for an entry that was converted from other entries. Its cost is counted in the session it came from.
bool isConverted(const Entry& entry) {
  if (entry.meta.empty()) return false;
  const auto migration = json::findMember(entry.meta, "migration");
  return migration && json::findMember(*migration, "sources");
}

Usage readTokens(std::string_view usage) {
  const auto tokens = [&](std::string_view name) {
    return std::min(json::findUnsigned(usage, name).value_or(0), kMaxTokens);
  };
  return {.inputTokens = tokens("inputTokens"),
          .outputTokens = tokens("outputTokens"),
          .cacheReadTokens = tokens("cacheReadTokens"),
          .cacheWriteTokens = tokens("cacheWriteTokens"),
          .reasoningTokens = tokens("reasoningTokens"),
          .cacheWriteHourTokens = std::min(tokens("cacheWriteHourTokens"), tokens("cacheWriteTokens"))};
}

// The agent writes the provider before the model name; answers have only the model name, except those of the offline
// model.
std::string withoutProvider(const std::string& named) {
  return named.starts_with("offline/") ? named : named.substr(named.find('/') + 1);
}

// Reads the end of a turn that was saved with its totals. The usage that its messages record themselves is subtracted,
// because it is counted with them.
void readTurn(const Entry& entry, EntryFacts& facts) {
  if (json::findString(entry.payload, "kind") != "turn") return;
  facts.model = withoutProvider(json::findString(entry.payload, "model").value_or(""));
  facts.durationMs = json::findUnsigned(entry.payload, "durationMs").value_or(0);
  Usage total = excessOver(readTokens(json::findMember(entry.payload, "usage").value_or("")),
                           readTokens(json::findMember(entry.payload, "counted").value_or("")));
  total.cacheWriteHourTokens = std::min(total.cacheWriteHourTokens, total.cacheWriteTokens);  // a part of it
  const bool any = (total.inputTokens | total.outputTokens | total.cacheReadTokens | total.cacheWriteTokens) != 0;
  if (any) facts.usage = total;
}

// A request whose answer is not in the conversation (a summary, a title) cost as much as any other.
void readRequest(std::string_view payload, EntryFacts& facts) {
  const auto usage = json::findMember(payload, "usage");
  if (!usage) return;
  facts.model = withoutProvider(json::findString(payload, "model").value_or(""));
  facts.messageId = json::findString(*usage, "id").value_or("");
  facts.usage = readTokens(*usage);
}

// The members of a payload that are needed, found in one pass because a message may be long.
struct PayloadParts {
  std::optional<std::string_view> dialect;
  std::optional<std::string_view> message;
  std::optional<std::string_view> transcript;
};

PayloadParts partsOf(std::string_view payload) {
  PayloadParts parts;
  json::CheckedObject members(payload);
  while (const auto member = members.next()) {
    for (const auto& [name, part] : {std::pair("dialect", &parts.dialect), std::pair("message", &parts.message),
                                     std::pair("transcript", &parts.transcript)}) {
      if (!*part && member->keyIs(name)) *part = member->value;
    }
  }
  return parts;
}

// Returns true when bough made the id: a UUID of version 7.
bool isMadeByBough(std::string_view id) {
  return isUuid(id) && id[14] == '7';
}

// Returns the bough entry that an id in an exported file was made from; empty when the id has another origin. For a
// part of an entry, the number of the part follows the entry's id.
std::string_view exportedFrom(std::string_view messageId, std::string_view entryId) {
  if (isMadeByBough(entryId) && messageId.ends_with(entryId)) return entryId;
  const std::string_view whole = messageId.substr(0, messageId.rfind('/'));
  return isMadeByBough(whole) ? whole : "";
}

// Returns true when an answer's id was derived from the id of its line, because the line had no answer id.
bool isMadeOf(std::string_view messageId, std::string_view entryId) {
  if (entryId.empty() || messageId == entryId) return false;
  const std::size_t at = messageId.find(entryId);
  if (at == std::string_view::npos) return false;
  const std::string_view before = messageId.substr(0, at);
  const std::string_view after = messageId.substr(at + entryId.size());
  return before == "msg_" || before.ends_with('-') || after.starts_with('-');
}

// Determines the identity of an answer. Copies of an answer have the same answer id. Copies that bough makes (for a
// fork that gets its own copy) also have the same entry id, which is unique when bough made it. Without an id from the
// agent, copies still have the same place in the log, time, model and counts.
void readIdentity(const Entry& entry, const std::optional<std::string_view>& transcript, EntryFacts& facts) {
  if (!facts.usage) return;
  const auto isUnique = [](std::string_view id) { return id.size() >= 16; };
  if (const auto from = transcript ? exportedFrom(facts.messageId, entry.id) : ""; !from.empty()) {
    facts.identityIsCertain = true;
    facts.identity = "entry " + std::string(from);
    return;
  }
  if (transcript && isMadeOf(facts.messageId, entry.id)) {
    facts.identity = facts.messageId;
    return;
  }
  if (isUnique(facts.messageId)) {
    facts.identityIsCertain = true;
    facts.identity = facts.messageId;
    return;
  }
  facts.identityIsCertain = !transcript || !facts.messageId.empty();
  if (transcript && facts.identityIsCertain) {
    facts.identity = facts.messageId;
  } else if (!transcript && isUnique(entry.id)) {
    facts.identity = "entry " + entry.id;
  } else if (transcript) {
    const Usage& used = *facts.usage;
    facts.identity = fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {}", json::findString(*transcript, "agent").value_or(""),
                                 entry.id, entry.timestamp, facts.model, used.inputTokens, used.outputTokens,
                                 used.cacheReadTokens, used.cacheWriteTokens, used.reasoningTokens);
  }
}

EntryFacts readContent(const Entry& entry, const PayloadParts& parts, bool wantText, bool wantSpoken) {
  EntryFacts facts;
  if (entry.type == entry_type::kCompactionSummary || entry.type == entry_type::kBranchSummary) {
    facts.role = EntryRole::Summary;
    if (wantText) facts.text = json::findString(entry.payload, "summary").value_or("");
    readRequest(entry.payload, facts);
    return facts;
  }
  if (auto shown = wantText ? shownText(entry) : std::nullopt) {
    facts.text = std::move(shown->text);
    return facts;
  }
  if (entry.type == entry_type::kCustom) {
    json::findString(entry.payload, "kind") == "request" ? readRequest(entry.payload, facts) : readTurn(entry, facts);
  }
  if (entry.type != entry_type::kMessage) return facts;
  const std::string_view stored = parts.message.value_or(entry.payload);
  const auto name = parts.dialect ? json::decodeString(*parts.dialect) : std::nullopt;
  const auto dialect = name ? parseDialect(*name) : Dialect::Plain;
  if (!dialect) {
    readUnknown(stored, wantText, facts);
    return facts;
  }
  const auto message = normalize(stored, *dialect);
  message ? readMessage(*message, wantText, wantSpoken && !isTold(entry, *message), facts)
          : readUnknown(stored, wantText, facts);
  // The agent recorded that its provider reported no usage for the answer.
  if (!facts.usage && facts.role == EntryRole::Assistant && !entry.meta.empty() &&
      json::findMember(entry.meta, "usage") == "null") {
    facts.usage = Usage{};
  }
  // Some servers do not report which model answered, but the agent knows.
  if (facts.usage && facts.model.empty() && !entry.meta.empty()) {
    facts.model = withoutProvider(json::findString(entry.meta, "model").value_or(""));
  }
  return facts;
}

}  // namespace

std::string_view toString(EntryRole role) {
  const auto at = static_cast<std::size_t>(role);
  return at < std::size(kRoleNames) ? kRoleNames[at] : kRoleNames[0];
}

std::optional<EntryRole> parseRole(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kRoleNames); ++i) {
    if (kRoleNames[i] == name) return static_cast<EntryRole>(i);
  }
  return std::nullopt;
}

EntryFacts usageFacts(const Entry& entry) {
  const std::string_view usage = json::findMember(entry.payload, "usage").value_or("");
  EntryFacts facts;
  facts.messageId = json::findString(usage, "id").value_or("");
  facts.model = json::findString(usage, "model").value_or("");
  facts.usage = readTokens(usage);
  readIdentity(entry, json::findChecked(entry.payload, "transcript"), facts);
  return facts;
}

std::string transcriptAgent(const Entry& entry) {
  const auto transcript = json::findChecked(entry.payload, "transcript");
  const auto facts = transcript ? json::findMember(*transcript, "facts") : std::nullopt;
  return facts ? json::findString(*facts, "agent").value_or("") : std::string();
}

EntryFacts readFacts(const Entry& entry, bool wantText, bool wantSpoken) {
  const PayloadParts parts = partsOf(entry.payload);
  EntryFacts facts = readContent(entry, parts, wantText, wantSpoken);
  if (isConverted(entry)) facts.usage.reset();
  readIdentity(entry, parts.transcript, facts);
  return facts;
}

}  // namespace bough::catalog
