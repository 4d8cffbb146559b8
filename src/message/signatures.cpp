#include "message/signatures.h"

#include <fmt/format.h>

#include <algorithm>

namespace bough::message {

bool isSigned(const Native& native) {
  return std::ranges::any_of(native.message.blocks, [](const Block& block) {
    return (block.kind == BlockKind::Thinking || block.kind == BlockKind::RedactedThinking) && !block.signature.empty();
  });
}

void checkSignatures(const Native& native, const Prefix& now, Reporter& reporter) {
  for (const Block& block : native.message.blocks) {
    if (block.signature.empty() || !reporter.listsSignatures()) continue;
    SignatureStatus status{.path = pathOf(native, &block),
                           .provider = native.dialect,
                           .state = SignatureState::Valid,
                           .reason = {},
                           .entryId = std::string(native.entryId)};
    if (native.dialect == Dialect::Anthropic && native.signedBlocks && native.prefix != now) {
      status.state = SignatureState::Invalid;
      status.reason = native.prefix.system != now.system ? "the system prompt before it changed"
                      : native.prefix.tools != now.tools ? "the tools before it changed"
                                                         : "a message before it changed";
      const std::string entry = native.entryId.empty() ? "" : fmt::format("entry {}: ", native.entryId);
      reporter.warn(fmt::format("{}{}: the signature is no longer valid: {}", entry, status.path, status.reason));
    }
    reporter.report().signatures.push_back(std::move(status));
  }
}

void reportCarriedSignatures(const History& history, Dialect target, Reporter& reporter) {
  for (const Native& native : history.natives) {
    if (staysVerbatim(native, target)) continue;
    for (const Block& block : native.message.blocks) {
      if (block.signature.empty() || !reporter.listsSignatures()) continue;
      reporter.report().signatures.push_back(
          {.path = pathOf(native, &block),
           .provider = native.dialect,
           .state = SignatureState::Carried,
           .reason =
               native.dialect == Dialect::Anthropic
                   ? "valid again on the way back, unless the system prompt, the tools or an earlier message change"
                   : "comes back with the origin",
           .entryId = std::string(native.entryId)});
    }
  }
}

}  // namespace bough::message
