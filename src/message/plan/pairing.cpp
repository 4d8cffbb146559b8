#include "message/plan/pairing.h"

#include <algorithm>
#include <unordered_map>

#include "base/json/json_write.h"
#include "message/json/content_hash.h"

namespace bough::message {
namespace {

class Pairer {
 public:
  explicit Pairer(History& history) : history_(history) {}

  Pairing run() {
    for (std::size_t i = 0; i < history_.originals.size(); ++i) {
      const Original& original = history_.originals[i];
      if (original.section != Section::Messages) continue;
      const bool assistant = original.message.role == Role::Assistant;
      if (assistant && !lastAssistant_) recentFrom_ = pairing_.calls.size();
      if (!original.message.blocks.empty()) lastAssistant_ = assistant;
      for (const Block& block : original.hiddenResults) addHidden(block);
      for (const Block& block : original.message.blocks) {
        if (assistant && block.kind == BlockKind::ToolCall) addCall(static_cast<std::int32_t>(i), block);
        if (block.kind == BlockKind::ToolResult) addResult(static_cast<std::int32_t>(i), block);
      }
    }
    for (const Call& call : pairing_.calls) {
      history_.ids.reserve(call.id);
      if (history_.earlier != nullptr) ++history_.earlier->ids[hashBytes(call.id.escaped)];
    }
    markRedacted();
    return std::move(pairing_);
  }

 private:
  // The results of a message's calls follow it. When one of the following messages is hidden and its content is not
  // known any more, the calls without a result were answered there. When there are more such calls than such messages,
  // some of them may have no answer.
  void markRedacted() {
    const std::vector<Original>& originals = history_.originals;
    if (std::ranges::none_of(originals, &Original::isContentLost)) return;
    struct Hidden {
      std::size_t count = 0;  // Number of hidden messages, with only results between them.
      bool unreadable = false;
      bool erased = false;
    };
    std::vector<Hidden> followed(originals.size() + 1);
    for (std::size_t i = originals.size(); i-- > 0;) {
      const auto isResult = [](const Block& block) { return block.kind == BlockKind::ToolResult; };
      const auto& blocks = originals[i].message.blocks;
      const bool results = !blocks.empty() && std::ranges::all_of(blocks, isResult);
      if (originals[i].isContentLost) {
        followed[i] = {
            .count = followed[i + 1].count + 1, .unreadable = originals[i].unreadable, .erased = originals[i].erased};
      } else if (results || !originals[i].hiddenResults.empty()) {
        followed[i] = followed[i + 1];
      }
    }
    // The items of one answer, and answers that were stored block by block, are several originals.
    std::size_t end = originals.size();
    for (std::size_t i = originals.size(); i-- > 0;) {
      const bool assistant = originals[i].message.role == Role::Assistant && !originals[i].redacted;
      if (!assistant) end = i;
      answeredAt_.emplace_back(end);
    }
    std::ranges::reverse(answeredAt_);
    std::unordered_map<std::size_t, std::size_t> open;  // Where results begin → number of calls without a result.
    const auto isOpen = [](const Call& call) { return call.result == nullptr && !call.redacted; };
    const auto after = [&](const Call& call) { return answeredAt_[static_cast<std::size_t>(call.original)]; };
    for (const Call& call : pairing_.calls) open[after(call)] += isOpen(call) ? 1U : 0U;
    for (Call& call : pairing_.calls) {
      const Hidden& hidden = followed[after(call)];
      if (!isOpen(call) || hidden.count == 0) continue;
      call.redacted = true;
      call.unreadable = hidden.unreadable;
      call.erased = hidden.erased;
      call.doubtful = hidden.count < open[after(call)];
    }
  }

  // Two spellings of one id are the same id.
  TextView plainId(const TextView& id) {
    TextView meant = history_.ids.original(id);
    if (!meant.escaped.contains('\\')) return meant;
    const std::string& kept = history_.texts.emplace_back(json::quoted(meant.decode()));
    meant.escaped = std::string_view(kept).substr(1, kept.size() - 2);
    meant.oddEscapes = false;
    return meant;
  }

  // Makes an id from the content of a call that has none, so that the id is the same in every conversion.
  TextView makeId(const Block& block) {
    const std::string_view input = block.freeform ? block.text.escaped : block.input;
    const std::string seed = std::string(block.name.escaped) + '\n' + std::string(input);
    auto& made = history_.earlier == nullptr ? made_ : history_.earlier->made;
    const unsigned before = made[hashBytes(seed)]++;
    std::string id = "call_" + std::string(toHex(hashBytes(seed)).view());
    if (before > 0) id += "_" + std::to_string(before);
    return {.escaped = history_.texts.emplace_back(std::move(id)), .present = true, .oddEscapes = false};
  }

  void addCall(std::int32_t original, const Block& block) {
    Call call{.original = original, .block = &block, .id = block.idMissing ? makeId(block) : plainId(block.id)};
    const auto [place, isNew] = byId_.try_emplace(call.id.escaped);
    SameId& same = place->second;
    if (isNew) same.count = countBefore(call.id.escaped);
    call.occurrence = same.count++;
    const auto index = static_cast<std::int32_t>(pairing_.calls.size());
    links_.emplace_back();
    if (same.last >= 0 && callAt(same.last).original == original) {
      linkAt(same.last).next = index;
    } else {
      linkAt(index).below = same.first;
      same.first = index;
    }
    same.last = index;
    pairing_.calls.push_back(call);
  }

