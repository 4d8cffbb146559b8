// Builds a context: reads the branch, leaves out what does not fit, and lets the message room write the request.
#include <bough/context.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/model/unreadable.h"
#include "base/text/counted.h"
#include "base/try.h"
#include "context/branch.h"
#include "context/budget.h"
#include "context/models.h"
#include "context/signatures.h"
#include "context/tokens.h"
#include "message/dialect/entry_message.h"
#include "message/model/message_edit.h"
#include "message/model/request_names.h"
#include "message/request/request.h"
#include "message/request/stored.h"

namespace bough {
namespace context {
namespace {

using message::History;
using message::Original;

constexpr std::string_view kSummaryIntro = "Summary of the conversation so far:\n\n";
constexpr std::string_view kBranchSummaryIntro = "Summary of another branch of this conversation:\n\n";

class Builder {
 public:
  explicit Builder(const ContextOptions& options) : options_(options), reporter_(out_.report) {
    out_.dialect = options.dialect;
  }

  Result<Context> fromBranch(Branch branch, const std::string& sessionId) {
    branch_ = std::move(branch);
    out_.sessionId = sessionId;
    out_.headId = branch_.headId;
    out_.model = branch_.model;
    out_.provider = branch_.provider;
    out_.thinkingLevel = branch_.thinkingLevel;
    checkModel();
    addSystem();
    addTools();
    firstMessage_ = history_.originals.size();
    addSummary();
    if (branch_.orphanedRoot) unreadable_ = reporter_.beginsTooLate(*branch_.orphanedRoot);
    firstTurn_ = history_.originals.size();
    history_.originals.reserve(firstTurn_ + branch_.entries.size());
    findEdits();
    for (Entry& entry : branch_.entries) {
      // Frees these members, which are not needed below. Assigning "" would keep their memory.
      for (std::string* text : {&entry.timestamp, &entry.runId, &entry.meta, &entry.extra}) std::string().swap(*text);
      addEntry(entry);
    }
    return makeContext();
  }

  /// Returns true when an error would remain after reading more of the branch.
  [[nodiscard]] bool isErrorFinal() const { return isErrorFinal_; }

 private:
  void addSystem() {
    if (options_.systemPrompt) {
      const std::string& text = history_.texts.emplace_back(json::quoted(*options_.systemPrompt));
      message::addSystem({.entryId = {}, .dialect = Dialect::Bough, .raw = text}, history_);
    } else if (branch_.system) {
      const RecordedSetting& system = *branch_.system;
      message::addSystem({.entryId = system.entryId, .dialect = system.dialect, .raw = system.json}, history_);
    }
  }

  // Reports a model of another provider, because the target would only reject its name.
  void checkModel() {
    out_.foreignModel = isForeignModel(out_.model, out_.provider, options_.dialect);
    if (!out_.foreignModel) return;
    reporter_.note(Change::LeftOut, "model", "model",
                   fmt::format("{} is a model of another provider than {}'s", out_.model, toString(options_.dialect)));
  }

  void addTools() {
    if (options_.tools) {
      message::addTools({.entryId = {}, .dialect = Dialect::Plain, .raw = *options_.tools}, history_);
    } else if (branch_.tools) {
      const RecordedSetting& tools = *branch_.tools;
      message::addTools({.entryId = tools.entryId, .dialect = tools.dialect, .raw = tools.json}, history_);
    }
  }

  void addUserText(std::string_view entryId, std::string_view text) {
    const std::string& kept = history_.texts.emplace_back(
        json::Writer().beginObject().member("role", "user").member("content", text).endObject().take());
    message::addMessage({.entryId = entryId, .dialect = Dialect::Bough, .raw = kept}, history_);
  }

  void note(Change change, std::string_view entryId, std::string_view field, std::string_view reason) {
    reporter_.note(change, "payload", field, reason, entryId);
  }

  // An edit comes after its target in the branch, so both were read.
  void findEdits() {
    for (const Entry& entry : branch_.entries) {
      if (auto edit = message::editIn(entry)) edits_[edit->targetId] = {.entryId = entry.id, .edit = *edit};
    }
  }

