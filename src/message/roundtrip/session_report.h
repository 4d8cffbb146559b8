// What the conversion of a long session would report, part by part: a part is dropped once it was looked at.
#pragma once

#include <bough/convert.h>

#include <string_view>
#include <vector>

#include "message/model/history.h"
#include "message/model/signatures.h"
#include "message/roundtrip/session_convert.h"

namespace bough::message {

/// Reports what readSession, without a way back, and convertSession report of all parts together. Where a part ends,
/// the messages on both sides must not be joined in any target, no result after it answers a call before it, and no
/// call of its last turn is unanswered. Findings come part by part.
class SessionReport {
 public:
  /// `system`, `tools`: those in force at the end of the branch, raw.
  SessionReport(Dialect target, std::string_view system, std::string_view tools, CompatibilityReport& report);

  void add(const std::vector<SessionMessage>& messages, bool isLast);
  /// Lists the signatures, after the last part.
  void joinReports();

 private:
  Dialect target_;
  CompatibilityReport& report_;
  CompatibilityReport copied_;   // Of messages that are written as they are: their signatures.
  CompatibilityReport carried_;  // Signatures of all others.
  EarlierCalls calls_;
  PrefixChain read_;
  PrefixChain written_;
  bool begins_ = true;
};

}  // namespace bough::message
