#include "transcript/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"

namespace bough {

using namespace transcript;

std::vector<std::string_view> traceFormats() {
  return {"atif", "openinference", "otel"};
}

Result<CompatibilityReport> writeTrace(const TranscriptSource& source, const WriteTraceOptions& options,
                                       const std::function<Result<void>(std::string_view)>& out) {
  const auto formats = traceFormats();
  if (std::ranges::find(formats, options.format) == formats.end()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("bough knows no format \"{}\"", options.format),
                "one of atif, openinference, otel");
  }
  const EntryList& entries = source.list();
  const EntryTree tree(entries);
  const std::size_t head = options.headId.empty() ? tree.head() : tree.find(options.headId);
  if (head == EntryTree::kNone && options.headId.empty()) return tree.noHead();
  if (head == EntryTree::kNone) {
    return fail(ErrorCode::NotFound, fmt::format("no entry {} in the conversation", options.headId));
  }
  std::vector<std::size_t> leaves = {head};
  if (options.all) {
    for (const std::size_t leaf : tree.leaves()) {
      if (leaf != head) leaves.push_back(leaf);
    }
  }
  CompatibilityReport report;
  std::vector<TraceBranch> branches;
  std::vector<bool> seen(entries.size());
  for (const std::size_t leaf : leaves) {
    TraceBranch branch(entries, tree, leaf, report);
    BOUGH_TRY(entries.check());
    std::size_t copied = 0;
    while (copied < branch.size() && seen[branch.place(copied)]) ++copied;
    for (std::size_t i = 0; i < branch.size(); ++i) seen[branch.place(i)] = true;
    if (options.format == "atif") {
      const std::string name = leaf == head ? options.facts.sessionId : std::string(entries.id(leaf));
      BOUGH_TRY(writeAtif(options, name, branch, copied, out));
    } else {
      branches.push_back(std::move(branch));
    }
  }
  if (options.format != "atif") {
    BOUGH_TRY(writeOtlp(options, branches, options.format == "openinference", out));
  }
  // An entry that could not be read the second time is missing in the output.
  BOUGH_TRY(entries.check());
  report.compatible = report.lossyFields.empty();
  return report;
}

}  // namespace bough
