#include "cli/names/entry_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/json/json_scan.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/message.h"
#include "cli/definition/help.h"
#include "cli/names/session_titles.h"

namespace bough::cli {
namespace {

constexpr const char* kHint = "`bough tree SESSION --ids` shows the entries, `bough labels SESSION` the labels";

Result<std::string> headOf(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(auto state, store.sessionState(sessionId));
  if (!state.headId.empty()) return std::move(state.headId);
  return fail(ErrorCode::NotFound,
              fmt::format("the head of session {} is before its first entry", idAndTitle(store, sessionId)),
              "append a message, or name another entry");
}

Result<std::string> idAt(SessionStore& store, const std::string& sessionId, Sequence node) {
  BOUGH_TRY(auto entries, store.loadEntriesAt(sessionId, {node}));
  return std::move(entries.front().id);
}

// Returns the first message of the head's branch; if the branch has no messages, its first entry; otherwise the first
// entry of the session.
Result<std::string> rootOf(SessionStore& store, const std::string& sessionId) {
  BOUGH_TRY(const auto state, store.sessionState(sessionId));
  if (!state.headId.empty()) {
    BOUGH_TRY(const auto first,
              store.loadSessionEntries(
                  sessionId, {.limit = 1, .branch = state.headId, .types = {std::string(entry_type::kMessage)}}));
    if (!first.empty()) return first.front().id;
  }
  BOUGH_TRY(auto tree, store.loadTree(sessionId));
  const Sequence root = tree.head() == kNoSequence ? tree.firstRoot() : tree.root(tree.head());
  if (root != kNoSequence) return idAt(store, sessionId, root);
  return fail(ErrorCode::NotFound, fmt::format("session {} has no entries yet", idAndTitle(store, sessionId)),
              "`bough append` adds the first one");
}

Result<std::string> ancestorOf(SessionStore& store, const std::string& sessionId, const std::string& entryId,
                               std::size_t steps) {
  BOUGH_TRY(auto tree, store.loadTree(sessionId));
  BOUGH_TRY(auto node, store.sequenceOf(sessionId, entryId));
  if (!tree.isNode(node)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("entry {} is not part of the conversation", entryId), kHint);
  }
  const std::size_t depth = tree.depth(node);
  if (steps > depth) {
    return fail(ErrorCode::NotFound, fmt::format("entry {} has only {} before it, not {}", entryId, depth, steps),
                kHint);
  }
  return idAt(store, sessionId, tree.ancestor(node, steps));
}

// Removes every "~3" from the end of a name and returns the sum of the steps; a bare ~ is one step.
std::size_t takeSteps(std::string& name) {
  std::size_t sum = 0;
  for (std::size_t at = name.rfind('~'); at != std::string::npos; at = name.rfind('~')) {
    std::uint32_t steps = 1;
    const char* begin = name.data() + at + 1;
    const char* end = name.data() + name.size();
    if (begin != end) {
      const auto [rest, error] = std::from_chars(begin, end, steps);
      if (rest != end || error != std::errc()) return sum;
    }
    sum += steps;
    name.resize(at);
  }
  return sum;
}

// Finds entries whose id has this end, or that hold a line with this id. The index knows neither, so all entries are
// read.
Result<std::vector<std::string>> entryIdsByReading(SessionStore& store, const std::string& sessionId,
                                                   const std::string& name, std::size_t most) {
  constexpr std::size_t kPart = 512;
  constexpr std::size_t kPartBytes = std::size_t{16} << 20;
  std::vector<std::string> found;
  if (name.empty()) return found;
  const bool mayBeEnd = name.find_first_not_of("0123456789abcdef-") == std::string::npos;
  LoadOptions part{.limit = kPart, .limitBytes = kPartBytes};
  for (;;) {
    BOUGH_TRY(const auto entries, store.loadSessionEntries(sessionId, part));
    if (entries.empty()) return found;
    for (const Entry& entry : entries) {
      // The id of a header is never shown.
      const bool isEnd = mayBeEnd && entry.type != entry_type::kSessionHeader && entry.id.ends_with(name);
      const bool isMeant = isEnd || holdsLine(entry, name);
      if (isMeant && found.size() < most) found.push_back(entry.id);
    }
    part.fromSequence += entries.size();
  }
}

// Finds an entry by part of its id, which must have at least `least` characters.
Result<std::string> entryIdByPart(SessionStore& store, const std::string& sessionId, const std::string& name,
                                  std::size_t least) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> found;
  if (!name.empty()) {
    BOUGH_TRY(auto ids, store.findEntryIds(sessionId, name, kShown + 1));
    found = std::move(ids);
  }
  if (found.empty()) {
    BOUGH_TRY(found, entryIdsByReading(store, sessionId, name, kShown + 1));
  }
  if (found.size() == 1 && name.size() >= least) return std::move(found.front());
  if (found.size() == 1) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("\"{}\" is not an exact name; it matches entry {}", name, found.front()),
                fmt::format("give the id, or at least {} characters of it", least));
  }
  if (found.empty()) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("session {} has no entry or label {}", idAndTitle(store, sessionId), text::excerpt(name, 60)),
        kHint);
  }
  std::string candidates;
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    auto entry = store.loadEntry(sessionId, found[i]);
    const EntrySummary summary = entry ? summarizeEntry(*entry, 30) : EntrySummary{};
    candidates += fmt::format("{}{} [{}] {}", i == 0 ? "" : "; ", found[i], summary.speaker, summary.text);
  }
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} entries match {}: {}{}", found.size() > kShown ? "several" : std::to_string(found.size()),
                          name, candidates, found.size() > kShown ? "; …" : ""),
              "type more of the id");
}

