// A branch in the form that tools other than agents need: what was said, the answers, and with each answer its tool
// calls and their results, wherever in the log the results are.
//
// A branch is read twice: first to find its steps and to match results with calls, in a few bytes each; then step by
// step while it is written. So memory holds only one step at a time, with its results.
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
  std::string timestamp;
  std::string text;
  bool isError = false;
};

struct TraceCall {
  std::string id;
  std::string name;
  std::string arguments;             ///< A JSON object. Arguments that are not an object become its member "input".
  std::vector<TraceResult> results;  ///< Usually one; empty when the call was never answered.
};

/// One message, without the tool results that belong to an earlier answer.
struct TraceStep {
  EntryPin entry = nullptr;
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

/// The steps of one branch.
class TraceBranch {
 public:
  /// Finds the steps of the branch that ends at `leaf`. What a trace cannot hold is counted in the report. The entries
  /// must outlive this object.
  TraceBranch(const EntryList& entries, const EntryTree& tree, std::size_t leaf, CompatibilityReport& report);

  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  /// Returns the place of the step's entry in the list.
  [[nodiscard]] std::size_t place(std::size_t step) const { return steps_[step].place; }
  [[nodiscard]] Role role(std::size_t step) const { return steps_[step].role; }
  [[nodiscard]] TraceStep read(std::size_t step) const;
  /// The times of the first and the last entry; 0 when no entry has a time.
  [[nodiscard]] std::uint64_t firstMs() const { return firstMs_; }
  [[nodiscard]] std::uint64_t lastMs() const { return lastMs_; }

 private:
  friend class TraceFinding;
  struct Step {
    std::uint32_t place = 0;
    // for a result without a call, which is a step of its own: its block in the message
    std::uint32_t block = UINT32_MAX;
    std::uint32_t firstResult = 0;  // index in results_
    Role role = Role::User;
    bool hasUsage = false;
  };
  struct FoundResult {
    std::uint32_t step = 0;
    std::uint32_t call = 0;
    std::uint32_t place = 0;
    std::uint32_t block = 0;
  };

  void addResults(std::size_t number, TraceStep& step) const;

  const EntryList& entries_;
  std::vector<Step> steps_;
  std::vector<FoundResult> results_;  // ordered by step
  std::uint64_t firstMs_ = 0;
  std::uint64_t lastMs_ = 0;
};

/// Receives a trace in pieces.
using TraceSink = std::function<Result<void>(std::string_view piece)>;

/// Passes the text on and clears it when it has grown large enough.
inline Result<void> flushTrace(std::string& text, const TraceSink& out) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 18;
  if (text.size() < kPieceBytes) return {};
  auto given = out(text);
  text.clear();
  return given;
}

/// Writes one trajectory as a line of ATIF. `copied`: how many of the first steps another trajectory also contains.
Result<void> writeAtif(const WriteTraceOptions& options, const std::string& name, const TraceBranch& branch,
                       std::size_t copied, const TraceSink& out);

/// Writes all branches as one trace in OTLP/JSON. `openInference` selects OpenInference's attribute names.
Result<void> writeOtlp(const WriteTraceOptions& options, const std::vector<TraceBranch>& branches, bool openInference,
                       const TraceSink& out);

}  // namespace bough::transcript
