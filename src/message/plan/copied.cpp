#include "message/plan/copied.h"

#include <algorithm>
#include <unordered_map>

namespace bough::message {
namespace {

// Counts of messages so far. Messages with only results do not count, because they are joined with others.
struct Seen {
  std::int64_t messages = 0;  // All messages.
  std::size_t written = 0;    // Messages that are not copied.
  std::size_t answers = 0;    // Assistant messages that are not copied.
  std::size_t others = 0;     // All other messages, including copied answers.
};

bool holdsOnlyResults(const Original& original) {
  return original.section == Section::Messages && std::ranges::all_of(original.message.blocks, [](const Block& block) {
           return block.kind == BlockKind::ToolResult;
         });
}

class Finder {
 public:
  Finder(const History& history, const Pairing& pairing, Dialect target,
         const std::unordered_set<std::int32_t>& rewritten)
      : history_(history), pairing_(pairing), target_(target), rewritten_(rewritten) {}

  std::vector<bool> run() {
    for (const Original& original : history_.originals) {
      seen_.push_back(now_);
      add(original);
    }
    return std::move(copied_);
  }

 private:
  void add(const Original& original) {
    const bool message = original.section == Section::Messages;
    if (message) ++now_.messages;
    const bool next = original.documentPlace == lastPlace_ + 1;
    const bool follows = original.documentPlace <= 0 || (next && intact_);
    bool moved = false;
    for (const Block& block : original.message.blocks) {
      const bool result = message && block.kind == BlockKind::ToolResult;
      if (result) moved |= isMoved(original, pairing_.resultCalls[nextResult_++], follows);
    }
    const bool kept = rewritten_.empty() || !rewritten_.contains(static_cast<std::int32_t>(copied_.size()));
    copied_.push_back(staysVerbatim(original, target_) && !original.partial && !moved && kept);
    if (!message) return;
    if (copied_.back()) lastPlace_ = original.documentPlace;
    intact_ = copied_.back() && (!holdsOnlyResults(original) || (intact_ && next));
    if (!copied_.back()) ++now_.written;
    const bool joins = original.message.role == Role::Assistant && !copied_.back();
    if (!holdsOnlyResults(original)) ++(joins ? now_.answers : now_.others);
  }

  // Returns whether a result must be written again: its call is gone together with what preceded it in its document,
  // its call gets another id, or it no longer follows its call directly.
  [[nodiscard]] bool isMoved(const Original& original, std::int32_t answered, bool follows) const {
    if (answered < 0) return !follows || original.unpaired;
    const Call& call = pairing_.calls[static_cast<std::size_t>(answered)];
    const auto caller = static_cast<std::size_t>(call.original);
    if (caller + 1 >= seen_.size()) return false;  // The call is in the same message.
    if (call.occurrence > 0 && !copied_[caller]) return true;
    if (!copied_[caller] && !fits(call)) return true;
    if (target_ == Dialect::OpenaiResponses) return false;  // Other items may be in between.
    const Seen& before = seen_[caller + 1];
    const bool asItWas =
        copied_[caller] && now_.written == before.written &&
        original.documentPlace - history_.originals[caller].documentPlace == now_.messages - before.messages;
    // An answer that is written again is joined with the call's message when that is also written again.
    return !asItWas && (now_.others > before.others || (copied_[caller] && now_.answers > before.answers));
  }

  // Returns whether a result can stay although its call is written again. Gemini's results contain the name of the
  // tool. A function result of Chat's old form fits only a call of that form.
  [[nodiscard]] bool fits(const Call& call) const {
    if (target_ == Dialect::OpenaiChat) return !call.result->idMissing;
    const TextView name = history_.names.original(call.block->name);
    return target_ != Dialect::Gemini || call.result->name.escaped == name.escaped;
  }

  const History& history_;
  const Pairing& pairing_;
  Dialect target_;
  const std::unordered_set<std::int32_t>& rewritten_;
  std::vector<bool> copied_;
  std::vector<Seen> seen_;  // By original: the counts before it.
  Seen now_;
  std::int64_t lastPlace_ = -1;  // Place of the last message that is copied.
  bool intact_ = true;           // That message and the results before it follow a copied message.
  std::size_t nextResult_ = 0;
};

}  // namespace

CopiedOriginals::CopiedOriginals(const History& history, const Pairing& pairing, Dialect target,
                                 const std::unordered_set<std::int32_t>& rewritten)
    : originals_(&history.originals), copied_(Finder(history, pairing, target, rewritten).run()) {
  countBreaks();
  if (target == Dialect::OpenaiChat) uncopyFunctionCalls(pairing);
}

// A call of the old form, without an id, is followed by a message of the role function, which is never written.
void CopiedOriginals::uncopyFunctionCalls(const Pairing& pairing) {
  bool any = false;
  for (const Call& call : pairing.calls) {
    if (!call.block->idMissing || !contains(call.original)) continue;
    const bool written =
        call.result != nullptr ? !contains(call.resultOriginal) : !areInOriginalOrder(call.original, nullptr);
    if (written) copied_[static_cast<std::size_t>(call.original)] = false;
    any |= written;
  }
  if (any) countBreaks();
}

void CopiedOriginals::countBreaks() {
  breaks_.clear();
  std::int64_t place = -1;
  std::size_t breaks = 0;
  for (std::size_t i = 0; i < copied_.size(); ++i) {
    const Original& original = (*originals_)[i];
    if (original.section == Section::Messages) {
      if (!copied_[i] || original.documentPlace != place + 1) ++breaks;
      place = original.documentPlace;
    }
    breaks_.push_back(breaks);
  }
  afterResults_.resize(copied_.size());
  for (std::size_t i = copied_.size(); i-- > 0;) {
    const bool on = i + 1 < copied_.size() && holdsOnlyResults((*originals_)[i]);
    afterResults_[i] = on ? afterResults_[i + 1] : i;
  }
}

bool CopiedOriginals::isMixed() const {
  return !breaks_.empty() && breaks_.back() > 0 && std::ranges::find(copied_, true) != copied_.end();
}

bool CopiedOriginals::areInOriginalOrder(std::int32_t from, const Original* next) const {
  if (!contains(from) || (*originals_)[static_cast<std::size_t>(from)].unpaired) return false;
  const std::size_t last =
      next == nullptr ? copied_.size() - 1 : afterResults_[static_cast<std::size_t>(next - originals_->data())];
  return breaks_[last] == breaks_[static_cast<std::size_t>(from)];
}

void adjustCallIds(const History& history, const CopiedOriginals& copied, Dialect target, Pairing& pairing) {
  std::unordered_map<std::string_view, unsigned> taken;  // By id: number of calls that have the id from their author.
  const auto hasItsId = [&](const Call& call) {
    return call.keptId.present || history.originals[static_cast<std::size_t>(call.original)].dialect == target;
  };
  for (Call& call : pairing.calls) {
    const bool named = call.result != nullptr && !call.result->idMissing && copied.contains(call.resultOriginal);
    if (named) call.keptId = call.result->id;
    // Gemini's results contain the name of their tool.
    const bool byName = target == Dialect::Gemini && call.result != nullptr && copied.contains(call.resultOriginal);
    if (byName && !call.result->name.empty()) call.keptName = call.result->name;
    if (hasItsId(call)) taken[call.id.escaped] = std::max(taken[call.id.escaped], call.occurrence + 1);
  }
  for (Call& call : pairing.calls) {
    const auto same = hasItsId(call) ? taken.end() : taken.find(call.id.escaped);
    if (same != taken.end()) call.occurrence = same->second++;
  }
}

}  // namespace bough::message