  // Adds the edited version of an entry. Returns false when no edit replaces it for models.
  bool addEdited(const Entry& entry, bool isMessage) {
    const auto found = edits_.find(entry.id);
    if (found == edits_.end()) return false;
    const auto& [editId, edit] = found->second;
    if (edit.leavesOut()) {
      note(Change::LeftOut, entry.id, "message", fmt::format("the edit {} leaves it out", editId));
      return true;
    }
    const auto payload = isMessage ? message::editedPayload(entry, edit) : std::nullopt;
    if (!payload) return false;
    note(Change::Altered, entry.id, "message", fmt::format("the edit {} replaces what it says", editId));
    message::addEntryMessage(entry.id, entry_type::kMessage, history_.texts.emplace_back(*payload), history_);
    return true;
  }

  void addSummary() {
    if (!branch_.summary) return;
    const Entry& entry = *branch_.summary;
    out_.summaryEntryId = entry.id;
    const auto text = summaryText(entry);
    if (text) addUserText(entry.id, std::string(kSummaryIntro) + *text);
    if (!text) note(Change::Invalid, entry.id, "summary", "the entry has no summary text");
    if (!branch_.summaryProblem.empty()) note(Change::Invalid, entry.id, "firstKeptEntryId", branch_.summaryProblem);
    note(Change::LeftOut, entry.id, "messages", "its summary replaces the messages before the first one it keeps");
  }

  // Adds a placeholder for an entry in a damaged line: the report says where the line is, and the placeholder keeps its
  // place.
  void addUnreadable(const Entry& entry) {
    message::addUnreadable(entry.id, history_);
    const std::string problem = reporter_.unreadable(entry);
    unreadable_ = unreadable_.empty() ? problem : unreadable_;
  }

  void addEntry(const Entry& entry) {
    if (isUnreadable(entry)) {
      addUnreadable(entry);
      return;
    }
    const bool isMessage = message::isMessageType(entry.type);
    const bool isSummary = entry.type == entry_type::kBranchSummary;
    if (!isMessage && !isSummary) return;
    ++messageCount_;
    if (entry.redacted) {
      if (isMessage) message::addRedacted(entry.id, entry.type, branch_.hidden[entry.id], history_);
      note(Change::LeftOut, entry.id, isMessage ? "message" : "summary", "redacted");
    } else if (addEdited(entry, isMessage)) {
      return;
    } else if (isMessage) {
      message::addEntryMessage(entry.id, entry.type, entry.payload, history_);
    } else if (const auto text = summaryText(entry)) {
      addUserText(entry.id, std::string(kBranchSummaryIntro) + *text);
    } else {
      note(Change::Invalid, entry.id, "summary", "the entry has no summary text");
    }
  }

  [[nodiscard]] Result<void> checkStrict() const {
    if (!options_.strict) return {};
    if (!unreadable_.empty()) return fail(ErrorCode::Damaged, unreadable_, "bough verify names the damage");
    for (const Original& original : history_.originals) {
      std::string_view problem = original.problem;
      for (const Block& block : original.message.blocks) problem = problem.empty() ? block.problem : problem;
      if (problem.empty()) continue;
      const std::string where =
          original.entryId.empty() ? message::pathOf(original) : fmt::format("entry {}", original.entryId);
      return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", where, problem));
    }
    return {};
  }

  // Counts the tokens that every context of this branch contains: system prompt, tools, summary.
  std::uint64_t countFixed() {
    std::uint64_t fixed = 0;
    for (std::size_t i = 0; i < firstMessage_; ++i) fixed += estimateJson(history_.originals[i].raw);
    return fixed;
  }

  Result<void> applyBudget() {
    const std::uint64_t fixed = countFixed();
    const bool fromRoot = !branch_.summary && branch_.isWhole;
    counts_ = countTokens(history_, firstTurn_, fromRoot ? &fixed : nullptr, edits_.empty());
    const Turns turns = findTurns(history_, firstTurn_, branch_.isWhole);
    for (std::size_t i = 0; i < counts_.tokens.size(); ++i) {
      counts_.tokens[i] += turns.unanswered[firstTurn_ + i] * kAddedTokens;
    }
    std::uint64_t kept = fixed;
    for (std::size_t i = firstMessage_; i < firstTurn_; ++i) kept += estimateMessage(history_.originals[i].message);
    const bool startsWithUser = !turns.starts.empty() && turns.starts.front() == firstTurn_;
    std::uint64_t all = kept + (startsWithUser ? 0 : kAddedTokens);
    for (const std::uint64_t tokens : counts_.tokens) all += tokens;
    out_.tokens = all;
    if (!options_.budgetTokens || all <= *options_.budgetTokens) return {};
    return cut(turns, kept, *options_.budgetTokens);
  }

