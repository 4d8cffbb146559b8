// Writes a plan: the one loop over planned messages, for documents, sessions and requests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "message/dialect/writers.h"
#include "message/model/report.h"
#include "message/model/signatures.h"

namespace bough::message {

/// Where one planned message was written. Some dialects write several values for one message.
struct WrittenMessage {
  std::size_t begin = 0;  ///< In the text.
  std::size_t end = 0;
  std::size_t firstValue = 0;  ///< In Records::values.
  std::size_t endValue = 0;
};

class PlanWriter {
 public:
  PlanWriter(const History& history, Dialect target, Records& records, Hashing hashing)
      : history_(history), target_(target), records_(records), hashing_(hashing) {}

  /// Checks the signatures of copied originals against `before`, the hashes of system prompt and tools, and against the
  /// messages written so far.
  void checkSignatures(const Prefix& before, Reporter& reporter) {
    chain_.prefix = before;
    reporter_ = &reporter;
  }
  /// The same after earlier parts of the history, whose chain() is `before`.
  void checkSignatures(const PrefixChain& before, Reporter& reporter) {
    chain_ = before;
    reporter_ = &reporter;
  }
  [[nodiscard]] const PrefixChain& chain() const { return chain_; }
  /// Writes the value of the request's own member for the system prompt.
  void system(const Plan& plan, std::string& out);
  /// Appends the messages, with separators between them. `asOneString`: the only message is a string, which Responses
  /// allows.
  std::vector<WrittenMessage> messages(const Plan& plan, std::string& out, bool asOneString = false);

 private:
  [[nodiscard]] const Original& originalAt(std::int32_t index) const {
    return history_.originals[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::uint64_t hashOf(const Original& original) {
    return hashing_ == Hashing::Yes ? hasher_.hashOf(original) : 0;
  }
  [[nodiscard]] std::string_view acceptableText(const Original& original, std::string& clean) const;
  void checkStored(const OutMessage& message);
  void copy(std::int32_t index, const Original* before, bool asOneString, Sink& sink);

  const History& history_;
  Dialect target_;
  Records& records_;
  Hashing hashing_;
  Reporter* reporter_ = nullptr;
  ContentHasher hasher_;
  PrefixChain chain_;
};

}  // namespace bough::message
