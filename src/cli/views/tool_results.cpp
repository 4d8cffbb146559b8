#include "cli/views/tool_results.h"

#include <algorithm>
#include <utility>

#include "base/model/unreadable.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

constexpr const char* kNoResult = "(no result here, or it is hidden)";

// The hidden results after an entry.
struct HiddenResults {
  std::ptrdiff_t count = 0;
  std::string text{};  // their common text, or a note that it is unknown
};

HiddenResults hiddenResults(const std::vector<const Entry*>& entries, const std::vector<EntryView>& views,
                            std::size_t entry) {
  const auto isResult = [](const EntryPart& part) { return part.kind == BlockKind::ToolResult; };
  HiddenResults hidden;
  for (std::size_t i = entry + 1; i < views.size(); ++i) {
    if (!views[i].isMessage) continue;
    const bool isHidden = entries[i]->redacted || isUnreadable(*entries[i]);
    if (!isHidden && !std::ranges::all_of(views[i].parts, isResult)) break;
    if (!isHidden) continue;
    const std::string& text = views[i].parts.front().text;
    if (++hidden.count == 1) hidden.text = text;
    // For example, one was erased and another one redacted.
    if (hidden.text != text) hidden.text = kNoResult;
  }
  return hidden;
}

}  // namespace

std::vector<ToolResults> ResultFolding::fold(const std::vector<const Entry*>& entries, std::vector<EntryView>& views,
                                             std::optional<std::uint64_t> next) {
  std::vector<ToolResults> results(views.size());
  std::map<std::string, std::size_t, std::less<>> waiting;  // the last call of each id, with the entry that holds it
  std::size_t count = 0;
  for (const EntryView& view : views) count += view.parts.size();
  movedResults_.clear();
  movedResults_.reserve(count);  // reserved, because results point into movedResults_; each call brings at most one
  const auto keep = [&](std::size_t entry, EntryPart part) {
    movedResults_.push_back(std::move(part));
    results[entry][movedResults_.back().callId] = &movedResults_.back();
  };
  for (std::size_t i = 0; i < views.size(); ++i) {
    std::erase_if(views[i].parts, [&](EntryPart& part) {
      // Some servers reuse an id: then an earlier call without a result stays without one.
      if (part.kind == BlockKind::ToolCall && !part.callId.empty()) waiting.insert_or_assign(part.callId, i);
      if (part.kind != BlockKind::ToolResult) return false;
      if (shown_.erase(part.callId) > 0) return true;
      const auto call = waiting.extract(part.callId);
      if (call.empty()) return false;
      keep(call.mapped(), std::move(part));
      return true;
    });
  }
  std::map<std::size_t, std::vector<std::string>> open;  // calls without a result, by the entries that hold them
  for (const auto& [callId, entry] : waiting) {
    auto part = next ? findLaterResult(callId, *next) : std::nullopt;
    if (!part) {
      open[entry].push_back(callId);
      continue;
    }
    keep(entry, std::move(*part));
    shown_.insert(callId);
  }
  // It is unknown which call a hidden message answered. But hidden messages among the results, as many as there are
  // open calls, must have answered these calls.
  for (const auto& [entry, callIds] : open) {
    HiddenResults hidden = hiddenResults(entries, views, entry);
    if (hidden.count == 0) continue;
    if (hidden.count < std::ssize(callIds)) hidden.text = kNoResult;
    for (const std::string& callId : callIds) {
      keep(entry, {.kind = BlockKind::ToolResult, .text = hidden.text, .callId = callId});
    }
  }
  return results;
}

std::optional<EntryPart> ResultFolding::findLaterResult(const std::string& callId, std::uint64_t next) {
  const auto isResult = [&](const EntryPart& part) {
    return part.kind == BlockKind::ToolResult && part.callId == callId;
  };
  do {
    const auto seen = seen_.find(callId);
    if (seen == seen_.end()) continue;
    const auto place = std::ranges::find_if(seen->second, [&](const Place& each) { return each.at >= next; });
    if (place == seen->second.end()) continue;
    if (place->isCall) return std::nullopt;
    const auto entry = store_.loadEntry(sessionId_, place->entryId);
    if (!entry) return std::nullopt;
    EntryView view = viewEntry(*entry);
    const auto part = std::ranges::find_if(view.parts, isResult);
    return part == view.parts.end() ? std::nullopt : std::optional(std::move(*part));
  } while (searchNextPart(next));
  return std::nullopt;
}

// Searches one more part. Read errors are reported when that part is to be shown.
bool ResultFolding::searchNextPart(std::uint64_t next) {
  if (isAllSeen_ || outputClosed()) return false;
  ahead_.fromSequence = std::max(ahead_.fromSequence, next);
  const auto entries = store_.loadSessionEntries(sessionId_, ahead_);
  isAllSeen_ = !entries || entries->empty();
  if (isAllSeen_) return false;
  for (const Entry& entry : *entries) {
    for (const EntryPart& part : viewEntry(entry).parts) {
      const bool isCall = part.kind == BlockKind::ToolCall;
      if (!isCall && part.kind != BlockKind::ToolResult) continue;
      seen_[part.callId].push_back({.at = ahead_.fromSequence, .entryId = entry.id, .isCall = isCall});
    }
    ++ahead_.fromSequence;
  }
  return true;
}

EntryView CallNames::view(const Entry& entry) {
  constexpr std::size_t kMostMisses = 16;
  EntryView view = viewEntry(entry);
  learn(view);
  for (EntryPart& part : view.parts) {
    if (!lacksName(part)) continue;
    auto found = names_.find(part.callId);
    if (found == names_.end() && misses_ < kMostMisses) {
      learnEarlierNames(entry);
      found = names_.find(part.callId);
      if (found == names_.end()) ++misses_;
    }
    if (found != names_.end()) part.name = found->second;
  }
  return view;
}

void CallNames::learn(const EntryView& view) {
  constexpr std::size_t kMostNames = 100'000;
  for (const EntryPart& part : view.parts) {
    if (part.kind != BlockKind::ToolCall || part.callId.empty()) continue;
    if (names_.size() >= kMostNames) names_.clear();  // for a later result, learnEarlierNames finds the call
    names_.insert_or_assign(part.callId, part.name);
  }
}

void CallNames::learnEarlierNames(const Entry& entry) {
  constexpr std::size_t kMessages = 64;
  if (!entry.parentId || entry.parentId->empty()) return;
  const auto before = store_.loadSessionEntries(
      sessionId_, {.last = kMessages, .branch = *entry.parentId, .types = {std::string(entry_type::kMessage)}});
  if (!before) return;
  for (const Entry& each : *before) learn(viewEntry(each));
}

}  // namespace bough::cli
