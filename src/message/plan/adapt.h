// Converts a block of one dialect to the blocks that another can hold, and reports what is lost.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_set>

#include "message/plan/pairing.h"
#include "message/plan/plan.h"

namespace bough::message {

class Adapter {
 public:
  /// `forRequest`: a second call with the same id gets another id, even in the target's own dialect.
  Adapter(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter,
          std::deque<std::string>& texts, bool forRequest)
      : history_(history),
        target_(target),
        options_(options),
        reporter_(reporter),
        texts_(texts),
        forRequest_(forRequest) {}

  /// Appends the converted blocks of a block that is neither a call nor a result.
  void content(std::int32_t original, const Block& block, std::vector<OutBlock>& outBlocks);
  OutBlock call(const Call& call);
  OutBlock result(const Call& call);
  /// Returns a result for a call that nobody answered.
  OutBlock missingResult(const Call& call);
  /// Reports everything in a message and its blocks that the target cannot express, and lone surrogates.
  void reportExtras(std::int32_t original);

  /// Stores a text of our own.
  TextView own(std::string_view plain);

 private:
  void insideDocument(std::int32_t original, const Block& block, std::vector<OutBlock>& outBlocks);
  void storedContent(std::int32_t original, const Block& block, std::vector<OutBlock>& outBlocks);
  [[nodiscard]] bool isStored(const Call& call) const;
  /// Nothing comes back from a request, so what another server wrote in the target's dialect is changed to what the
  /// target accepts.
  [[nodiscard]] bool mayKeep(const Aliases& aliases, const TextView& own) const {
    return !forRequest_ || aliases.isSendable(target_, own);
  }
  void resultContent(const Call& call, const Block& block, OutBlock& outBlock);
  void resultMedia(const Call& call, const Block& block, OutBlock& outBlock);
  void setCall(const Call& call, OutBlock& outBlock);
  [[nodiscard]] std::optional<TextView> freeformText(const Call& call);
  void setInput(const Call& call, OutBlock& outBlock);
  [[nodiscard]] bool takesObjects() const { return target_ == Dialect::Anthropic || target_ == Dialect::Gemini; }
  TextView placeholder(const Block& block);
  /// Each converts a block to text and returns true, or returns false: reasoning, if the options ask for it, and calls
  /// and results of a provider's own tools.
  bool thinkingAsText(const Original& from, OutBlock& out);
  bool unknownAsText(const Original& from, const Block* where, OutBlock& out);
  void reportTitle(const Original& from, const Block& block, bool asMedia);
  void reportSurrogates(const Original& from);
  [[nodiscard]] const Original& originalAt(std::int32_t index) const {
    return history_.originals[static_cast<std::size_t>(index)];
  }

  History& history_;
  Dialect target_;
  const ConvertOptions& options_;
  Reporter& reporter_;
  std::deque<std::string>& texts_;
  bool forRequest_;  // True in a request, from which nothing comes back.
  std::optional<std::unordered_set<std::string_view>> freeformTools_;  // Their names, collected on first use.

  [[nodiscard]] std::string_view notHeldReason() const;
};

}  // namespace bough::message
