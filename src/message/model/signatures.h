// Whether what proves reasoning to its provider still holds. Anthropic binds a signature to everything that stands
// before it: system prompt, tools and messages.
#pragma once

#include "message/json/content_hash.h"
#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

bool isSigned(const Original& original);

/// What is before a place, put together message by message. Messages of other providers have another form each time
/// they are converted, but always the same one: what is between two of Anthropic's counts once.
class PrefixChain {
 public:
  void add(const NodeRecord& node) { node.verbatim ? own(node.hash) : foreign(); }
  void own(std::uint64_t hash) {
    prefix.messages = content_hash::element(prefix.messages, hash);
    foreignLast_ = false;
  }
  void foreign() {
    if (!foreignLast_) prefix.messages = content_hash::element(prefix.messages, 0);
    foreignLast_ = true;
  }

  Prefix prefix;

 private:
  bool foreignLast_ = false;
};

/// Reports the signatures of an original that is in the written text, with `now` before it.
void checkSignatures(const Original& original, const Prefix& now, Reporter& reporter);

/// Reports those that are not in it.
void reportCarriedSignatures(const History& history, Dialect target, Reporter& reporter);

}  // namespace bough::message
