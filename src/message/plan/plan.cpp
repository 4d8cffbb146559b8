#include "message/plan/plan.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/json/json_write.h"
#include "message/plan/adapt.h"
#include "message/plan/betas.h"
#include "message/plan/copied.h"
#include "message/plan/gemini_rules.h"
#include "message/plan/members.h"
#include "message/plan/pair_check.h"
#include "message/plan/pairing.h"
#include "message/plan/request_rules.h"

namespace bough::message {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";
// The same words whatever follows, so that a longer request has the shorter one as its beginning.
constexpr std::string_view kBeginningText = "(the conversation begins here)";

bool isBlank(const TextView& text) {
  const std::size_t first = text.escaped.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return true;
  if (text.escaped[first] != '\\') return false;
  return text.decode().find_first_not_of(kBlanks) == std::string::npos;
}

std::string withoutBlanksAtEnd(std::string text) {
  static constexpr std::string_view kWide[] = {"\u00A0", "\u2028", "\u2029", "\uFEFF", "\u3000", "\u1680", "\u202F",
                                               "\u205F", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005",
                                               "\u2006", "\u2007", "\u2008", "\u2009", "\u200A"};
  for (bool more = true; more;) {
    const std::size_t before = text.size();
    text.resize(text.find_last_not_of(kBlanks) + 1);
    for (const std::string_view wide : kWide) {
      if (text.ends_with(wide)) text.resize(text.size() - wide.size());
    }
    more = text.size() != before;
  }
  return text;
}

bool isThinking(const OutBlock& outBlock) {
  return outBlock.kind == BlockKind::Thinking || outBlock.kind == BlockKind::RedactedThinking;
}

// The calls of the last messages, which wait for their results.
struct OpenCalls {
  std::vector<std::size_t> calls{};
  bool answersHidden = false;  // One of them was answered by a redacted message.

  void add(std::size_t call, bool isHidden) {
    calls.push_back(call);
    answersHidden |= isHidden;
  }
};

// Replaces the text of a block. A stored block keeps its other members, such as citations.
void setText(OutBlock& outBlock, const TextView& text, std::deque<std::string>& texts) {
  const std::string_view raw = outBlock.stored ? outBlock.block->raw : std::string_view();
  const std::string_view old = outBlock.text.escaped;
  const bool isInside = raw.starts_with('{') && old.data() >= raw.data() &&
                        old.data() + old.size() <= raw.data() + raw.size() && outBlock.raw.empty();
  if (isInside) {
    std::string changed(raw);
    changed.replace(static_cast<std::size_t>(old.data() - raw.data()), old.size(), text.escaped);
    outBlock.raw = texts.emplace_back(std::move(changed));
  }
  outBlock.stored = isInside;
  outBlock.text = text;
}

// Replaces an answer that would be copied by its blocks when it ends with white space and was not the last message of
// its own document. Such an answer lost what came after it, so its author did not end there. Returns false when the
// answer stays unchanged.
bool replaceByBlocks(OutMessage& last, const History& history, Adapter& adapter) {
  const std::int32_t index = last.original;
  const Original& original = history.originals[static_cast<std::size_t>(index)];
  const std::vector<Block>& blocks = original.message.blocks;
  const auto isCall = [](const Block& block) { return block.kind == BlockKind::ToolCall; };
  if (original.documentPlace >= history.lastDocumentPlace || std::ranges::any_of(blocks, isCall)) return false;
  OutMessage parts{.role = last.role, .roleName = original.message.roleName};
  for (const Block& block : blocks) adapter.content(index, block, parts.outBlocks);
  if (parts.outBlocks.empty() || parts.outBlocks.back().kind != BlockKind::Text) return false;
  const std::string text = parts.outBlocks.back().text.decode();
  if (withoutBlanksAtEnd(text).size() == text.size()) return false;
  last = std::move(parts);
  return true;
}

class Planner {
 public:
  Planner(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter, PlanMode mode,
          Pairing pairing, CopiedOriginals copied)
      : history_(history),
        target_(target),
        options_(options),
        fragment_(mode == PlanMode::Fragment),
        request_(mode == PlanMode::Request),
        reporter_(reporter),
        adapter_(history, target, options, reporter, plan_.texts, mode == PlanMode::Request),
        pairing_(std::move(pairing)),
        copied_(std::move(copied)) {
    if (!request_) adjustCallIds(history, copied_, target, pairing_);
  }

