// What the requests of a Codex thread cost.
#pragma once

#include <string>

#include "transcript/source/json_line.h"

namespace bough::transcript::codex {

/// Makes members of a session_info payload of the lines that say what requests cost.
class Costs {
 public:
  /// What one request cost. Newer versions write a record of it; older ones only count on.
  std::string record(const Members& record, const std::string& model);
  /// A count without an increase is the same one again, and gives nothing. A file that was forked repeats those of its
  /// parent: the thread that they began in and the count name them.
  std::string count(const Members& event, const std::string& thread, const std::string& model);

 private:
  std::string lastTotal_;  // of tokens
  bool hasRecords_ = false;
};

}  // namespace bough::transcript::codex