  Result<void> cut(const Turns& found, std::uint64_t kept, std::uint64_t budget) {
    const std::vector<std::size_t>& starts = found.starts;
    std::size_t from = history_.originals.size();
    std::uint64_t total = kept;
    std::size_t turns = 0;
    for (std::size_t end = history_.originals.size(), k = starts.size(); k-- > 0; end = starts[k]) {
      std::uint64_t turn = 0;
      for (std::size_t i = starts[k]; i < end; ++i) turn += counts_.tokens[i - firstTurn_];
      if (total + turn > budget) break;
      total += turn;
      from = starts[k];
      ++turns;
    }
    if (turns == 0) return newestTurnTooLong(found, kept, budget);
    // Messages before the first turn that begins with the user count as a turn too.
    const bool startsMidTurn = starts.front() > firstTurn_;
    leaveOut(from, starts.size() - turns + (startsMidTurn ? 1 : 0), budget);
    out_.tokens = total;
    return {};
  }

  Result<void> newestTurnTooLong(const Turns& found, std::uint64_t kept, std::uint64_t budget) {
    const NewestTurn newest = findNewestTurn(history_, firstTurn_, found, branch_.isWhole);
    std::uint64_t tokens = 0;
    for (std::size_t i = newest.from; i < history_.originals.size(); ++i) tokens += counts_.tokens[i - firstTurn_];
    // The usage of an older answer can reduce the count by at most this factor.
    isErrorFinal_ = newest.isCountFinal || kept + tokens / kMaxUsageFactor > budget;
    return fail(ErrorCode::InvalidArgument,
                fmt::format("the newest turn has {} {} tokens and what is always kept {}, which is more than the "
                            "budget of {}",
                            newest.isWhole ? "about" : "more than", tokens, kept, budget),
                "raise the budget, or say less in one turn");
  }

  void leaveOut(std::size_t from, std::size_t turns, std::uint64_t budget) {
    out_.turnsLeftOut = turns;
    out_.messagesLeftOut = from - firstTurn_;
    const std::string_view first = history_.originals[firstTurn_].entryId;
    const std::string_view last = history_.originals[from - 1].entryId;
    reporter_.note(
        Change::LeftOut, "", "turns",
        fmt::format("{} ({}, entries {} to {}{}) {} not fit in the budget of {} tokens",
                    counted(out_.turnsLeftOut, "turn"), counted(out_.messagesLeftOut, "message"), first, last,
                    branch_.isWhole ? "" : ", and all before them", turns == 1 ? "does" : "do", budget),
        first);
    const auto begin = static_cast<std::ptrdiff_t>(firstTurn_);
    const auto end = static_cast<std::ptrdiff_t>(from);
    history_.originals.erase(history_.originals.begin() + begin, history_.originals.begin() + end);
    const auto offset = static_cast<std::ptrdiff_t>(from - firstTurn_);
    counts_.tokens.erase(counts_.tokens.begin(), counts_.tokens.begin() + offset);
    counts_.isMeasured.erase(counts_.isMeasured.begin(), counts_.isMeasured.begin() + offset);
  }

  Result<Context> makeContext() {
    if (options_.dialect == Dialect::Plain) {
      return fail(ErrorCode::Unsupported, "plain entries are only read", "use bough instead");
    }
    BOUGH_TRY(checkStrict());
    BOUGH_TRY(applyBudget());
    for (std::size_t i = 0; i < counts_.tokens.size(); ++i) {
      if (counts_.isMeasured[i] != 0) out_.countedTokens += counts_.tokens[i];
    }
    message::Request request = message::writeRequest(
        history_, options_.dialect,
        {.strict = false, .keepPendingCalls = options_.keepPendingCalls, .thinkingAsText = options_.thinkingAsText},
        reporter_);
    out_.report.messages = messageCount_;
    out_.system = std::move(request.system);
    out_.tools = std::move(request.tools);
    out_.messages = std::move(request.messages);
    for (const message::Request::Part& part : request.parts) addPart(part);
    const RequestChanges changes{.system = options_.systemPrompt && branch_.system &&
                                           branch_.system->json != json::quoted(*options_.systemPrompt),
                                 .tools = options_.tools && branch_.tools && branch_.tools->json != *options_.tools,
                                 .turnsLeftOut = out_.turnsLeftOut > 0};
    reportSignatures(history_, branch_, options_.dialect, changes, reporter_);
    return std::move(out_);
  }

