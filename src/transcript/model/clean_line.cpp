#include "transcript/model/clean_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/bytes/sha256.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "transcript/model/ids.h"
#include "transcript/model/uuid.h"

namespace bough::transcript {

std::string cleanLines(std::string_view bytes, const Origin& origin, const Agent& agent) {
  constexpr std::string_view kAround("\xEF\xBB\xBF \t\r\n,\0", 9);
  std::string out;
  if (origin.lineKind == "blank" || origin.lineKind == "damaged" || origin.lineKind == kRepeated || origin.torn)
    return out;
  const std::size_t first = bytes.find_first_not_of(kAround);
  if (first == std::string_view::npos) return out;
  bytes = bytes.substr(first, bytes.find_last_not_of(kAround) + 1 - first);
  // A part of a document may have line breaks between its tokens.
  const std::string whole = bytes.contains('\n') ? repairUtf8(bytes) : std::string();
  if (!whole.empty() && json::check(whole)) {
    out = whole;
    std::erase_if(out, [](char c) { return c == '\n' || c == '\r'; });
    return out + "\n";
  }
  const auto source = fromMemory(bytes);
  LineRecords records(*source, agent.isRecord);
  // lines of one entry that have an id; a line that occurs twice is written once
  std::unordered_set<std::string> written;
  for (auto record = records.next(); record && *record; record = records.next()) {
    if ((*record)->kind != RecordKind::Json) continue;
    const std::string line = std::string((*record)->text) + "\n";
    const bool hasId = !agent.idMember.empty() && json::findMember(line, agent.idMember);
    if (!hasId || written.insert(line).second) out += line;
  }
  return out;
}

bool isWholeRecord(const Entry& entry, const Origin& origin, const Agent& agent) {
  if (!origin.hasLine || !isConversation(entryKind(entry.type))) return true;
  const std::string lines = cleanLines(lineOf(entry).value_or(""), origin, agent);
  for (std::string_view rest = lines; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    if (!json::check(rest.substr(0, rest.find('\n')))) return false;
  }
  return true;
}

namespace {

// Returns whether the entry's id was used before, so that its line gets a new id in a clean copy. Lines that refer to
// it get the new id, too; when they have no member for it, they are written again.
bool isRenamed(const Entry& entry) {
  if (isForeignId(entry.id)) return false;
  const auto origin = originOf(entry);
  return origin && origin->differsFromLine;
}

// Replaces an id in a line. `named` is the value in the line, `id` the new id as lines have it; empty for null.
void replaceId(std::string& line, std::string_view named, const std::string& id) {
  const std::string value = id.empty() ? "null" : json::quoted(id);
  line.replace(static_cast<std::size_t>(named.data() - line.data()), named.size(), value);
}

// Returns whether an entry has exactly one line, with an id that can be replaced.
bool isOneLineWithId(const Entry& entry, const Agent& agent) {
  const std::string lines = cleanLines(lineOf(entry).value_or(""), *originOf(entry), agent);
  return lines.find('\n') + 1 == lines.size() && !json::findString(lines, agent.idMember).value_or("").empty();
}

}  // namespace

// Returns an id of the same kind that no earlier line has.
std::string CleanParents::freshId(const std::string& id, const Entry& entry) const {
  constexpr std::size_t kUuidSize = 36;
  constexpr std::size_t kDigits = 8;
  for (std::uint32_t i = 0;; ++i) {
    const std::string name = fmt::format("{} {} {}", id, originOf(entry)->offset, i);
    std::string fresh = id.size() == kUuidSize ? uuidFor(name) : Sha256::of(name).substr(0, kDigits);
    if (!written_.contains(hashOf(fresh))) return fresh;
  }
}

// Lines after a line whose id was replaced refer to that line.
void CleanParents::replaceNames(std::string& line) const {
  for (const std::string_view member : agent_.nameMembers) {
    const auto named = json::findMember(line, member);
    const auto found = named ? renamed_.find(json::decodeString(*named).value_or("")) : renamed_.end();
    if (found != renamed_.end()) replaceId(line, *named, found->second);
  }
}

std::string CleanParents::clean(std::string_view bytes, const Entry& entry, const std::string& parentId) {
  const auto origin = originOf(entry);
  const std::string lines = cleanLines(bytes, *origin, agent_);
  if (agent_.parentMember.empty()) return lines;
  const bool isInConversation = isConversation(entryKind(entry.type));
  const auto renamed = isInConversation ? newIds_.find(parentId) : newIds_.end();
  bool isWrong = origin->differsFromLine || renamed != newIds_.end();
  // A line outside the conversation belongs to the line before it.
  std::string parent = renamed != newIds_.end() ? renamed->second
                       : isInConversation       ? foreignIdOf(parentId)
                                                : lastConversationId_;
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size() - 1) + 1;
    std::string line = lines.substr(at, end - at);
    at = end;
    std::string id = json::findString(line, agent_.idMember).value_or("");
    // A line that is already there was part of an answer.
    if (isInConversation && !id.empty() && !lines_.insert(hashOf(line)) && !isRenamed(entry)) continue;
    const auto named = json::findMember(line, agent_.parentMember);
    const std::string name = named ? json::decodeString(*named).value_or("") : "";
    const bool isThere = name.empty() || written_.contains(hashOf(name));
    const auto other = renamed_.find(name);
    if (named && (isWrong || !isThere)) {
      replaceId(line, *named, parent);
    } else if (other != renamed_.end()) {
      replaceId(line, *named, other->second);
    }
    isWrong = false;
    if (isInConversation ? isRenamed(entry) : written_.contains(hashOf(id))) {
      const std::string fresh = freshId(id, entry);
      replaceId(line, *json::findMember(line, agent_.idMember), fresh);
      renamed_[id] = fresh;
      id = fresh;
    }
    if (isInConversation && !id.empty() && !isForeignId(entry.id)) newIds_[entry.id] = id;
    replaceNames(line);
    add(line, entry);
    // The next line of an answer continues this one.
    if (!id.empty()) parent = std::move(id);
    out += line;
  }
  return out;
}

