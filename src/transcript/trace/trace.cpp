#include "transcript/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"

namespace bough {
namespace transcript {
namespace {

void addLine(std::string& out, const std::string& text) {
  if (text.empty()) return;
  if (!out.empty()) out += '\n';
  out += text;
}

std::string argumentsOf(const Block& call) {
  if (!call.freeform) {
    const std::string text = json::decodeString(call.input).value_or(std::string(call.input));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{' && json::check(text)) return text;
    if (first == std::string::npos) return "{}";
    std::string wrapped;
    json::Writer(wrapped).beginObject().member("input", text).endObject();
    return wrapped;
  }
  std::string wrapped;
  json::Writer(wrapped).beginObject().member("input", call.text.decode()).endObject();
  return wrapped;
}

class TraceReading {
 public:
  TraceReading(const std::vector<Entry>& entries, CompatibilityReport& report) : entries_(entries), report_(report) {}

  void take(std::size_t place) {
    const Entry& entry = entries_[place];
    if (entry.type == entry_type::kCompactionSummary || entry.type == entry_type::kBranchSummary) {
      TraceStep step{.entry = &entry, .place = place, .role = Role::System};
      step.text = json::findString(entry.payload, "summary").value_or("");
      steps_.push_back(std::move(step));
      return;
    }
    if (!holdsMessage(entry)) return lose(entry.type);
    auto message = normalizeEntry(entry);
    if (!message) return lose("message that cannot be read");
    takeMessage(*message, place);
  }

  std::vector<TraceStep> steps() { return std::move(steps_); }

 private:
  void takeMessage(const Message& message, std::size_t place) {
    TraceStep step{.entry = &entries_[place], .place = place, .role = message.role};
    step.id = message.id.decode();
    step.model = message.model.decode();
    step.stopReason = message.stopReason.decode();
    step.dialect = message.dialect;
    // Damage tears an answer into parts that each say what the whole cost.
    if (message.usage && (step.id.empty() || answers_.insert(step.id).second)) step.usage = message.usage;
    bool onlyResults = !message.blocks.empty();
    for (const Block& block : message.blocks) {
      onlyResults = onlyResults && block.kind == BlockKind::ToolResult;
      takeBlock(block, step);
    }
    if (!onlyResults) steps_.push_back(std::move(step));
  }

  void takeBlock(const Block& block, TraceStep& step) {
    switch (block.kind) {
      case BlockKind::Text:
      case BlockKind::Refusal: addLine(step.text, block.text.decode()); break;
      case BlockKind::Thinking: addLine(step.thinking, block.text.decode()); break;
      case BlockKind::ToolCall:
        step.calls.push_back({.id = idOf(block.id.decode(), step),
                              .name = block.name.decode(),
                              .arguments = argumentsOf(block),
                              .results = {}});
        break;
      case BlockKind::ToolResult: takeResult(block, step); break;
      default: lose(toString(block.kind));
    }
  }

  // A call needs an id by which its result names it; some providers write none.
  static std::string idOf(std::string id, const TraceStep& step) {
    return id.empty() ? fmt::format("{}-{}", step.entry->id, step.calls.size() + 1) : id;
  }

  void takeResult(const Block& block, TraceStep& step) {
    TraceResult result{.entry = step.entry, .text = {}, .isError = block.isError};
    for (const Block& part : block.content) {
      part.kind == BlockKind::Text ? addLine(result.text, part.text.decode()) : lose(toString(part.kind));
    }
    if (TraceCall* call = findCall(block.id.decode(), block.name.decode())) {
      call->results.push_back(std::move(result));
      return;
    }
    TraceStep alone{.entry = step.entry, .place = step.place, .role = Role::System};
    alone.text = fmt::format("Result of a tool call that is not in the history:\n{}", result.text);
    steps_.push_back(std::move(alone));
  }

  // The last call of that id; without an id the first of that name that has no result yet.
  TraceCall* findCall(const std::string& id, const std::string& name) {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const auto found = std::ranges::find_if(step->calls, [&](const TraceCall& call) {
        return id.empty() ? call.name == name && call.results.empty() : call.id == id;
      });
      if (found != step->calls.end()) return &*found;
    }
    return nullptr;
  }

  void lose(std::string_view what) {
    auto& fields = report_.lossyFields;
    const auto found = std::ranges::find(fields, what);
    if (found == fields.end()) {
      fields.emplace_back(what);
      report_.lossyCounts.push_back(1);
    } else {
      ++report_.lossyCounts[static_cast<std::size_t>(found - fields.begin())];
    }
  }

  const std::vector<Entry>& entries_;
  CompatibilityReport& report_;
  std::vector<TraceStep> steps_;
  std::unordered_set<std::string> answers_;  // ids of those whose cost was taken
};

}  // namespace

std::vector<TraceStep> readTrace(const std::vector<Entry>& entries, const EntryTree& tree, std::size_t leaf,
                                 CompatibilityReport& report) {
  TraceReading reading(entries, report);
  for (const std::size_t place : tree.path(leaf)) reading.take(place);
  return reading.steps();
}

}  // namespace transcript

using namespace transcript;

std::vector<std::string_view> traceFormats() {
  return {"atif", "openinference", "otel"};
}

Result<CompatibilityReport> writeTrace(const std::vector<Entry>& entries, const WriteTraceOptions& options,
                                       const std::function<Result<void>(std::string_view)>& out) {
  const auto formats = traceFormats();
  if (std::ranges::find(formats, options.format) == formats.end()) {
    return fail(ErrorCode::InvalidArgument, fmt::format("bough knows no format \"{}\"", options.format),
                "one of atif, openinference, otel");
  }
  const EntryTree tree(entries);
  const std::size_t head = options.headId.empty() ? tree.head() : tree.find(options.headId);
  if (head == EntryTree::kNone) {
    return fail(ErrorCode::NotFound, options.headId.empty()
                                         ? std::string("the session has no conversation")
                                         : fmt::format("no entry {} in the conversation", options.headId));
  }
  std::vector<std::size_t> leaves = {head};
  if (options.all) {
    for (const std::size_t leaf : tree.leaves()) {
      if (leaf != head) leaves.push_back(leaf);
    }
  }
  CompatibilityReport report;
  std::vector<std::vector<TraceStep>> branches;
  std::vector<bool> seen(entries.size());
  for (const std::size_t leaf : leaves) {
    std::vector<TraceStep> steps = readTrace(entries, tree, leaf, report);
    std::size_t copied = 0;
    while (copied < steps.size() && seen[steps[copied].place]) ++copied;
    for (const TraceStep& step : steps) seen[step.place] = true;
    if (options.format == "atif") {
      const std::string name = leaf == head ? options.facts.sessionId : entries[leaf].id;
      BOUGH_TRY(writeAtif(options, name, steps, copied, out));
    } else {
      branches.push_back(std::move(steps));
    }
  }
  if (options.format != "atif") {
    BOUGH_TRY(writeOtlp(options, branches, options.format == "openinference", out));
  }
  report.compatible = report.lossyFields.empty();
  return report;
}

}  // namespace bough
