// Checks whether the signatures that prove reasoning to its provider are still valid. Anthropic binds a signature to
// everything before it: system prompt, tools and messages.
#pragma once

#include "message/json/content_hash.h"
#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

bool isSigned(const Original& original);

/// The hash of everything before a position, built message by message. Each conversion may write the messages of other
/// providers in a different form, but always the same one. So everything between two messages of Anthropic counts as
/// one element.
class PrefixChain {
 public:
  void add(const ValueRecord& value) { value.verbatim ? addOwn(value.hash) : addForeign(); }
  void addOwn(std::uint64_t hash) {
    prefix.messages = content_hash::element(prefix.messages, hash);
    foreignLast_ = false;
  }
  void addForeign() {
    if (!foreignLast_) prefix.messages = content_hash::element(prefix.messages, 0);
    foreignLast_ = true;
  }

  Prefix prefix;

 private:
  bool foreignLast_ = false;
};

/// Reports the signatures of an original that is in the written text, with `now` before it.
void checkSignatures(const Original& original, const Prefix& now, Reporter& reporter);

/// Reports the signatures that are not in the written text.
void reportCarriedSignatures(const History& history, Dialect target, Reporter& reporter);

}  // namespace bough::message