std::string CleanParents::relinked(std::string_view bytes, const Entry& entry, const std::string& parentId) {
  const auto origin = originOf(entry);
  if (agent_.parentMember.empty() || !origin) return std::string(bytes);
  const auto written = lastIds_.find(parentId);
  const bool isInConversation = isConversation(entryKind(entry.type));
  std::string parent = !isInConversation           ? lastConversationId_
                       : written == lastIds_.end() ? foreignIdOf(parentId)
                                                   : written->second;
  std::string out;
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    std::string line(bytes.substr(0, end));
    bytes.remove_prefix(end);
    const std::size_t begin = line.find_first_not_of(" \t\r\n");
    if (begin != std::string::npos && line[begin] == '{' && json::check(line)) {
      const auto named = json::findMember(line, agent_.parentMember);
      const std::string name = named ? json::decodeString(*named).value_or("") : "";
      // A parent that is missing in the agent's own file, too, stays unchanged.
      if (!name.empty() && !origin->differsFromLine && !written_.contains(hashOf(name)))
        replaceId(line, *named, parent);
      if (std::string id = add(line, entry); !id.empty()) parent = std::move(id);
    }
    out += line;
  }
  return out;
}

void CleanParents::addWritten(std::string_view lines, const Entry& entry) {
  std::string id = add(lines, entry);
  if (id.empty()) return;
  lastIds_[entry.id] = id;
  if (!isForeignId(entry.id)) newIds_[entry.id] = std::move(id);
}

// Returns the id of the last line that has one.
std::string CleanParents::add(std::string_view lines, const Entry& entry) {
  const bool isInConversation = isConversation(entryKind(entry.type));
  std::string last;
  while (!agent_.idMember.empty() && !lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::string id = json::findString(line, agent_.idMember).value_or("");
    if (id.empty()) continue;
    written_.insert(hashOf(id));
    if (isInConversation) lastConversationId_ = id;
    last = id;
  }
  return last;
}

namespace {

// Returns whether a line's id and parent are right in a clean copy, if necessary after its parent was replaced.
bool canBeClean(const Entry& entry, const Entry* parent, const Agent& agent) {
  // The id of a line outside the conversation occurs only in that line.
  if (!isConversation(entryKind(entry.type))) return true;
  if (parent != nullptr && isRenamed(*parent) && agent.parentMember.empty()) return false;
  if (!originOf(entry)->differsFromLine) return true;
  // When other lines name a parent without an id, the parent is written again with an id.
  return !agent.parentMember.empty() && (isForeignId(entry.id) || isOneLineWithId(entry, agent));
}

}  // namespace

std::vector<std::size_t> namedWithoutId(const EntryList& entries, const Agent& agent) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < entries.size() && !agent.parentMember.empty(); ++i) {
    const std::size_t parent = entries.isInConversation(i) ? entries.parent(i) : EntryList::kNone;
    if (parent == EntryList::kNone || isForeignId(entries.id(parent))) continue;
    const auto line = lineOf(*entries.at(i));
    if (!line || !json::findMember(*line, agent.parentMember)) continue;
    const EntryPin named = entries.at(parent);
    if (!originOf(*named) || !isOneLineWithId(*named, agent)) places.push_back(parent);
  }
  return places;
}

bool isSameFormat(const Agent& agent, std::string_view name) {
  if (name == agent.name) return true;
  const Agent* other = findAgent(name);
  return other != nullptr && other->format == agent.format && !other->format.empty();
}

bool isLineOf(const Agent& agent, const Entry& entry, const Entry* continued, bool clean) {
  const auto origin = originOf(entry);
  if (!origin || !isSameFormat(agent, origin->agent)) return false;
  return !clean || (isWholeRecord(entry, *origin, agent) && canBeClean(entry, continued, agent));
}

bool moveHeaderToFront(const EntryList& entries, const Agent& agent, std::vector<std::size_t>& order) {
  if (agent.isHeader == nullptr) return true;
  const auto found = std::ranges::find_if(order, [&](std::size_t place) {
    const EntryPin entry = entries.at(place);
    const auto origin = originOf(*entry);
    const auto line = origin && origin->agent == agent.name ? lineOf(*entry) : std::nullopt;
    return line && agent.isHeader(cleanLines(*line, *origin, agent));
  });
  if (found == order.end()) return false;
  std::rotate(order.begin(), found, found + 1);
  return true;
}

}  // namespace bough::transcript