  [[nodiscard]] Call& callAt(std::int32_t index) { return pairing_.calls[static_cast<std::size_t>(index)]; }
  [[nodiscard]] bool waits(std::int32_t index) const {
    const Call& call = pairing_.calls[static_cast<std::size_t>(index)];
    return call.result == nullptr && !call.redacted;
  }

  // Returns how many calls of this id the earlier parts of the session have.
  [[nodiscard]] unsigned countBefore(std::string_view id) const {
    if (history_.earlier == nullptr) return 0;
    const auto found = history_.earlier->ids.find(hashBytes(id));
    return found == history_.earlier->ids.end() ? 0 : found->second;
  }

  void addResult(std::int32_t original, const Block& block) {
    const std::int32_t found = block.idMissing ? findByName(block) : findById(block);
    pairing_.resultCalls.push_back(found);
    if (found < 0) return;
    callAt(found).resultOriginal = original;
    callAt(found).result = &block;
  }

  // Adds a result that a redacted message held.
  void addHidden(const Block& block) {
    const std::int32_t found = block.idMissing ? findByName(block) : findById(block);
    if (found >= 0) callAt(found).redacted = true;
  }

  // Finds the latest message with an unanswered call of this id; returns the first such call in that message.
  std::int32_t findById(const Block& block) {
    const auto same = byId_.find(plainId(block.id).escaped);
    if (same == byId_.end()) return kOrphan;
    SameId& calls = same->second;
    while (calls.first >= 0 && !waits(calls.first)) {
      const Link link = linkAt(calls.first);
      if (link.next >= 0) linkAt(link.next).below = link.below;
      if (link.next < 0) calls.last = -1;
      calls.first = link.next >= 0 ? link.next : link.below;
    }
    return calls.first >= 0 ? calls.first : kDuplicate;
  }

  // Returns the first unanswered call with this name in the latest answer; without a name, the first unanswered call.
  std::int32_t findByName(const Block& block) {
    const std::size_t count = pairing_.calls.size();
    if (recent_.from != recentFrom_) recent_ = {.from = recentFrom_, .known = recentFrom_};
    for (; recent_.known < count; ++recent_.known) {
      const auto index = static_cast<std::int32_t>(recent_.known);
      recent_.all.calls.push_back(index);
      recent_.byName[history_.names.original(callAt(index).block->name).escaped].calls.push_back(index);
    }
    const TextView name = history_.names.original(block.name);
    const auto named = recent_.byName.find(name.escaped);
    std::int32_t found = named == recent_.byName.end() ? -1 : firstWaiting(named->second);
    if (found < 0 && name.empty()) found = firstWaiting(recent_.all);
    if (found >= 0) return found;
    return recentFrom_ < count ? kDuplicate : kOrphan;
  }

  struct Line {
    std::vector<std::int32_t> calls{};
    std::size_t next = 0;  // No call before this index is unanswered.
  };

  [[nodiscard]] std::int32_t firstWaiting(Line& line) const {
    while (line.next < line.calls.size() && !waits(line.calls[line.next])) ++line.next;
    return line.next < line.calls.size() ? line.calls[line.next] : -1;
  }

  History& history_;
  Pairing pairing_;
  std::vector<std::size_t> answeredAt_;  // By original: where the results of its calls begin.
  bool lastAssistant_ = false;
  std::size_t recentFrom_ = 0;
  // The calls of the latest answer, for results without an id.
  struct Recent {
    std::size_t from = 0;
    std::size_t known = 0;  // Calls before this index were added.
    Line all{};
    std::unordered_map<std::string_view, Line> byName{};
  };
  Recent recent_;
  // The calls of one id form a stack of messages, each with its calls in order. Answered calls are removed during a
  // search.
  struct SameId {
    unsigned count = 0;
    std::int32_t first = -1;  // In the latest message.
    std::int32_t last = -1;
  };
  struct Link {
    std::int32_t next = -1;   // In the same message.
    std::int32_t below = -1;  // For the first call in a message: the first call in the previous message.
  };
  [[nodiscard]] Link& linkAt(std::int32_t index) { return links_[static_cast<std::size_t>(index)]; }

  std::vector<Link> links_;  // By call.
  std::unordered_map<std::string_view, SameId> byId_;
  std::unordered_map<std::uint64_t, unsigned> made_;
};

}  // namespace

void markRepeatedCalls(Pairing& pairing) {
  std::unordered_map<std::string_view, std::size_t> counts;
  auto same = [](const Call& a, const Call& b) {
    return a.block->name.escaped == b.block->name.escaped && a.block->input == b.block->input &&
           a.block->text.escaped == b.block->text.escaped;
  };
  for (std::size_t i = 0; i < pairing.calls.size(); ++i) {
    Call& call = pairing.calls[i];
    const auto [first, isNew] = counts.emplace(call.id.escaped, i);
    if (isNew || call.block->idMissing) continue;
    Call& before = pairing.calls[first->second];
    // An id that was used again after its call was answered belongs to another call.
    const bool answeredFirst = before.result != nullptr && before.resultOriginal < call.original;
    if (!same(call, before) || answeredFirst) continue;
    if (call.result == nullptr) {
      call.repeated = true;
      continue;
    }
    before.repeated = true;
    call.occurrence = before.occurrence;
    first->second = i;
  }
  for (std::int32_t& answered : pairing.resultCalls) {
    if (answered >= 0 && pairing.calls[static_cast<std::size_t>(answered)].repeated) answered = kDuplicate;
  }
}

Pairing pairCalls(History& history) {
  return Pairer(history).run();
}

}  // namespace bough::message
