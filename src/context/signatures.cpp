#include "context/signatures.h"

#include <fmt/format.h>

#include <unordered_map>

#include "message/model/signatures.h"

namespace bough::context {
namespace {

class Signatures {
 public:
  Signatures(const Branch& branch, const RequestChanges& changes) : branch_(branch), changes_(changes) {
    firstRedacted_ = branch.entries.size();
    for (std::size_t i = 0; i < branch.entries.size(); ++i) {
      indexes_.emplace(branch.entries[i].id, i);
      if (branch.entries[i].redacted && i < firstRedacted_) firstRedacted_ = i;
    }
  }

  // Returns what differs before an entry between now and the time when it was written; empty when nothing does.
  [[nodiscard]] std::string invalidReason(std::string_view entryId) const {
    const auto found = indexes_.find(entryId);
    const std::size_t place = found == indexes_.end() ? 0 : found->second;
    if (changes_.system || place < branch_.systemSince) return "the system prompt before it changed";
    if (changes_.tools || place < branch_.toolsSince) return "the tools before it changed";
    if (branch_.summary && place < branch_.summarySince) return "a summary replaces the messages before it";
    if (changes_.turnsLeftOut) return "turns before it were left out";
    if (firstRedacted_ < place) {
      return fmt::format("entry {} before it was redacted", branch_.entries[firstRedacted_].id);
    }
    return {};
  }

 private:
  const Branch& branch_;
  const RequestChanges& changes_;
  std::unordered_map<std::string_view, std::size_t> indexes_;
  std::size_t firstRedacted_ = 0;
};

}  // namespace

void reportSignatures(const message::History& history, const Branch& branch, Dialect target,
                      const RequestChanges& changes, message::Reporter& reporter) {
  std::optional<Signatures> signatures;
  for (const message::Original& original : history.originals) {
    for (const Block& block : original.message.blocks) {
      if (block.signature.empty() || !reporter.hasRoomForSignature()) continue;
      if (!signatures) signatures.emplace(branch, changes);
      SignatureStatus status{.path = reporter.pathOf(original, &block),
                             .provider = original.dialect,
                             .state = SignatureState::Carried,
                             .reason = "not in this context; the session keeps it",
                             .entryId = std::string(original.entryId)};
      if (original.dialect == target) {
        status.reason = target == Dialect::Anthropic ? signatures->invalidReason(original.entryId) : "";
        status.state = status.reason.empty() ? SignatureState::Valid : SignatureState::Invalid;
        if (!status.reason.empty()) {
          reporter.warn(fmt::format("entry {}: the signature is no longer valid: {}", original.entryId, status.reason));
        }
      }
      reporter.report().signatures.push_back(std::move(status));
    }
  }
}

}  // namespace bough::context
