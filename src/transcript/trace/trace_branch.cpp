#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes/flat_map.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/text/timestamp.h"
#include "transcript/trace/trace.h"

namespace bough::transcript {
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
    return json::Writer().beginObject().member("input", text).endObject().take();
  }
  return json::Writer().beginObject().member("input", call.text.decode()).endObject().take();
}

bool isSummary(EntryKind kind) {
  return kind == EntryKind::CompactionSummary || kind == EntryKind::BranchSummary;
}

// Returns a call's id. A call needs an id so that its result can name it, but some providers write none. `before`:
// number of earlier calls in the message.
std::string callId(const Block& call, std::string_view entryId, std::size_t before) {
  std::string id = call.id.decode();
  return id.empty() ? fmt::format("{}-{}", entryId, before + 1) : id;
}

std::string resultText(const Block& result) {
  std::string text;
  for (const Block& part : result.content) {
    if (part.kind == BlockKind::Text) addLine(text, part.text.decode());
  }
  return text;
}

}  // namespace

// Finds the steps of a branch, entry by entry.
class TraceFinding {
 public:
  TraceFinding(TraceBranch& branch, CompatibilityReport& report) : branch_(branch), report_(report) {}

  void addEntry(std::size_t place) {
    const EntryPin entry = branch_.entries_.at(place);
    if (isSummary(branch_.entries_.kind(place))) {
      takeTime(*entry);
      branch_.steps_.push_back({.place = static_cast<std::uint32_t>(place), .role = Role::System});
      return;
    }
    if (!holdsMessage(*entry)) return addLossy(entry->type);
    const auto message = normalizeEntry(*entry);
    if (!message) return addLossy("message that cannot be read");
    takeTime(*entry);
    addMessage(*message, place);
  }

  void orderResults() {
    std::ranges::stable_sort(branch_.results_, {}, &TraceBranch::FoundResult::step);
    std::size_t next = 0;
    for (std::size_t i = 0; i < branch_.steps_.size(); ++i) {
      while (next < branch_.results_.size() && branch_.results_[next].step < i) ++next;
      branch_.steps_[i].firstResult = static_cast<std::uint32_t>(next);
    }
  }

 private:
  struct Call {
    std::uint32_t step = 0;
    std::uint32_t number = 0;  // index in the step
    std::uint32_t among = 0;   // index among all calls
  };

  void takeTime(const Entry& entry) {
    const std::uint64_t time = parseTimestamp(entry.timestamp).value_or(0);
    branch_.firstMs_ = branch_.firstMs_ == 0 ? time : std::min(branch_.firstMs_, time);
    branch_.lastMs_ = std::max(branch_.lastMs_, time);
  }

  void addMessage(const Message& message, std::size_t place) {
    TraceBranch::Step step{.place = static_cast<std::uint32_t>(place), .role = message.role};
    // When damage splits an answer, each part states the cost of the whole answer.
    const std::string id = message.usage ? message.id.decode() : std::string();
    step.hasUsage = message.usage && (id.empty() || answers_.insert(id).second);
    bool onlyResults = !message.blocks.empty();
    for (std::size_t i = 0; i < message.blocks.size(); ++i) {
      onlyResults = onlyResults && message.blocks[i].kind == BlockKind::ToolResult;
      addBlock(message.blocks[i], i, place);
    }
    if (onlyResults) return;
    const auto number = static_cast<std::uint32_t>(branch_.steps_.size());
    branch_.steps_.push_back(step);
    addCalls(message, branch_.entries_.id(place), number);
  }

  void addBlock(const Block& block, std::size_t number, std::size_t place) {
    switch (block.kind) {
      case BlockKind::Text:
      case BlockKind::Refusal:
      case BlockKind::Thinking:
      case BlockKind::ToolCall: break;
      case BlockKind::ToolResult: addResult(block, number, place); break;
      default: addLossy(toString(block.kind));
    }
  }

  void addResult(const Block& block, std::size_t number, std::size_t place) {
    for (const Block& part : block.content) {
      if (part.kind != BlockKind::Text) addLossy(toString(part.kind));
    }
    const auto at = static_cast<std::uint32_t>(place);
    const auto blockAt = static_cast<std::uint32_t>(number);
    if (const auto call = findCall(block.id.decode(), block.name.decode())) {
      isAnswered_[call->among] = true;
      branch_.results_.push_back({.step = call->step, .call = call->number, .place = at, .block = blockAt});
    } else {
      branch_.steps_.push_back({.place = at, .block = blockAt, .role = Role::System});
    }
  }

