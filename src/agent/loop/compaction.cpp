#include "agent/loop/compaction.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/ask_once.h"
#include "agent/parts/json_parts.h"
#include "agent/parts/prompts.h"

namespace bough::agent {
namespace {

constexpr std::size_t kBlockBytes = 4'000;  // of one block in what is to be summarized

// One message of the branch, as far as compaction looks at it.
struct Piece {
  std::string entryId;
  Role role = Role::User;
  std::uint64_t tokens = 0;
  std::string transcript;
};

std::string cut(const std::string& text) {
  if (text.size() <= kBlockBytes) return text;
  std::size_t end = kBlockBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string textOf(const Block& block) {
  if (block.kind == BlockKind::ToolCall)
    return fmt::format("[calls {} with {}]", block.name.decode(), cut(std::string(block.input)));
  if (block.kind == BlockKind::ToolResult) {
    std::string text;
    for (const Block& part : block.content) text += part.text.decode();
    return fmt::format("[{}: {}]", block.isError ? "failed" : "result", cut(text));
  }
  return block.kind == BlockKind::Text || block.kind == BlockKind::Refusal ? cut(block.text.decode()) : std::string();
}

std::optional<Piece> pieceOf(const Entry& entry) {
  if (entry.type == entry_type::kCompactionSummary) {
    const std::string text = json::findString(entry.payload, "summary").value_or("");
    return Piece{.entryId = entry.id,
                 .role = Role::User,
                 .tokens = estimateTokens(text),
                 .transcript = "Summary of what was before: " + text + "\n\n"};
  }
  if (!holdsMessage(entry) || entry.redacted) return std::nullopt;
  const auto message = normalizeEntry(entry);
  if (!message) return std::nullopt;
  Piece piece{.entryId = entry.id, .role = message->role, .tokens = estimateTokens(entry.payload)};
  piece.transcript = fmt::format("{}:", toString(message->role));
  for (const Block& block : message->blocks) {
    if (const std::string text = textOf(block); !text.empty()) piece.transcript += " " + text;
  }
  piece.transcript += "\n\n";
  return piece;
}

// The pieces since the last summary, that summary included.
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

// Where to cut: the first piece that is kept. Before an answer all earlier calls have their results.
std::size_t firstKept(const std::vector<Piece>& pieces, std::uint64_t keepTokens) {
  std::size_t best = 0;
  std::uint64_t tokens = 0;
  for (std::size_t i = pieces.size(); i-- > 1;) {
    tokens += pieces[i].tokens;
    const bool boundary = pieces[i].role == Role::User || (pieces[i].role == Role::Assistant && best == 0);
    if (boundary && (best == 0 || tokens <= keepTokens)) best = i;
    if (tokens > keepTokens && best > 0) break;
  }
  return best;
}

// The newest part of the transcript that fits in half a window.
std::string transcriptOf(const std::vector<Piece>& pieces, std::size_t count, std::uint64_t windowTokens) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += pieces[i].transcript;
  const std::size_t limit = std::max<std::size_t>(windowTokens, 2'000);  // bytes: about half the window in tokens
  if (text.size() <= limit) return text;
  std::size_t begin = text.size() - limit;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
  return "[the beginning is left out]\n" + text.substr(begin);
}

}  // namespace

Result<std::optional<CompactionReport>> compact(const Agent& agent, Journal& journal, std::uint64_t windowTokens) {
  auto pieces = readPieces(agent, journal);
  if (!pieces) return std::unexpected(pieces.error());
  const std::size_t kept = firstKept(*pieces, windowTokens / 5);
  if (kept == 0) return std::nullopt;
  auto summary = askOnce(agent, kSummaryPrompt, transcriptOf(*pieces, kept, windowTokens));
  if (!summary) return std::unexpected(summary.error());
  CompactionReport report{.entryId = {}, .firstKeptEntryId = (*pieces)[kept].entryId, .messages = kept};
  std::uint64_t tokensBefore = 0;
  for (const Piece& piece : *pieces) tokensBefore += piece.tokens;
  std::string payload;
  json::Writer writer(payload);
  writer.beginObject().member("summary", *summary).member("firstKeptEntryId", report.firstKeptEntryId);
  writer.member("tokensBefore", tokensBefore).member("model", agent.provider.name()).endObject();
  auto stored = journal.append(entry_type::kCompactionSummary, std::move(payload));
  if (!stored) return std::unexpected(stored.error());
  report.entryId = *stored;
  return report;
}

}  // namespace bough::agent
