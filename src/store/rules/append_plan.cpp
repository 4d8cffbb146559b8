#include "store/rules/append_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/sha256.h"
#include "base/model/head.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"

namespace bough {
namespace {

Result<PlannedEntry> planEntry(const Entry& given, const EntrySerializer& serializer, IdGenerator& ids,
                               const std::string& now) {
  PlannedEntry planned{.entry = given, .kind = entryKind(given.type)};
  BOUGH_TRY(checkType(given, planned.kind));
  planned.idGiven = !given.id.empty();
  planned.timestampGiven = !given.timestamp.empty();
  if (!planned.idGiven) planned.entry.id = ids.next();
  if (!planned.timestampGiven) planned.entry.timestamp = now;
  // Written and read back: without the blanks that reading leaves out, and refused when it breaks the format.
  const auto parent = planned.entry.parentId;
  if (!parent) planned.entry.parentId = "";
  std::string text;
  BOUGH_TRY(serializer.encode(planned.entry, text));
  BOUGH_TRY(checkSize(given, text.size()));
  BOUGH_TRY(planned.entry, serializer.decode(text));
  planned.entry.parentId = parent;
  BOUGH_TRY(checkPayload(planned.entry, planned.kind));
  planned.contentHash = contentHashOf(planned.entry);
  planned.target = targetOf(planned.entry, planned.kind);
  std::string moved;
  if (const auto head = headAfter(planned.kind, planned.entry.id, planned.entry.payload, moved)) {
    planned.movesHead = std::string(*head);
  }
  return planned;
}

Result<void> checkParentPlace(const std::vector<Entry>& entries, std::size_t place) {
  const Entry& entry = entries[place];
  if (entry.parentId.value_or("").empty()) return {};
  if (entry.parentId == entry.id) return invalidEntry(entry, "the entry names itself as its parent", kParentHint);
  const auto at = std::ranges::find(entries, *entry.parentId, &Entry::id);
  if (at == entries.end() || at < entries.begin() + static_cast<std::ptrdiff_t>(place)) return {};
  return invalidEntry(entry, "its parent comes later in the batch", "put parents first");
}

}  // namespace

std::string contentHashOf(const Entry& entry) {
  const auto reference = readAttachmentReference(entry.payload);
  std::string text;
  for (const std::string& part :
       {entry.type, entry.runId, reference ? *reference : Sha256::of(entry.payload), entry.meta, entry.extra}) {
    text += fmt::format("{}:", part.size());
    text += part;
  }
  return Sha256::of(text);
}

Result<std::vector<PlannedEntry>> planAppend(const AppendRequest& request, const EntrySerializer& serializer,
                                             IdGenerator& ids, Clock& clock) {
  if (request.entries.empty()) return fail(ErrorCode::InvalidArgument, "a batch without entries", "give at least one");
  const std::string now = formatTimestamp(clock.nowMs());
  std::vector<PlannedEntry> plan;
  plan.reserve(request.entries.size());
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    auto planned = planEntry(request.entries[i], serializer, ids, now);
    if (auto placed = checkParentPlace(request.entries, i); planned && !placed) {
      planned = std::unexpected(placed.error());
    }
    if (!planned) {
      planned.error().batchPlace = i + 1;
      return std::unexpected(planned.error());
    }
    plan.push_back(std::move(*planned));
  }
  return plan;
}

}  // namespace bough
