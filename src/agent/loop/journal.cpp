#include "agent/loop/journal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/payloads.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr int kMostAttempts = 20;

// Returns false for labels, titles and redactions: they describe the session and do not continue it.
bool continuesSession(const Entry& entry) {
  return !isControlType(entry.type) || entry.type == entry_type::kHead;
}

bool concernsCall(const Entry& entry, const std::string& toolCallId) {
  if (entry.type == entry_type::kToolStart) return json::findString(entry.payload, "toolCallId") == toolCallId;
  return entry.type == entry_type::kMessage && entry.payload.find(json::quoted(toolCallId)) != std::string::npos;
}

std::unexpected<Error> conflictError() {
  return fail(
      ErrorCode::Conflict, "another chat has continued this session meanwhile",
      "nothing was sent; look at what was said (/history), then send the message again, or use --on-conflict branch");
}

}  // namespace

Journal::Journal(SessionStore& store, std::string sessionId, std::string parentId, std::string tailId,
                 std::string runId, std::optional<std::uint64_t> turn)
    : store_(store),
      sessionId_(std::move(sessionId)),
      runId_(std::move(runId)),
      parentId_(std::move(parentId)),
      tailId_(std::move(tailId)),
      turn_(turn) {}

std::string Journal::parentId() const {
  const std::lock_guard lock(mutex_);
  return parentId_;
}

void Journal::goBackTo(const std::string& entryId) {
  const std::lock_guard lock(mutex_);
  parentId_ = entryId;
}

std::string Journal::tailId() const {
  const std::lock_guard lock(mutex_);
  return tailId_;
}

Entry Journal::makeEntry(std::string_view type, std::string payload, std::string meta) const {
  Entry entry;
  entry.type = type;
  entry.runId = runId_;
  entry.payload = std::move(payload);
  entry.meta = std::move(meta);
  return entry;
}

Result<std::string> Journal::append(std::string_view type, std::string payload, std::string meta) {
  std::vector<Entry> batch;
  batch.push_back(makeEntry(type, std::move(payload), std::move(meta)));
  return append(std::move(batch));
}

Result<std::string> Journal::append(std::vector<Entry> entries) {
  return appendAfterTail(std::move(entries), [](const std::vector<Entry>&) -> Result<void> { return {}; });
}

Result<std::string> Journal::begin(std::string_view type, std::string payload, OnConflict onConflict,
                                   std::string meta) {
  std::vector<Entry> batch;
  batch.push_back(makeEntry(type, std::move(payload), std::move(meta)));
  return appendAfterTail(std::move(batch), [&](const std::vector<Entry>& others) -> Result<void> {
    if (onConflict == OnConflict::Branch || std::ranges::none_of(others, continuesSession)) return {};
    return conflictError();
  });
}

Result<void> Journal::beginTurn() {
  auto session = store_.session(sessionId_);
  auto turn = session ? session->beginTurn() : std::unexpected(session.error());
  if (!turn && turn.error().code != ErrorCode::Unsupported) return std::unexpected(turn.error());
  const std::lock_guard lock(mutex_);
  if (turn) turn_ = *turn;
  return {};
}

Result<std::string> Journal::startTool(const std::string& toolCallId, const std::string& name,
                                       std::optional<std::string> copy) {
  json::Writer writer;
  writer.beginObject().member("toolCallId", toolCallId).member("name", name).endObject();
  std::vector<Entry> batch;
  if (copy) batch.push_back(makeEntry(entry_type::kCustom, std::move(*copy)));
  batch.push_back(makeEntry(entry_type::kToolStart, writer.take()));
  return appendAfterTail(std::move(batch), [&](const std::vector<Entry>& others) -> Result<void> {
    if (std::ranges::none_of(others, [&](const Entry& entry) { return concernsCall(entry, toolCallId); })) return {};
    return fail(ErrorCode::Conflict, fmt::format("another chat has taken over the tool call {}", toolCallId),
                "it is not run here");
  });
}

// In a fork without entries of its own, the tail is the header, and the shared entries come after it.
Result<std::vector<Entry>> Journal::appendedByOthers() {
  std::string position = tailId_;
  BOUGH_TRY(const auto state, store_.sessionState(sessionId_));
  if (state.origin) {
    BOUGH_TRY(store_.readOwnEntries(sessionId_, 0, 1, [&](std::uint64_t, const Entry& header) {
      if (header.id == tailId_) position = state.origin->entryId;
    }));
  }
  BOUGH_TRY(auto cursor, store_.openCursor(sessionId_, position));
  return cursor.next(SIZE_MAX);
}

Result<std::string> Journal::appendAfterTail(std::vector<Entry> entries, const CheckOthers& check) {
  const std::lock_guard lock(mutex_);
  entries.front().parentId = parentId_;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    auto done = store_.appendSessionEntries(sessionId_, entries, {.expectedTail = tailId_, .turn = turn_});
    if (done) {
      parentId_ = done->lastAppendedEntryId;
      tailId_ = done->lastAppendedEntryId;
      return done->lastAppendedEntryId;
    }
    if (done.error().code != ErrorCode::Conflict || done.error().latestTurn > 0) return std::unexpected(done.error());
    BOUGH_TRY(const auto others, appendedByOthers());
    if (others.empty()) continue;
    BOUGH_TRY(check(others));
    tailId_ = others.back().id;
  }
  return fail(ErrorCode::Busy, "others keep appending to this session", "try again");
}

Result<std::vector<Entry>> loadBack(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                    const std::function<bool(const std::vector<Entry>&)>& enough) {
  constexpr std::size_t kFirst = 256;
  for (std::size_t count = kFirst;; count *= 4) {
    auto entries = store.loadSessionEntries(sessionId, {.last = count, .branch = headId});
    if (!entries || enough(*entries) || entries->size() < count) return entries;
  }
}

std::string textBlock(std::string_view text) {
  return json::Writer().beginObject().member("type", "text").member("text", text).endObject().take();
}

std::string userPayload(const UserMessage& message) {
  json::Writer writer;
  writer.beginObject().member("role", "user").key("content").beginArray().raw(textBlock(message.text));
  for (const std::string& block : message.blocks) writer.raw(block);
  return messagePayload(Dialect::Bough, writer.endArray().endObject().text());
}

std::string resultPayload(std::string_view toolCallId, std::string_view name, std::string_view text, bool isError) {
  json::Writer writer;
  writer.beginObject().member("role", "tool").key("content").beginArray();
  writer.beginObject().member("type", "tool_result").member("id", toolCallId).member("name", name);
  if (isError) writer.member("isError", true);
  return messagePayload(Dialect::Bough, writer.member("content", text).endObject().endArray().endObject().text());
}

}  // namespace bough::agent
