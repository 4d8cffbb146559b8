// The report of the conversion of a long session, computed part by part, so that each part can be dropped when it is
// done.
#pragma once

#include <bough/convert.h>

#include <string_view>
#include <vector>

#include "message/model/history.h"
#include "message/model/signatures.h"
#include "message/roundtrip/session_convert.h"

namespace bough::message {

/// Reports what readSession (without a way back) and convertSession would report for all parts together. At the end of
/// a part, the messages on both sides must not be joined in any target, no later result may answer an earlier call, and
/// the last turn must have no unanswered call. Findings are added part by part.
class SessionReport {
 public:
  /// `system`, `tools`: those in force at the end of the branch, raw.
  SessionReport(Dialect target, std::string_view system, std::string_view tools, CompatibilityReport& report);

  void add(const std::vector<SessionMessage>& messages, bool isLast);
  /// Lists the signatures. Call it after the last part.
  void joinReports();

 private:
  Dialect target_;
  CompatibilityReport& report_;
  CompatibilityReport copied_;   // Signatures of messages that are copied unchanged.
  CompatibilityReport carried_;  // Signatures of all other messages.
  EarlierCalls calls_;
  PrefixChain read_;
  PrefixChain written_;
  bool isBeginning_ = true;
};

}  // namespace bough::message
