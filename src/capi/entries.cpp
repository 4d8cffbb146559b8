// Reading and appending entries.
#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "base/try.h"
#include "capi/objects.h"

namespace bough::capi {
namespace {

std::array<bough_text*, EntriesObject::kTexts> textsOf(bough_entry& entry) {
  return {&entry.id,     &entry.parent_id, &entry.type, &entry.timestamp,
          &entry.run_id, &entry.payload,   &entry.meta, &entry.extra};
}

Outcome readText(bough_text text, std::string_view name, std::string& out) {
  if (text.data == nullptr && text.size == 0) return {};
  BOUGH_TRY(out, optionalText(text, name));
  return {};
}

Outcome readEntry(const bough_entry& source, Entry& entry) {
  const bool root = source.flags == BOUGH_ENTRY_ROOT;
  if (source.flags != 0 && !root) return refuse("an entry has flags that append does not know");
  if (root && source.parent_id.size > 0) return refuse("a root has a parent_id");
  if (root || source.parent_id.data != nullptr || source.parent_id.size > 0) {
    BOUGH_TRY(readText(source.parent_id, "parent_id", entry.parentId.emplace()));
  }
  BOUGH_TRY(readText(source.id, "id", entry.id));
  BOUGH_TRY(readText(source.type, "type", entry.type));
  BOUGH_TRY(readText(source.timestamp, "timestamp", entry.timestamp));
  BOUGH_TRY(readText(source.run_id, "run_id", entry.runId));
  BOUGH_TRY(readText(source.payload, "payload", entry.payload));
  BOUGH_TRY(readText(source.meta, "meta", entry.meta));
  return readText(source.extra, "extra", entry.extra);
}

CallResult<std::optional<Durability>> readDurability(std::int32_t number) {
  switch (number) {
    case BOUGH_STORE_DEFAULT: return std::nullopt;
    case BOUGH_SYNC: return Durability::Sync;
    case BOUGH_BUFFERED: return Durability::Buffered;
    default: return refuse("durability is none of BOUGH_STORE_DEFAULT, BOUGH_SYNC and BOUGH_BUFFERED");
  }
}

CallResult<AppendOptions> readAppendOptions(const bough_append_options* options) {
  BOUGH_TRY(const auto read, completeOptions(options, bough_append_options_init));
  AppendOptions append;
  BOUGH_TRY(append.durability, readDurability(read.durability));
  BOUGH_TRY(const auto tail, optionalText(read.expected_tail, "expected_tail"));
  if (read.expected_tail.data != nullptr) append.expectedTail = std::string(tail);
  if (read.turn > 0) append.turn = read.turn;
  return append;
}

CallResult<AppendResult> append(const SessionObject& object, const bough_entry* entries, std::size_t count,
                                const bough_append_options* options) {
  if (entries == nullptr && count > 0) return refuse("there are no entries");
  if (count > kMaxBatchEntries) return refuse("a batch has at most a million entries");
  BOUGH_TRY(const auto appendOptions, readAppendOptions(options));
  std::vector<Entry> batch(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (auto read = readEntry(entries[i], batch[i]); !read) {
      read.error().error.batchPlace = i + 1;
      return std::unexpected(std::move(read).error());
    }
  }
  BOUGH_TRY(auto result, object.session.append(std::move(batch), appendOptions));
  return result;
}

CallResult<LoadOptions> readLoadOptions(const bough_load_options* options) {
  BOUGH_TRY(const auto read, completeOptions(options, bough_load_options_init));
  LoadOptions load;
  load.fromSequence = read.from;
  load.limit = read.limit;
  load.limitBytes = read.limit_bytes;
  if (read.last > 0) load.last = read.last;
  BOUGH_TRY(const auto branch, optionalText(read.branch, "branch"));
  if (read.branch.data != nullptr) load.branch = std::string(branch);
  BOUGH_TRY(const auto type, optionalText(read.type, "type"));
  load.type = type;
  load.showRedacted = read.show_redacted != 0;
  return load;
}

}  // namespace

EntriesObject::EntriesObject(std::span<const Entry> entries) {
  std::size_t size = 0;
  for (const Entry& entry : entries) {
    size += entry.id.size() + entry.type.size() + entry.timestamp.size() + entry.runId.size() + entry.payload.size() +
            entry.meta.size() + entry.extra.size() + (entry.parentId ? entry.parentId->size() : 0);
  }
  bytes_.reserve(size);
  ends_.reserve(entries.size() * kTexts);
  flags_.reserve(entries.size());
  for (const Entry& entry : entries) add(entry);
}

void EntriesObject::add(const Entry& entry) {
  const std::string_view parent = entry.parentId ? std::string_view(*entry.parentId) : std::string_view();
  for (const std::string_view text :
       {std::string_view(entry.id), parent, std::string_view(entry.type), std::string_view(entry.timestamp),
        std::string_view(entry.runId), std::string_view(entry.payload), std::string_view(entry.meta),
        std::string_view(entry.extra)}) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  std::uint32_t flags = 0;
  if (entry.redacted) flags |= BOUGH_ENTRY_REDACTED;
  if (parent.empty()) flags |= BOUGH_ENTRY_ROOT;
  flags_.push_back(flags);
}

bough_entry EntriesObject::entry(std::size_t index) const {
  bough_entry entry{};
  entry.flags = flags_[index];
  std::size_t at = index * kTexts;
  std::uint64_t begin = at == 0 ? 0 : ends_[at - 1];
  for (bough_text* text : textsOf(entry)) {
    *text = {bytes_.data() + begin, static_cast<std::size_t>(ends_[at] - begin)};
    begin = ends_[at++];
  }
  return entry;
}

bough_packed EntriesObject::packed() const {
  return {count(), bytes_.data(), bytes_.size(), ends_.data(), flags_.data()};
}

Outcome returnEntries(std::span<const Entry> entries, bough_entries** out) {
  return returnObject(std::make_shared<EntriesObject>(entries), out);
}

}  // namespace bough::capi

