#include "agent/loop/compaction.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/ask_once.h"
#include "agent/loop/requests.h"
#include "agent/parts/json_parts.h"
#include "agent/parts/prompts.h"
#include "base/model/payloads.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::size_t kBlockBytes = 4'000;  // the limit for arguments and for results in the text to summarize

// The parts of one message that compaction needs.
struct Piece {
  std::string entryId;
  Role role = Role::User;
  std::uint64_t tokens = 0;
  std::string transcript;
  std::string userText{};  // the text of the user
  bool isSummary = false;
};

constexpr std::size_t kGoalBytes = 2'000;

// Returns the end of the last whole character before `limit`. The text is longer than `limit`.
std::size_t characterEnd(std::string_view text, std::size_t limit) {
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end > 0 ? end : limit;
}

std::string cut(const std::string& text, std::size_t limit = kBlockBytes) {
  if (text.size() <= limit) return text;
  return text.substr(0, characterEnd(text, limit)) + "…";
}

std::string textOf(const Block& block) {
  if (block.kind == BlockKind::ToolCall)
    return fmt::format("[calls {} with {}]", block.name.decode(), cut(std::string(block.input)));
  if (block.kind == BlockKind::ToolResult) {
    std::string text;
    for (const Block& part : block.content) text += part.text.decode();
    return fmt::format("[{}: {}]", block.isError ? "failed" : "result", cut(text));
  }
  return block.kind == BlockKind::Text || block.kind == BlockKind::Refusal ? block.text.decode() : std::string();
}

std::optional<Piece> pieceOf(const Entry& entry) {
  if (entry.type == entry_type::kCompactionSummary) {
    const std::string text = json::findString(entry.payload, "summary").value_or("");
    return Piece{
        .entryId = entry.id, .role = Role::User, .tokens = estimateTokens(text), .transcript = text, .isSummary = true};
  }
  if (!holdsMessage(entry) || entry.redacted) return std::nullopt;
  const auto message = normalizeEntry(entry);
  if (!message) return std::nullopt;
  Piece piece{.entryId = entry.id, .role = message->role, .tokens = estimateTokens(entry.payload)};
  piece.transcript = fmt::format("{}:", toString(message->role));
  for (const Block& block : message->blocks) {
    if (const std::string text = textOf(block); !text.empty()) piece.transcript += " " + text;
    if (block.kind == BlockKind::ToolResult) piece.role = Role::Tool;  // some dialects put results into user messages
    if (piece.role == Role::User && block.kind == BlockKind::Text) piece.userText += block.text.decode();
  }
  piece.transcript += "\n\n";
  return piece;
}

// Returns the pieces since the last summary, including that summary.
Result<std::vector<Piece>> readPieces(const Agent& agent, const Journal& journal) {
  if (journal.parentId().empty()) return std::vector<Piece>{};
  auto summaries = agent.store.loadSessionEntries(
      journal.sessionId(),
      {.last = 1, .branch = journal.parentId(), .types = {std::string(entry_type::kCompactionSummary)}});
  if (!summaries) return std::unexpected(summaries.error());
  const std::string first =
      summaries->empty() ? "" : json::findString(summaries->back().payload, "firstKeptEntryId").value_or("");
  const auto isFirst = [&](const Entry& entry) { return entry.id == first; };
  auto entries = loadBack(agent.store, journal.sessionId(), journal.parentId(), [&](const std::vector<Entry>& read) {
    return !first.empty() && std::ranges::any_of(read, isFirst);
  });
  if (!entries) return std::unexpected(entries.error());
  std::vector<Piece> pieces;
  if (!summaries->empty()) pieces.push_back(*pieceOf(summaries->back()));
  auto from = first.empty() ? entries->begin() : std::ranges::find_if(*entries, isFirst);
  if (from == entries->end()) from = entries->begin();
  for (; from != entries->end(); ++from) {
    if (from->type == entry_type::kCompactionSummary) continue;
    if (auto piece = pieceOf(*from)) pieces.push_back(std::move(*piece));
  }
  return pieces;
}

// Returns the index of the first piece that is kept. Cuts at the beginning of a turn when that keeps enough, otherwise
// before an answer, where all earlier calls have their results.
std::size_t firstKept(const std::vector<Piece>& pieces, std::uint64_t keepTokens) {
  std::size_t newest = 0;
  std::size_t answer = 0;
  std::size_t turn = 0;
  std::uint64_t turnTokens = 0;
  std::uint64_t tokens = 0;
  for (std::size_t i = pieces.size(); i-- > 1;) {
    tokens += pieces[i].tokens;
    if (pieces[i].role != Role::User && pieces[i].role != Role::Assistant) continue;
    if (newest == 0) newest = i;
    if (tokens > keepTokens) break;
    answer = i;
    if (pieces[i].role != Role::User) continue;
    turn = i;
    turnTokens = tokens;
  }
  if (turn > 0 && turnTokens * 2 >= keepTokens) return turn;
  return answer > 0 ? answer : newest;
}

