// What the requests of a Codex thread cost.
#pragma once

#include <string>

#include "transcript/source/json_line.h"

namespace bough::transcript::codex {

/// Makes members of a session_info payload from the lines that state the cost of requests.
class Costs {
 public:
  /// Returns the cost of one request. Newer versions write a record of it; older versions only write a running count.
  std::string costOfRecord(const Members& record, const std::string& model);
  /// Returns the increase of a running count; empty when the count is unchanged, because then it is only repeated. A
  /// forked file repeats the counts of its parent; the thread where they were first written and the count together name
  /// them.
  std::string increaseOfTotal(const Members& event, const std::string& thread, const std::string& model);

 private:
  std::string lastTotal_;  // total token counts, as JSON
  bool hasRecords_ = false;
};

}  // namespace bough::transcript::codex