using namespace bough;
using namespace bough::capi;

extern "C" {

void bough_append_options_init(bough_append_options* options, uint32_t struct_size) {
  initOptions(options, struct_size, {sizeof(bough_append_options), BOUGH_STORE_DEFAULT, {nullptr, 0}, 0});
}

void bough_load_options_init(bough_load_options* options, uint32_t struct_size) {
  initOptions(options, struct_size,
              {sizeof(bough_load_options), 0, 0, UINT64_MAX, UINT64_MAX, 0, {nullptr, 0}, {nullptr, 0}});
}

int32_t bough_append(bough_session* session, const bough_entry* entries, size_t count,
                     const bough_append_options* options, bough_appended* counts, bough_text* last_id) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(last_id));
    ResultText resultText(sizeof(bough_appended_one::id) - 1);
    BOUGH_TRY(const auto result, append(*object, entries, count, options));
    resultText.text() = result.lastAppendedEntryId;
    resultText.moveTo(last_id);
    if (counts != nullptr) *counts = {result.appendedCount, result.duplicateCount};
    return {};
  });
}

int32_t bough_append_one(bough_session* session, const bough_entry* entry, const bough_append_options* options,
                         bough_appended_one* out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(out));
    BOUGH_TRY(const auto result, append(*object, entry, 1, options));
    const std::string& id = result.lastAppendedEntryId;
    BOUGH_CHECK(id.size() < sizeof out->id);
    *out = {static_cast<uint32_t>(result.appendedCount), static_cast<uint32_t>(id.size()), {}};
    std::ranges::copy(id, out->id);
    return {};
  });
}

int32_t bough_begin_turn(bough_session* session, uint64_t* turn) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(turn));
    BOUGH_TRY(*turn, object->session.beginTurn());
    return {};
  });
}

int32_t bough_lease_turn(bough_session* session, uint64_t lease_ms, uint64_t* turn) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(turn));
    BOUGH_TRY(*turn, object->session.leaseTurn(lease_ms));
    return {};
  });
}

int32_t bough_renew_turn(bough_session* session, uint64_t turn, uint64_t lease_ms) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(object->session.renewTurn(turn, lease_ms));
    return {};
  });
}

int32_t bough_load(bough_session* session, const bough_load_options* options, bough_entries** out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto load, readLoadOptions(options));
    BOUGH_TRY(const auto entries, object->session.load(load));
    return returnEntries(entries, out);
  });
}

int32_t bough_load_entry(bough_session* session, bough_text id, bough_entries** out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto entryId, requiredText(id, "id"));
    std::vector<Entry> entries(1);
    BOUGH_TRY(entries.front(), object->session.entry(std::string(entryId)));
    return returnEntries(entries, out);
  });
}

int32_t bough_load_history(bough_session* session, bough_text id, bough_entries** out) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto entryId, optionalText(id, "id"));
    BOUGH_TRY(const auto entries, object->session.conversation(std::string(entryId)));
    return returnEntries(entries, out);
  });
}

size_t bough_entries_count(bough_entries* entries) {
  const auto object = std::dynamic_pointer_cast<EntriesObject>(findObject(entries));
  return object ? object->count() : 0;
}

int32_t bough_entries_get(bough_entries* entries, size_t index, bough_entry* out) {
  return runCallOn<EntriesObject>(entries, [&](const auto& object) -> Outcome {
    if (index >= object->count()) return refuse("there is no entry of that index");
    BOUGH_TRY(requireOutParameter(out));
    *out = object->entry(index);
    return {};
  });
}

int32_t bough_entries_packed(bough_entries* entries, bough_packed* out) {
  return runCallOn<EntriesObject>(entries, [&](const auto& object) -> Outcome {
    BOUGH_TRY(requireOutParameter(out));
    *out = object->packed();
    return {};
  });
}

void bough_entries_close(bough_entries* entries) {
  if (std::dynamic_pointer_cast<EntriesObject>(findObject(entries))) removeObject(entries);
}

}  // extern "C"
