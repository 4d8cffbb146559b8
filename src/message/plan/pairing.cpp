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
  // The results of a message's calls follow it. Where a message among them is hidden and nobody knows any more what it
  // was, the calls that have no result were answered there; when they are more than such messages, perhaps not all.
  void markRedacted() {
    const std::vector<Original>& originals = history_.originals;
    if (std::ranges::none_of(originals, &Original::unknown)) return;
    struct Hidden {
      std::size_t count = 0;  // Of hidden messages among results only.
      bool unreadable = false;
    };
    std::vector<Hidden> followed(originals.size() + 1);
    for (std::size_t i = originals.size(); i-- > 0;) {
      const auto isResult = [](const Block& block) { return block.kind == BlockKind::ToolResult; };
      const auto& blocks = originals[i].message.blocks;
      const bool results = !blocks.empty() && std::ranges::all_of(blocks, isResult);
      if (originals[i].unknown) {
        followed[i] = {.count = followed[i + 1].count + 1, .unreadable = originals[i].unreadable};
      } else if (results || !originals[i].hiddenResults.empty()) {
        followed[i] = followed[i + 1];
      }
    }
    // The items of one answer, and answers that were saved block by block, are several originals.
    std::size_t end = originals.size();
    for (std::size_t i = originals.size(); i-- > 0;) {
      const bool assistant = originals[i].message.role == Role::Assistant && !originals[i].redacted;
      if (!assistant) end = i;
      answeredAt_.emplace_back(end);
    }
    std::ranges::reverse(answeredAt_);
    std::unordered_map<std::size_t, std::size_t> open;  // Where results begin → how many calls have none.
    const auto isOpen = [](const Call& call) { return call.result == nullptr && !call.redacted; };
    const auto after = [&](const Call& call) { return answeredAt_[static_cast<std::size_t>(call.original)]; };
    for (const Call& call : pairing_.calls) open[after(call)] += isOpen(call) ? 1U : 0U;
    for (Call& call : pairing_.calls) {
      const Hidden& hidden = followed[after(call)];
      if (!isOpen(call) || hidden.count == 0) continue;
      call.redacted = true;
      call.unreadable = hidden.unreadable;
      call.doubtful = hidden.count < open[after(call)];
    }
  }

  // Two spellings of one id are one id.
  TextView plainId(const TextView& id) {
    TextView meant = history_.ids.original(id);
    if (!meant.escaped.contains('\\')) return meant;
    const std::string& kept = history_.texts.emplace_back(json::quoted(meant.decode()));
    meant.escaped = std::string_view(kept).substr(1, kept.size() - 2);
    meant.oddEscapes = false;
    return meant;
  }

  // A call without an id gets one from what it says, so that it is the same in every conversion.
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
    same.open.push_back(static_cast<std::int32_t>(pairing_.calls.size()));
    pairing_.calls.push_back(call);
  }

  // How many calls of this id the parts of the session before this one have.
  [[nodiscard]] unsigned countBefore(std::string_view id) const {
    if (history_.earlier == nullptr) return 0;
    const auto found = history_.earlier->ids.find(hashBytes(id));
    return found == history_.earlier->ids.end() ? 0 : found->second;
  }

  void addResult(std::int32_t original, const Block& block) {
    const std::int32_t found = block.idMissing ? findByName(block) : findById(block);
    pairing_.resultCalls.push_back(found);
    if (found < 0) return;
    Call& call = pairing_.calls[static_cast<std::size_t>(found)];
    call.resultOriginal = original;
    call.result = &block;
    if (block.idMissing) std::erase(byId_[call.id.escaped].open, found);
  }

  // A result that a redacted message held.
  void addHidden(const Block& block) {
    const std::int32_t found = block.idMissing ? findByName(block) : findById(block);
    if (found < 0) return;
    Call& call = pairing_.calls[static_cast<std::size_t>(found)];
    call.redacted = true;
    if (block.idMissing) std::erase(byId_[call.id.escaped].open, found);
  }

  // The latest message that calls with this id and waits for it; in it, the first such call.
  std::int32_t findById(const Block& block) {
    const auto same = byId_.find(plainId(block.id).escaped);
    if (same == byId_.end()) return kOrphan;
    std::vector<std::int32_t>& open = same->second.open;
    std::size_t at = open.size();
    auto originalOf = [&](std::size_t i) { return pairing_.calls[static_cast<std::size_t>(open[i])].original; };
    while (at > 0 && (at == open.size() || originalOf(at - 1) == originalOf(at))) --at;
    if (at == open.size()) return kDuplicate;
    const std::int32_t found = open[at];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    return found;
  }

  std::int32_t findByName(const Block& block) {
    const TextView name = history_.names.original(block.name);
    for (const bool anyName : {false, true}) {
      for (std::size_t i = recentFrom_; i < pairing_.calls.size(); ++i) {
        const Call& call = pairing_.calls[i];
        if (call.result != nullptr || call.redacted) continue;
        if ((anyName && name.empty()) || history_.names.original(call.block->name).escaped == name.escaped) {
          return static_cast<std::int32_t>(i);
        }
      }
    }
    return recentFrom_ < pairing_.calls.size() ? kDuplicate : kOrphan;
  }

  History& history_;
  Pairing pairing_;
  std::vector<std::size_t> answeredAt_;  // Of each original: where the results of its calls begin.
  bool lastAssistant_ = false;
  std::size_t recentFrom_ = 0;
  struct SameId {
    unsigned count = 0;
    std::vector<std::int32_t> open;  // Those that wait for a result.
  };

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
    // An id that was used again after its call was answered is another call.
    const bool answeredFirst = before.result != nullptr && before.resultOriginal < call.original;
    if (!same(call, before) || answeredFirst) continue;
    if (call.result == nullptr) {
      call.repeated = true;
      continue;
    }
    before.repeated = true;
    std::ranges::replace(pairing.resultCalls, static_cast<std::int32_t>(first->second), kDuplicate);
    call.occurrence = before.occurrence;
    first->second = i;
  }
}

Pairing pairCalls(History& history) {
  return Pairer(history).run();
}

}  // namespace bough::message