  Plan run() {
    for (const Original& original : history_.originals) {
      hasTargetMessages_ |= original.section != Section::Tools && original.dialect == target_;
    }
    for (std::size_t i = 0; i < history_.originals.size(); ++i) {
      const Original& original = history_.originals[i];
      if (original.section == Section::Tools) continue;
      addOriginal(static_cast<std::int32_t>(i), original);
      sawTargetMessage_ |= original.dialect == target_;
    }
    closeCalls(nullptr);
    if (request_) applyRequestRules(plan_, history_, target_, reporter_);
    if (!request_ && !fragment_) dropRefusedThinking(plan_, history_, target_, reporter_);
    if (!fragment_) arrangeEnds();
    if (request_) copyUnchangedMessages(plan_, history_, target_, reporter_);
    if (!fragment_) rewriteMembers(plan_, history_, target_, reporter_);
    if (!fragment_ && target_ == Dialect::Anthropic) reportBetaHeaders(plan_, history_, reporter_);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool mergesTurns() const { return target_ == Dialect::Anthropic || target_ == Dialect::Gemini; }

  // Returns whether other items of the assistant may be between a call and its result.
  [[nodiscard]] bool callsMayWait() const { return target_ == Dialect::OpenaiResponses; }

  void addOriginal(std::int32_t index, const Original& original) {
    if (original.redacted) {
      addRedacted(original);
      return;
    }
    if (copied_.contains(index)) {
      copyOriginal(index, original);
      return;
    }
    if (!original.problem.empty()) {
      reporter_.invalid(original, nullptr, original.problem);
      return;
    }
    adapter_.reportExtras(index);
    if (target_ == Dialect::Bough && original.section == Section::Messages) {
      addUnchanged(index, original);
      return;
    }
    switch (original.message.role) {
      case Role::System: addSystem(index, original); break;
      case Role::Assistant: addAssistant(index, original); break;
      case Role::User:
      case Role::Tool: addUser(index, original); break;
    }
  }

  // Handles a message whose content was redacted. If it answered calls, their results end here.
  void addRedacted(const Original& original) {
    if (openCalls_.answersHidden) closeCalls(&original);
  }

  // Handles an original of the target's dialect, which is copied.
  void copyOriginal(std::int32_t index, const Original& original) {
    if (original.section == Section::System) {
      plan_.system.verbatim = plan_.system.outBlocks.empty();
      plan_.system.original = index;
      plan_.hasSystem = true;
      for (const Block& block : original.message.blocks) {
        plan_.system.outBlocks.push_back({.kind = block.kind, .original = index, .block = &block, .text = block.text});
      }
      return;
    }
    if (!(callsMayWait() && original.message.role == Role::Assistant)) closeCalls(&original);
    plan_.messages.push_back({.role = original.message.role, .verbatim = true, .original = index});
    for (const Block& block : original.message.blocks) {
      const bool call = block.kind == BlockKind::ToolCall && original.message.role == Role::Assistant;
      if (call) openCalls_.add(nextCall_, pairing_.calls[nextCall_].redacted);
      if (call) ++nextCall_;
      if (block.kind == BlockKind::ToolResult) ++nextResult_;
    }
  }

  // For the normalized form, which accepts every message unchanged.
  void addUnchanged(std::int32_t index, const Original& original) {
    OutMessage out{.role = original.message.role, .original = index, .roleName = original.message.roleName};
    for (const Block& block : original.message.blocks) {
      if (block.kind == BlockKind::ToolCall && original.message.role == Role::Assistant) {
        out.outBlocks.push_back(adapter_.call(pairing_.calls[nextCall_++]));
      } else if (block.kind == BlockKind::ToolResult) {
        const std::int32_t call = pairing_.resultCalls[nextResult_++];
        if (call >= 0) out.outBlocks.push_back(adapter_.result(pairing_.calls[static_cast<std::size_t>(call)]));
        if (call < 0) reportUnpairedResult(call, original, block);
      } else if (block.kind == BlockKind::ToolCall) {
        reporter_.invalid(original, &block, "a tool call in a message that is not the assistant's");
      } else {
        adapter_.content(index, block, out.outBlocks);
      }
    }
    if (original.joinsPrevious && mayJoin(out.role)) {
      std::ranges::move(out.outBlocks, std::back_inserter(plan_.messages.back().outBlocks));
    } else {
      plan_.messages.push_back(std::move(out));
    }
  }

  // In a single message, calls are answered elsewhere, and results belong to calls that are elsewhere.
  void addSingleResult(std::int32_t index, const Block& block) {
    const Call call{.original = index, .block = &block, .id = block.id, .resultOriginal = index, .result = &block};
    OutBlock outBlock = adapter_.result(call);
    if (outBlock.name.empty()) outBlock.name = adapter_.own("tool");
    std::vector<OutBlock> carried;
    carryMedia(outBlock, carried);
    const Role role = target_ == Dialect::Anthropic ? Role::User : Role::Tool;
    if (plan_.messages.empty() || plan_.messages.back().role != role) plan_.messages.push_back({.role = role});
    plan_.messages.back().outBlocks.push_back(std::move(outBlock));
    addUserBlocks(std::move(carried), mergesTurns());
  }

  void reportUnpairedResult(std::int32_t why, const Original& original, const Block& block) {
    reporter_.lossy(Change::LeftOut, original, &block, "tool_result",
                    why == kDuplicate ? "a second result for one call" : "a result without a call", true);
  }

  void addSystem(std::int32_t index, const Original& original) {
    std::vector<OutBlock> outBlocks;
    for (const Block& block : original.message.blocks) adapter_.content(index, block, outBlocks);
    if (mergesTurns()) dropBlanks(original, outBlocks);
    // A changed system prompt would invalidate every signature of Anthropic, and Anthropic also accepts system messages
    // in place, so they stay there. A request considers only earlier messages, so that later ones do not change the
    // position of this message.
    const bool returns = request_ ? sawTargetMessage_ : hasTargetMessages_;
    const bool inPlace = target_ == Dialect::Anthropic && returns && !plan_.messages.empty();
    const bool movesToFront = mergesTurns() && !inPlace;
    const bool isSystemPrompt = (original.isRequestMember || original.replacesSystem) && target_ != Dialect::OpenaiChat;
    if (outBlocks.empty()) return;
    if (movesToFront || isSystemPrompt) {
      if (!original.isRequestMember) {
        reporter_.note(Change::Altered, original, nullptr, "message.position", "moved into the system prompt");
      }
      plan_.system.verbatim = false;
      plan_.hasSystem = true;
      std::ranges::move(outBlocks, std::back_inserter(plan_.system.outBlocks));
      return;
    }
    closeCalls(&original);
    plan_.messages.push_back(
        {.role = Role::System, .roleName = original.message.roleName, .outBlocks = std::move(outBlocks)});
  }

  void addAssistant(std::int32_t index, const Original& original) {
    std::vector<OutBlock> outBlocks;
    std::vector<std::size_t> calls;
    for (const Block& block : original.message.blocks) {
      if (block.kind == BlockKind::ToolCall) {
        const std::size_t call = nextCall_++;
        if (pairing_.calls[call].repeated) {
          reporter_.note(Change::LeftOut, original, &block, "tool_call", "the same call is there already");
          continue;
        }
        calls.push_back(call);
        outBlocks.push_back(adapter_.call(pairing_.calls[call]));
      } else if (block.kind == BlockKind::ToolResult) {
        reportUnpairedResult(pairing_.resultCalls[nextResult_++], original, block);
      } else {
        adapter_.content(index, block, outBlocks);
      }
    }
    if (mergesTurns()) dropBlanks(original, outBlocks);
    if (original.message.blocks.empty() && !mergesTurns()) {
      reporter_.note(Change::LeftOut, original, nullptr, "message", "it says nothing");
    }
    if (outBlocks.empty()) return;
    if (!joinsAssistant(original)) {
      if (!callsMayWait()) closeCalls(&original);
      plan_.messages.push_back({.role = Role::Assistant});
      turnEnded_ = false;
    }
    for (const std::size_t call : calls) openCalls_.add(call, pairing_.calls[call].redacted);
    std::ranges::move(outBlocks, std::back_inserter(plan_.messages.back().outBlocks));
  }

  // When turns need not alternate, messages of the target's own provider stay separate.
  [[nodiscard]] bool joinsAssistant(const Original& original) const {
    if (!mayJoin(Role::Assistant)) return false;
    const OutMessage& last = plan_.messages.back();
    if (original.joinsPrevious) return true;
    if (original.neverJoined) return false;
    if (!request_) return !turnEnded_;
    return mergesTurns() || (!turnEnded_ && original.dialect != target_ && !last.outBlocks.back().stored);
  }

  void addUser(std::int32_t index, const Original& original) {
    std::vector<OutBlock> outBlocks;
    closeCalls(&original);
    turnEnded_ = true;
    for (const Block& block : original.message.blocks) {
      if (block.kind == BlockKind::ToolResult) {
        const std::int32_t call = pairing_.resultCalls[nextResult_++];
        if (fragment_) {
          addSingleResult(index, block);
        } else if (call < 0) {
          reportUnpairedResult(call, original, block);
        }
      } else if (block.kind == BlockKind::ToolCall) {
        reporter_.invalid(original, &block, "a tool call in a user message");
      } else {
        adapter_.content(index, block, outBlocks);
      }
    }
    if (mergesTurns()) dropBlanks(original, outBlocks);
    if (original.joinsPrevious && !outBlocks.empty() && !mayJoin(Role::User)) {
      reporter_.lossy(Change::Altered, original, nullptr, "message.boundaries",
                      "the target has the results of tools in a message of their own");
    }
    const bool joins = original.joinsPrevious || (mergesTurns() && (!original.neverJoined || endsWith(index)));
    addUserBlocks(std::move(outBlocks), joins);
  }

  [[nodiscard]] bool mayJoin(Role role) const {
    return !plan_.messages.empty() && !plan_.messages.back().verbatim && plan_.messages.back().role == role;
  }

  // Returns whether the last message contains something of this original.
  [[nodiscard]] bool endsWith(std::int32_t index) const {
    return !plan_.messages.empty() && std::ranges::any_of(plan_.messages.back().outBlocks,
                                                          [&](const OutBlock& each) { return each.original == index; });
  }

  // `joins`: add the blocks to the previous message if that is a user message.
  void addUserBlocks(std::vector<OutBlock> outBlocks, bool joins) {
    if (outBlocks.empty()) return;
    if (!joins || !mayJoin(Role::User)) plan_.messages.push_back({.role = Role::User});
    std::ranges::move(outBlocks, std::back_inserter(plan_.messages.back().outBlocks));
  }

  // Targets that merge turns refuse empty text, and text of white space when nothing else is next to it.
  void dropBlanks(const Original& original, std::vector<OutBlock>& outBlocks) {
    const bool allBlank = std::ranges::all_of(
        outBlocks, [](const OutBlock& outBlock) { return outBlock.kind == BlockKind::Text && isBlank(outBlock.text); });
    const std::size_t dropped = std::erase_if(outBlocks, [&](const OutBlock& outBlock) {
      const bool isSigned = outBlock.stored && !outBlock.block->signature.empty();
      return outBlock.kind == BlockKind::Text && !isSigned && (outBlock.text.empty() || allBlank);
    });
    if (dropped > 0 || original.message.blocks.empty()) {
      reporter_.note(Change::LeftOut, original, nullptr, "text", "the target refuses empty text; it comes back");
    }
  }

  // Adds the results of the last message's calls after it. `next` is the original that follows, if any.
  void closeCalls(const Original* next) {
    const std::vector<std::size_t> open = std::exchange(openCalls_, {}).calls;
    if (fragment_ || open.empty()) return;
    std::vector<OutBlock> results;
    std::vector<OutBlock> carried;
    for (const std::size_t index : open) {
      const Call& call = pairing_.calls[index];
      if (call.result == nullptr) {
        if (call.redacted || !staysOpen(call, next)) results.push_back(adapter_.missingResult(call));
      } else if (!copied_.contains(call.resultOriginal)) {
        results.push_back(adapter_.result(call));
        if (request_) reportMoved(call, next);
        carryMedia(results.back(), carried);
      }
    }
    if (results.empty()) return;
    // Anthropic accepts results and other content in one message; Gemini requires results alone.
    plan_.messages.push_back(
        {.role = target_ == Dialect::Anthropic ? Role::User : Role::Tool, .outBlocks = std::move(results)});
    addUserBlocks(std::move(carried), mergesTurns());
    turnEnded_ = true;
  }

  // Reports a result that came after something other than its call.
  void reportMoved(const Call& call, const Original* next) {
    const Original& from = history_.originals[static_cast<std::size_t>(call.resultOriginal)];
    if (next == nullptr || &from <= next) return;
    reporter_.note(Change::Altered, from, call.result, "tool_result", "moved after its call");
  }

  // Returns whether a call may stay without a result: it had none in its own document, and its position there is
  // unchanged.
  [[nodiscard]] bool staysOpen(const Call& call, const Original* next) const {
    if (next == nullptr && options_.keepPendingCalls) return true;
    return copied_.areInOriginalOrder(call.original, next);
  }

  // Images that a result cannot hold follow in a user message.
  void carryMedia(OutBlock& result, std::vector<OutBlock>& carried) {
    const bool cannot = target_ == Dialect::OpenaiChat || (target_ == Dialect::Anthropic && result.isError);
    if (!cannot || result.media.empty()) return;
    OutBlock lead{.kind = BlockKind::Text,
                  .original = result.original,
                  .block = result.block,
                  .text = adapter_.own("Attached to the tool result:")};
    carried.push_back(std::move(lead));
    for (const Block* block : result.media) {
      carried.push_back({.kind = block->kind, .original = result.original, .block = block, .text = block->text});
    }
    result.media.clear();
  }

  void arrangeEnds() {
    if (target_ == Dialect::Bough) return;
    const bool hadMessages = std::ranges::any_of(
        history_.originals, [](const Original& original) { return original.section == Section::Messages; });
    if (plan_.messages.empty() && hadMessages && history_.isBeginning)
      beginWith(plan_, kBeginningText, "the target wants at least one message", reporter_);
    if (mergesTurns() && !plan_.messages.empty() && history_.isBeginning) startWithUser();
    if (target_ == Dialect::Gemini) arrangeForGemini(plan_, history_, pairing_, request_, reporter_);
    if (target_ == Dialect::Anthropic && !history_.hasMore) trimEnd();
  }

  void startWithUser() {
    const OutMessage& first = plan_.messages.front();
    // If it was not the first message of its own document, what preceded it is lost.
    const bool lost = first.verbatim && history_.originals[static_cast<std::size_t>(first.original)].documentPlace > 0;
    if (first.role == Role::Assistant && (!first.verbatim || lost)) {
      beginWith(plan_, kBeginningText, "the target wants a user message first", reporter_);
    }
  }

  // Text at the very end is treated as the beginning of the answer, and then must not end with white space.
  void trimEnd() {
    if (plan_.messages.empty()) return;
    OutMessage& last = plan_.messages.back();
    if (last.role != Role::Assistant || (last.verbatim && !replaceByBlocks(last, history_, adapter_))) return;
    while (last.outBlocks.back().kind == BlockKind::Text) {
      const std::string text = last.outBlocks.back().text.decode();
      const std::string trimmed = withoutBlanksAtEnd(text);
      if (trimmed.size() == text.size()) return;
      reporter_.note(Change::Altered, "", "text", "blanks at the very end were cut off; they come back");
      // Reasoning must not be last.
      const bool canGo = last.outBlocks.size() > 1 && !isThinking(last.outBlocks[last.outBlocks.size() - 2]);
      if (!trimmed.empty() || !canGo) {
        setText(last.outBlocks.back(), adapter_.own(trimmed.empty() ? "." : trimmed), plan_.texts);
        return;
      }
      last.outBlocks.pop_back();
    }
  }

  History& history_;
  Dialect target_;
  const ConvertOptions& options_;
  bool fragment_;
  bool request_;
  Reporter& reporter_;
  Plan plan_;
  Adapter adapter_;
  Pairing pairing_;
  bool hasTargetMessages_ = false;  // Something was originally written in the target's dialect.
  bool sawTargetMessage_ = false;   // The same, up to the current message.
  bool turnEnded_ = false;
  CopiedOriginals copied_;  // Empty for a request, which copies nothing before it is arranged.
  std::size_t nextCall_ = 0;
  std::size_t nextResult_ = 0;
  OpenCalls openCalls_;
};

// Returns which originals can be copied into a document that also has written messages: those that do not break the
// target's rules there. When some are no longer copied, others may break the rules, so this takes several rounds.
CopiedOriginals withoutBroken(CopiedOriginals copied, const Pairing& pairing, History& history, Dialect target,
                              const ConvertOptions& options) {
  constexpr int kRounds = 8;
  std::unordered_set<std::int32_t> rewritten;
  for (int round = 0; round < kRounds; ++round) {
    CompatibilityReport unread;
    Reporter reporter(unread);
    const Plan plan = Planner(history, target, options, reporter, PlanMode::Convert, pairing, copied).run();
    const std::vector<std::int32_t> broken = brokenPairs(plan, history, pairing, copied, target);
    if (broken.empty()) break;
    rewritten.insert(broken.begin(), broken.end());
    copied = CopiedOriginals(history, pairing, target, rewritten);
  }
  return copied;
}

}  // namespace

Plan makePlan(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter, PlanMode mode) {
  Pairing pairing = pairCalls(history);
  CopiedOriginals copied;
  if (mode == PlanMode::Request) markRepeatedCalls(pairing);
  if (mode != PlanMode::Request) copied = CopiedOriginals(history, pairing, target, {});
  if (mode == PlanMode::Convert && copied.isMixed()) {
    copied = withoutBroken(std::move(copied), pairing, history, target, options);
  }
  return Planner(history, target, options, reporter, mode, std::move(pairing), std::move(copied)).run();
}

}  // namespace bough::message
