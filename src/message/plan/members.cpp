#include "message/plan/members.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json/json_scan.h"

namespace bough::message {
namespace {

constexpr std::string_view kReason = "its message is written again, and the target's form has no place for it";

class MemberRewriter {
 public:
  MemberRewriter(const History& history, Dialect target, Reporter& reporter)
      : history_(history), target_(target), reporter_(reporter), isDone_(history.originals.size(), false) {}

  void rewrite(OutMessage& out) {
    if (out.verbatim) return;
    // Only Chat has such members in requests: the name of a participant, annotations.
    const bool mayRewrite = target_ == Dialect::OpenaiChat && out.role != Role::Tool && isOfOne(out);
    for (const OutBlock& outBlock : out.outBlocks) {
      if (outBlock.original < 0) continue;
      const Original& original = history_.originals[static_cast<std::size_t>(outBlock.original)];
      if (original.dialect != target_ || original.section != Section::Messages) continue;
      const bool isMessage = outBlock.block != nullptr && outBlock.block->raw.data() == original.raw.data();
      if (!outBlock.stored) reportMembersOf(original, outBlock.block);
      if (isSpoken(outBlock))
        reporter_.lossy(Change::Altered, original, outBlock.block, "audio", "sent back by its id");
      // A block that is the whole message, such as a result of Chat, contains the members itself.
      if (isMessage && outBlock.stored) continue;
      if (isDone_[static_cast<std::size_t>(outBlock.original)]) continue;
      isDone_[static_cast<std::size_t>(outBlock.original)] = true;
      for (const std::string_view name : original.message.extras) addMember(out, original, name, mayRewrite);
    }
  }

 private:
  // Returns whether a spoken answer has more than its id, which is all that is written.
  static bool isSpoken(const OutBlock& outBlock) {
    return outBlock.stored && outBlock.block != nullptr && outBlock.block->type.escaped == "audio" &&
           outBlock.block->id.present && !outBlock.block->extras.empty();
  }
  static bool isOfOne(const OutMessage& out) {
    const std::int32_t first = out.outBlocks.empty() ? -1 : out.outBlocks.front().original;
    return first >= 0 &&
           std::ranges::all_of(out.outBlocks, [&](const OutBlock& each) { return each.original == first; });
  }

  // The members around a message in a provider's whole response are never sent.
  void addMember(OutMessage& out, const Original& original, std::string_view name, bool mayRewrite) {
    const auto value = json::findMember(original.raw, name);
    if (!value && !name.contains('\\')) return;  // A name with escapes may be there; it is only reported.
    if (mayRewrite && value) {
      out.members.emplace_back(name, *value);
    } else {
      reporter_.lossy(Change::LeftOut, original, nullptr, fmt::format("message.{}", name), kReason);
    }
  }

  void reportMembersOf(const Original& original, const Block* block) {
    if (block == nullptr) return;
    for (const std::string_view name : block->extras) {
      reporter_.lossy(Change::LeftOut, original, block, fmt::format("{}.{}", toString(block->kind), name), kReason);
    }
  }

  const History& history_;
  Dialect target_;
  Reporter& reporter_;
  std::vector<bool> isDone_;  // By original: its members were carried or reported.
};

}  // namespace

void rewriteMembers(Plan& plan, const History& history, Dialect target, Reporter& reporter) {
  MemberRewriter members(history, target, reporter);
  for (OutMessage& out : plan.messages) members.rewrite(out);
}

}  // namespace bough::message