// Returns what the user asked for first. A later compaction finds it in the previous summary.
Result<std::string> goalOf(const Agent& agent, const Journal& journal) {
  BOUGH_TRY(const auto summaries,
            agent.store.loadSessionEntries(
                journal.sessionId(),
                {.last = 1, .branch = journal.parentId(), .types = {std::string(entry_type::kCompactionSummary)}}));
  if (!summaries.empty()) {
    if (auto goal = json::findString(summaries.back().payload, "goal")) return std::move(*goal);
  }
  constexpr std::size_t kFirst = 32;
  BOUGH_TRY(const auto first,
            agent.store.loadSessionEntries(
                journal.sessionId(),
                {.limit = kFirst, .branch = journal.parentId(), .types = {std::string(entry_type::kMessage), "user"}}));
  for (const Entry& entry : first) {
    const auto piece = pieceOf(entry);
    if (piece && !piece->userText.empty()) return cut(piece->userText, kGoalBytes);
  }
  return std::string();
}

// Splits the text of the pieces before `count` into parts of at most `limit` bytes. A long message continues in the
// next part.
std::vector<std::string> transcriptParts(const std::vector<Piece>& pieces, std::size_t count, std::size_t limit) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < count; ++i) {
    if (pieces[i].isSummary) continue;
    std::string_view rest = pieces[i].transcript;
    if (parts.empty() || parts.back().size() + rest.size() > limit) parts.emplace_back();
    while (rest.size() > limit) {
      const std::size_t end = characterEnd(rest, limit);
      parts.back() += rest.substr(0, end);
      parts.emplace_back();
      rest.remove_prefix(end);
    }
    parts.back() += rest;
  }
  return parts;
}

// A history that exceeds the model's window is summarized in parts, each together with the summary of the parts before
// it, so that nothing is lost.
Result<std::string> summarize(const Agent& agent, const std::vector<Piece>& pieces, std::size_t count,
                              const std::string& goal, const std::string& keep, std::uint64_t windowTokens,
                              Usage& paid) {
  // In bytes, which is far below a window of that many tokens.
  const std::size_t limit = std::max<std::size_t>(windowTokens, 2'000);
  std::string summary;
  if (pieces[0].isSummary) summary = pieces[0].transcript;
  for (const std::string& part : transcriptParts(pieces, count, limit)) {
    std::string subject = keep.empty() ? "" : fmt::format("What the summary must hold above all: {}\n\n", keep);
    if (!goal.empty()) subject += fmt::format("The user's first request: {}\n\n", goal);
    if (!summary.empty()) subject += fmt::format("Summary of what was before: {}\n\n", summary);
    BOUGH_TRY(summary, askOnce(agent, kSummaryPrompt, subject + part, paid));
  }
  return summary;
}

// The user's own words precede the summary, so that they do not depend on the model.
std::string summaryText(const std::vector<Piece>& pieces, std::size_t kept, const std::string& goal,
                        const std::string& summary) {
  std::string out = goal.empty() ? "" : fmt::format("The user's first request: {}\n\n", goal);
  if (pieces[kept].role != Role::User) {
    for (std::size_t i = kept; i-- > 0;) {
      if (pieces[i].userText.empty()) continue;
      const std::string current = cut(pieces[i].userText, kGoalBytes);
      if (current != goal) out += fmt::format("The request that is being worked on: {}\n\n", current);
      break;
    }
  }
  return out + summary;
}

}  // namespace

Result<std::optional<CompactionReport>> compact(const Agent& agent, Journal& journal, std::uint64_t windowTokens,
                                                const std::string& keep) {
  BOUGH_TRY(const std::vector<Piece> pieces, readPieces(agent, journal));
  std::uint64_t tokensBefore = 0;
  for (const Piece& piece : pieces) tokensBefore += piece.tokens;
  const std::size_t kept = firstKept(pieces, std::min(windowTokens, tokensBefore) / 5);
  if (kept == 0 || (kept == 1 && pieces[0].isSummary)) return std::nullopt;
  BOUGH_TRY(const std::string goal, goalOf(agent, journal));
  Usage paid;
  const auto summary = summarize(agent, pieces, kept, goal, keep, windowTokens, paid);
  if (!summary) {
    if (hasTokens(paid)) {
      BOUGH_TRY(journal.append(entry_type::kCustom, requestPayload("summary", agent.provider.name(), paid)));
    }
    return std::unexpected(summary.error());
  }
  CompactionReport report{.entryId = {}, .firstKeptEntryId = pieces[kept].entryId, .messages = kept};
  json::Writer writer;
  writer.beginObject().member("summary", summaryText(pieces, kept, goal, *summary));
  writer.member("firstKeptEntryId", report.firstKeptEntryId).member("goal", goal);
  if (!keep.empty()) writer.member("keep", keep);
  writer.member("tokensBefore", tokensBefore).member("model", agent.provider.name());
  writeUsage(writer, paid);
  BOUGH_TRY(report.entryId, journal.append(entry_type::kCompactionSummary, writer.endObject().take()));
  return report;
}

}  // namespace bough::agent