  void addPart(const message::Request::Part& part) {
    ContextMessage& message = out_.parts.emplace_back();
    message.json = std::string_view(out_.messages).substr(part.begin, part.end - part.begin);
    message.verbatim = part.verbatim;
    for (const std::int32_t index : part.originals) {
      const std::string_view entry = history_.originals[static_cast<std::size_t>(index)].entryId;
      // An entry with several items in one part is listed once.
      if (entry.empty() || std::exchange(lastPartWith_[entry], out_.parts.size()) == out_.parts.size()) continue;
      message.entryIds.emplace_back(entry);
      if (out_.firstEntryId.empty() && entry != out_.summaryEntryId) out_.firstEntryId = entry;
    }
  }

  struct Edit {
    std::string entryId;
    message::MessageEdit edit;
  };

  // The cost of an added message or result.
  static constexpr std::uint64_t kAddedTokens = 24;

  const ContextOptions& options_;
  Context out_;
  message::Reporter reporter_;
  History history_;
  Branch branch_;
  std::unordered_map<std::string, Edit> edits_;  // the edits in force, by their target
  TokenCounts counts_;
  std::size_t firstMessage_ = 0;
  std::size_t firstTurn_ = 0;
  std::uint64_t messageCount_ = 0;
  std::unordered_map<std::string_view, std::size_t> lastPartWith_;  // by entry: the last part that has it, from 1
  std::string unreadable_;                                          // describes the first unreadable entry
  bool isErrorFinal_ = true;
};

}  // namespace
}  // namespace context

namespace {
// The size of the first read.
constexpr std::size_t kFirstEntries = 256;
constexpr std::size_t kFirstBytes = std::size_t{16} << 20;
}  // namespace

namespace {

// Fails for unreadable tools, which would otherwise be silently left out.
Result<void> checkTools(const std::optional<std::string>& tools) {
  if (!tools) return {};
  bool whole = json::check(*tools).has_value();
  json::ArrayReader reader(*tools);
  while (whole) {
    const auto tool = reader.next();
    if (!tool) break;
    whole = json::kindOf(*tool) == json::Kind::Object;
  }
  if (whole && !reader.error()) return {};
  return fail(ErrorCode::InvalidArgument, "the tools are not a JSON list of objects",
              "give them as a request of any of the providers has them");
}

}  // namespace

Result<Context> buildContext(SessionStore& store, const std::string& sessionId, const ContextOptions& options) {
  BOUGH_TRY(checkTools(options.tools));
  // With a budget, reading the end of the branch is enough as long as some of what was read is left out.
  const bool mayBePartial = options.budgetTokens.has_value();
  std::size_t maxBytes = kFirstBytes;
  for (std::size_t last = kFirstEntries;; last *= 4) {
    BOUGH_TRY(auto branch, context::readBranch(store, sessionId, options.at, last, mayBePartial, maxBytes));
    const bool isWhole = branch.isWhole;
    last = branch.requestedEntries;
    maxBytes = SIZE_MAX;
    context::Builder builder(options);
    auto built = builder.fromBranch(std::move(branch), sessionId);
    if (isWhole || (built ? built->turnsLeftOut > 0 : builder.isErrorFinal())) return built;
  }
}

std::string Context::requestJson() const {
  const message::RequestNames names = message::requestNames(dialect);
  json::Writer writer;
  writer.beginObject();
  if (!model.empty() && dialect != Dialect::Gemini && !foreignModel) writer.member("model", model);
  if (dialect == Dialect::Anthropic) writer.member("max_tokens", message::kDefaultMaxTokens);
  if (!system.empty() && !names.system.empty()) writer.key(names.system).raw(system);
  if (!tools.empty()) writer.key(names.tools).raw(tools);
  return writer.key(names.messages).raw(messages).endObject().take();
}

}  // namespace bough
