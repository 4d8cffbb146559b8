// The report of what an agent's file does not hold, besides what the conversion of the messages reports.
#pragma once

#include <bough/convert.h>
#include <bough/entry.h>
#include <bough/transcript.h>

#include <string_view>
#include <vector>

#include "transcript/model/agent.h"
#include "transcript/model/items.h"

namespace bough::transcript {

class LossReport {
 public:
  /// `isInAgentsFolder`: the agent's own list of sessions says what its lines do not (Agent::listed). All arguments
  /// must outlive this object.
  LossReport(const EntryList& entries, const Agent& agent, bool isInAgentsFolder, CompatibilityReport& report)
      : entries_(entries),
        agent_(agent),
        isInAgentsFolder_(isInAgentsFolder),
        report_(report),
        hasLine_(entries.size()) {}

  void add(std::string_view field);
  /// Names what the agent's lines do not say of the session.
  void addSession(const TranscriptFacts& facts);
  /// Marks an entry that has a line in the file, written by the agent itself.
  void markCopied(std::size_t place) { hasLine_[place] = true; }
  /// Marks an entry that has a line in the file, and names what the line does not say of it.
  void markWritten(std::size_t place, const Entry& entry, bool isMoreOfAnswer);
  /// Names labels and settings of the session that have no line, and other agents' lines outside the conversation.
  void addWithoutLine();

 private:
  [[nodiscard]] bool lacks(std::string_view property) const;
  void addSettings(const Entry& entry);

  const EntryList& entries_;
  const Agent& agent_;
  bool isInAgentsFolder_;
  CompatibilityReport& report_;
  std::vector<bool> hasLine_;  // by place
};

}  // namespace bough::transcript
