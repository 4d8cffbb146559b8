#include "message/model/signatures.h"

#include <fmt/format.h>

#include <algorithm>

namespace bough::message {

bool isSigned(const Original& original) {
  return std::ranges::any_of(original.message.blocks, [](const Block& block) {
    return (block.kind == BlockKind::Thinking || block.kind == BlockKind::RedactedThinking) && !block.signature.empty();
  });
}

void checkSignatures(const Original& original, const Prefix& now, Reporter& reporter) {
  for (const Block& block : original.message.blocks) {
    if (block.signature.empty() || !reporter.hasRoomForSignature()) continue;
    SignatureStatus status{.path = reporter.pathOf(original, &block),
                           .provider = original.dialect,
                           .state = SignatureState::Valid,
                           .reason = {},
                           .entryId = std::string(original.entryId)};
    if (original.dialect == Dialect::Anthropic && original.signedBlocks && original.prefix != now) {
      status.state = SignatureState::Invalid;
      status.reason = original.prefix.system != now.system ? "the system prompt before it changed"
                      : original.prefix.tools != now.tools ? "the tools before it changed"
                                                           : "a message before it changed";
      const std::string entry = original.entryId.empty() ? "" : fmt::format("entry {}: ", original.entryId);
      reporter.warn(fmt::format("{}{}: the signature is no longer valid: {}", entry, status.path, status.reason));
    }
    reporter.report().signatures.push_back(std::move(status));
  }
}

void reportCarriedSignatures(const History& history, Dialect target, Reporter& reporter) {
  for (const Original& original : history.originals) {
    if (staysVerbatim(original, target)) continue;
    for (const Block& block : original.message.blocks) {
      if (block.signature.empty() || !reporter.hasRoomForSignature()) continue;
      reporter.report().signatures.push_back(
          {.path = reporter.pathOf(original, &block),
           .provider = original.dialect,
           .state = SignatureState::Carried,
           .reason =
               original.dialect == Dialect::Anthropic
                   ? "valid again on the way back, unless the system prompt, the tools or an earlier message change"
                   : "it comes back",
           .entryId = std::string(original.entryId)});
    }
  }
}

}  // namespace bough::message
