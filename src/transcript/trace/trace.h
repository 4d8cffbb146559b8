// A branch as tools that are not agents want it: what was said, the answers, and with each answer its tool calls and
// what they returned, wherever the log has the results.
#pragma once

#include <bough/convert.h>
#include <bough/entry.h>
#include <bough/message.h>
#include <bough/transcript.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/model/items.h"

namespace bough::transcript {

struct TraceResult {
  const Entry* entry = nullptr;
  std::string text;
  bool isError = false;
};

struct TraceCall {
  std::string id;
  std::string name;
  std::string arguments;             ///< A JSON object. What is not one is the member "input" of one.
  std::vector<TraceResult> results;  ///< Usually one; none when the call was never answered.
};

/// One message, without the tool results that belong to an earlier answer.
struct TraceStep {
  const Entry* entry = nullptr;
  std::size_t place = 0;  ///< Of the entry in the list.
  Role role = Role::User;
  std::string text;
  std::string thinking;
  std::string id;
  std::string model;
  std::string stopReason;
  Dialect dialect = Dialect::Bough;
  std::optional<Usage> usage;
  std::vector<TraceCall> calls;
};

/// Reads the branch that ends at `leaf`. What a trace has no place for is counted in the report.
std::vector<TraceStep> readTrace(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t leaf,
                                 CompatibilityReport& report);

/// Gets a trace in pieces.
using TraceSink = std::function<Result<void>(std::string_view piece)>;

/// Gives what is written so far away once it is much.
inline Result<void> flushTrace(std::string& text, const TraceSink& out) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
  if (text.size() < kPieceBytes) return {};
  auto given = out(text);
  text.clear();
  return given;
}

/// One trajectory: a line of ATIF. `copied`: how many of the first steps another trajectory has as well.
Result<void> writeAtif(const WriteTraceOptions& options, const std::string& name, const std::vector<TraceStep>& steps,
                       std::size_t copied, const TraceSink& out);

/// All branches as one trace: OTLP/JSON. `openInference` chooses the names of the attributes.
Result<void> writeOtlp(const WriteTraceOptions& options, const std::vector<std::vector<TraceStep>>& branches,
                       bool openInference, const TraceSink& out);

}  // namespace bough::transcript