// Resolves a name without steps.
Result<std::string> resolveBase(SessionStore& store, const std::string& sessionId, const std::string& name,
                                std::size_t least) {
  if (name == "@head") return headOf(store, sessionId);
  if (name == "@root") return rootOf(store, sessionId);
  if (name.empty() || name.starts_with('@')) {
    return fail(ErrorCode::InvalidArgument,
                name.empty() ? "no entry is named before ~" : fmt::format("{} names no entry", text::excerpt(name, 60)),
                "use @head or @root; add ~N for the entry N steps before");
  }
  auto exact = store.sequenceOf(sessionId, name);
  if (exact) return name;
  if (exact.error().code != ErrorCode::NotFound) return std::unexpected(exact.error());
  BOUGH_TRY(auto labels, store.labels(sessionId));
  const auto label = std::ranges::find(labels, name, &SessionLabel::name);
  if (label != labels.end()) return std::move(label->entryId);
  return entryIdByPart(store, sessionId, name, least);
}

Result<std::string> resolve(SessionStore& store, const std::string& sessionId, const std::string& name,
                            std::size_t least) {
  std::string base = name;
  const std::size_t steps = takeSteps(base);
  auto entry = resolveBase(store, sessionId, base, least);
  if (!entry || steps == 0) return entry;
  return ancestorOf(store, sessionId, *entry, steps);
}

}  // namespace

// The line is a JSON string inside the payload, with its quotes escaped. The text of a message is not searched.
bool holdsLine(const Entry& entry, std::string_view lineId) {
  if (lineId.find_first_of("\"\\") != std::string_view::npos) return false;
  const auto transcript = json::findMember(entry.payload, "transcript");
  const auto line = transcript ? json::findMember(*transcript, "line") : std::nullopt;
  const auto has = [&](std::string_view colon) {
    return line->find(fmt::format(R"(\"uuid\"{}\"{}\")", colon, lineId)) != std::string_view::npos;
  };
  return line && (has(":") || has(": "));
}

Result<std::string> resolveEntryToChange(SessionStore& store, const std::string& sessionId, const std::string& name) {
  constexpr std::size_t kLeast = 8;
  return resolve(store, sessionId, name, kLeast);
}

Result<std::string> resolveEntry(SessionStore& store, const std::string& sessionId, const std::string& name) {
  return resolve(store, sessionId, name, 0);
}

Error withNearestLabel(SessionStore& store, const std::string& sessionId, const std::string& label, Error error) {
  if (error.code != ErrorCode::NotFound) return error;
  const auto labels = store.labels(sessionId);
  if (!labels) return error;
  std::vector<std::string> names;
  for (const SessionLabel& each : *labels) names.push_back(each.name);
  if (const std::string meant = nearest(label, names); !meant.empty()) {
    error.hint = fmt::format("did you mean {}?", text::printable(meant));
  }
  return error;
}

}  // namespace bough::cli
