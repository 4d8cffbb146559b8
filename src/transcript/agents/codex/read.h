// The two halves of the row for Codex in the table of agents.
#pragma once

#include <memory>
#include <string_view>

#include "transcript/agents/codex/lineage.h"
#include "transcript/model/agent.h"

namespace bough::transcript::codex {

/// Reads a file for another file that continues it.
class HistoryReader : public Reader {
 public:
  /// Returns what a file that continues from here must know. Entries have the ids that `out` gave them.
  [[nodiscard]] virtual Lineage collectLineage(const Builder& out) const = 0;
};

std::unique_ptr<Reader> makeReader();
/// `followed`: the files that continue this one.
std::unique_ptr<HistoryReader> makeHistoryReader(std::vector<std::string> followed);
std::unique_ptr<Writer> makeWriter();

}  // namespace bough::transcript::codex
