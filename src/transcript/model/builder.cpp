#include "transcript/model/builder.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "transcript/model/ids.h"

namespace bough::transcript {
namespace {

// When a file holds no time at all: equal input must give equal entries.
constexpr std::string_view kNoTime = "1970-01-01T00:00:00.000Z";

std::uint64_t hashOf(std::string_view id) {
  return std::hash<std::string_view>{}(id);
}

// What the rules of an append take as a label.
bool isLabel(std::string_view name) {
  constexpr std::size_t kMostBytes = 128;
  return !name.empty() && name.size() <= kMostBytes && name.front() != '@' && !name.contains('~') &&
         name.front() != ' ' && name.back() != ' ' && text::printable(name) == name && !name.contains("\uFFFD");
}

// A JSON object without its closing brace.
std::string opened(std::string_view object) {
  return std::string(object.substr(0, object.rfind('}')));
}

}  // namespace

Builder::Builder(std::string_view agent, std::uint64_t fromOffset, const Use& use)
    : idScope(agent), agent_(agent), fromOffset_(fromOffset), use_(use) {
  facts.agent = agent;
}

void Builder::message(const Record& record, const Place& place, Dialect dialect, std::string_view message,
                      std::vector<Hole> holes) {
  std::string payload = "{\"dialect\":";
  json::appendQuoted(payload, toString(dialect));
  payload += ",\"message\":";
  payload += message;
  for (Hole& hole : holes) hole.path = "message/" + hole.path;
  // A message that is a part of the line is its own hole; any other is not in the line at all.
  if (holes.empty()) holes.push_back({"message", message});
  ++report_.messages;
  give(record, place, entry_type::kMessage, std::move(payload), std::move(holes));
}

void Builder::entry(const Record& record, const Place& place, std::string_view type, std::string_view payload,
                    std::vector<Hole> holes) {
  give(record, place, type, opened(payload), std::move(holes));
}

void Builder::keep(const Record& record, const Place& place, std::string_view what, std::string_view info) {
  give(record, place, entry_type::kSessionInfo, "{" + std::string(info), {}, what);
}

void Builder::label(const Record& record, const Place& place, std::string_view targetId, std::string_view name) {
  const std::string target = entryFor(targetId);
  if (target.empty() || !isLabel(name)) {
    damage(record, target.empty() ? "a label of an entry that is not there" : "a name that cannot be a label");
    keep(record, place, "label");
    return;
  }
  labels_.insert(std::string(name));
  std::string payload = "{\"name\":";
  json::appendQuoted(payload, name);
  payload += ",\"entryId\":";
  json::appendQuoted(payload, target);
  give(record, place, entry_type::kLabel, std::move(payload), {}, "label");
}

void Builder::removeLabel(const Record& record, const Place& place, std::string_view name) {
  if (labels_.erase(std::string(name)) == 0) return keep(record, place, "label");
  std::string payload = "{\"name\":";
  json::appendQuoted(payload, name);
  payload += ",\"entryId\":null";
  give(record, place, entry_type::kLabel, std::move(payload), {}, "label");
}

void Builder::setHead(std::string_view id) {
  const std::string target = entryFor(id);
  if (target.empty()) return;
  headId_ = target;
  headSet_ = true;
}

std::string Builder::entryFor(std::string_view id) const {
  if (const auto found = ids_.find(std::string(id)); found != ids_.end()) return found->second;
  return known_.contains(hashOf(id)) ? entryIdOf(id) : std::string();
}

void Builder::alias(std::string_view id, std::string_view sameAs) {
  ids_[std::string(id)] = entryFor(sameAs);
}

void Builder::damage(const Record& record, std::string_view reason, bool recovered) {
  if (record.offset < fromOffset_) return;
  ++(recovered ? report_.recovered : report_.unreadable);
  if (report_.damage.size() >= TranscriptReport::kMaxDamage) return;
  report_.damage.push_back({record.offset, record.sizeBytes, std::string(reason), recovered});
}

// The entry's id. One that occurs a second time is another entry; from then on its id means that one.
std::string Builder::idOf(const Record& record, const Place& place) {
  std::string byOffset = entryIdAt(idScope, record.offset, part_);
  if (place.id.empty()) return byOffset;
  const std::string key(place.id);
  if (known_.contains(hashOf(place.id)) || ids_.contains(key)) {
    damage(record, "an id that was used before");
    fixed_ = true;
    ids_[key] = byOffset;
    return byOffset;
  }
  known_.insert(hashOf(place.id));
  return entryIdOf(place.id);
}

std::string Builder::parentOf(const Record& record, const Place& place, std::string_view id) {
  const std::string& before = lastId_.empty() ? facts.parentEntryId : lastId_;
  if (!place.parent) return before;
  if (place.parent->empty()) return {};
  if (const auto found = ids_.find(std::string(*place.parent)); found != ids_.end()) return found->second;
  if (known_.contains(hashOf(*place.parent)) && *place.parent != place.id) return entryIdOf(*place.parent);
  fixed_ = true;
  if (*place.parent == foreignIdOf(id) || *place.parent == place.id) {
    damage(record, "an entry that names itself as its parent");
  } else {
    damage(record, "a parent that is not there, or comes later; the entry continues from the one before it");
  }
  return before;
}

std::string Builder::timeOf(const Place& place) {
  if (const auto time = parseTimestamp(place.timestamp)) lastTime_ = formatTimestamp(*time);
  if (lastTime_.empty()) {
    const auto created = parseTimestamp(facts.created);
    lastTime_ = created ? formatTimestamp(*created) : std::string(kNoTime);
  }
  return lastTime_;
}

void Builder::give(const Record& record, const Place& place, std::string_view type, std::string payload,
                   std::vector<Hole> holes, std::string_view what) {
  const bool first = record.offset != lineOffset_;
  if (first) {
    lineOffset_ = record.offset;
    part_ = 0;
    if (!record.reason.empty() && record.kind == RecordKind::Json) damage(record, record.reason);
  }
  const bool control = isControlType(type);
  fixed_ = false;
  Entry entry;
  if (control) {
    // Its own id, when it has one, means its parent to the entries after it.
    entry.id = entryIdAt(idScope, record.offset, part_);
    // The whole line will have that id when the rest of it has come.
    if (record.kind == RecordKind::Torn) entry.id += fmt::format(".torn{}", record.sizeBytes);
    if (!place.id.empty()) {
      std::string parent = parentOf(record, place, entry.id);
      known_.erase(hashOf(place.id));
      ids_[std::string(place.id)] = std::move(parent);
    }
  } else {
    entry.parentId = parentOf(record, place, {});
    entry.id = idOf(record, place);
  }
  entry.type = type;
  entry.timestamp = timeOf(place);
  entry.runId = isEntryId(place.runId) ? place.runId : std::string_view();
  Origin origin;
  origin.agent = agent_;
  origin.at = record.offset;
  origin.sizeBytes = first ? record.sizeBytes : 0;
  origin.what = what;
  origin.fixed = fixed_;
  origin.torn = record.kind == RecordKind::Torn;
  if (record.repaired) holes.clear();
  appendOrigin(payload, origin, first ? record.raw : std::string_view(), std::move(holes));
  payload += '}';
  entry.payload = std::move(payload);
  ++part_;
  if (!control) lastId_ = entry.id;
  if (record.offset < fromOffset_ || error_) return;
  ++report_.entries;
  if (auto used = use_(std::move(entry)); !used) error_ = used.error();
}

void Builder::keepBytes(const Record& record) {
  switch (record.kind) {
    case RecordKind::Torn:
      damage(record, record.reason.empty() ? "a record that is not complete" : record.reason, false);
      give(record, {}, entry_type::kSessionInfo, "{", {}, "torn");
      break;
    case RecordKind::Skipped:
      report_.skippedBytes += record.sizeBytes;
      damage(record, record.reason, false);
      give(record, {}, entry_type::kSessionInfo, "{", {}, "skipped");
      break;
    case RecordKind::Damaged:
      damage(record, record.reason, false);
      give(record, {}, entry_type::kSessionInfo, "{", {}, "damaged");
      break;
    default: give(record, {}, entry_type::kSessionInfo, "{", {}, "blank"); break;
  }
}

TranscriptReport Builder::finish() {
  report_.facts = facts;
  report_.headId = headSet_ ? headId_ : lastId_;
  return std::move(report_);
}

}  // namespace bough::transcript