  void addCalls(const Message& message, std::string_view entryId, std::uint32_t step) {
    std::uint32_t number = 0;
    for (const Block& block : message.blocks) {
      if (block.kind != BlockKind::ToolCall) continue;
      const Call call{.step = step, .number = number, .among = static_cast<std::uint32_t>(isAnswered_.size())};
      const auto [known, isNew] = byId_.try_emplace(hashOf(callId(block, entryId, number)), call);
      if (!isNew && known->second.step != step) known->second = call;
      byName_[hashOf(block.name.decode())].push_back(call);
      isAnswered_.push_back(false);
      ++number;
    }
  }

  // Returns the last call of that id. Without an id, returns the first unanswered call of that name in the last step
  // that has one.
  std::optional<Call> findCall(const std::string& id, const std::string& name) {
    if (!id.empty()) {
      const auto found = byId_.find(hashOf(id));
      return found == byId_.end() ? std::nullopt : std::optional(found->second);
    }
    const auto found = byName_.find(hashOf(name));
    if (found == byName_.end()) return std::nullopt;
    std::vector<Call>& calls = found->second;
    while (!calls.empty() && isAnswered_[calls.back().among]) calls.pop_back();
    if (calls.empty()) return std::nullopt;
    Call first = calls.back();
    for (auto call = calls.rbegin(); call != calls.rend() && call->step == first.step; ++call) {
      if (!isAnswered_[call->among]) first = *call;
    }
    return first;
  }

  void addLossy(std::string_view what) {
    auto& fields = report_.lossyFields;
    const auto found = std::ranges::find(fields, what);
    if (found == fields.end()) {
      fields.emplace_back(what);
      report_.lossyCounts.push_back(1);
    } else {
      ++report_.lossyCounts[static_cast<std::size_t>(found - fields.begin())];
    }
  }

  TraceBranch& branch_;
  CompatibilityReport& report_;
  std::unordered_set<std::string> answers_;                      // ids of the answers whose cost was counted
  std::unordered_map<std::uint64_t, Call> byId_;                 // by hash of the id
  std::unordered_map<std::uint64_t, std::vector<Call>> byName_;  // by hash of the name
  std::vector<bool> isAnswered_;
};

TraceBranch::TraceBranch(const EntryList& entries, const EntryTree& tree, std::size_t leaf, CompatibilityReport& report)
    : entries_(entries) {
  TraceFinding finding(*this, report);
  for (const std::size_t place : tree.path(leaf)) finding.addEntry(place);
  finding.orderResults();
}

TraceStep TraceBranch::read(std::size_t number) const {
  const Step& found = steps_[number];
  TraceStep step{.entry = entries_.at(found.place), .role = found.role};
  if (isSummary(entries_.kind(found.place))) {
    step.text = json::findString(step.entry->payload, "summary").value_or("");
    return step;
  }
  const auto message = normalizeEntry(*step.entry);
  if (!message) return step;  // the entry could not be read again; the list reports that
  if (found.block < message->blocks.size()) {
    step.text =
        fmt::format("Result of a tool call that is not in the history:\n{}", resultText(message->blocks[found.block]));
    return step;
  }
  step.id = message->id.decode();
  step.model = message->model.decode();
  step.stopReason = message->stopReason.decode();
  step.dialect = message->dialect;
  if (found.hasUsage) step.usage = message->usage;
  for (const Block& block : message->blocks) {
    const bool isText = block.kind == BlockKind::Text || block.kind == BlockKind::Refusal;
    if (isText) addLine(step.text, block.text.decode());
    if (block.kind == BlockKind::Thinking) addLine(step.thinking, block.text.decode());
    if (block.kind != BlockKind::ToolCall) continue;
    step.calls.push_back({.id = callId(block, step.entry->id, step.calls.size()),
                          .name = block.name.decode(),
                          .arguments = argumentsOf(block),
                          .results = {}});
  }
  addResults(number, step);
  return step;
}

void TraceBranch::addResults(std::size_t number, TraceStep& step) const {
  for (std::size_t i = steps_[number].firstResult; i < results_.size() && results_[i].step == number; ++i) {
    const FoundResult& result = results_[i];
    const EntryPin entry = entries_.at(result.place);
    const auto message = normalizeEntry(*entry);
    if (!message || result.block >= message->blocks.size() || result.call >= step.calls.size()) continue;
    const Block& block = message->blocks[result.block];
    step.calls[result.call].results.push_back(
        {.timestamp = entry->timestamp, .text = resultText(block), .isError = block.isError});
  }
}

}  // namespace bough::transcript
