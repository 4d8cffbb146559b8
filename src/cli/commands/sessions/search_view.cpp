#include "cli/commands/sessions/search_view.h"
#include "cli/views/entry_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/json/json_write.h"
#include "base/text/text.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "catalog/search/tokenizer.h"
#include "catalog/session_scan.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/views/markdown/spans.h"

namespace bough::cli {
namespace {

// Splits the excerpt into matches and the text between them.
template <typename Use>
void forEachPiece(std::string_view excerpt, Use use) {
  bool found = false;
  while (!excerpt.empty()) {
    const std::size_t end = std::min(excerpt.find(found ? kMarkEnd : kMarkBegin), excerpt.size());
    if (end > 0) use(excerpt.substr(0, end), found);
    excerpt.remove_prefix(std::min(end + 1, excerpt.size()));
    found = !found;
  }
}

std::string inLowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return out;
}

std::vector<std::string> plainWords(std::string_view query) {
  if (query.find_first_of("\"*") != std::string_view::npos) return {};
  std::vector<std::string> words;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find(' '), query.size());
    if (end > 0) words.emplace_back(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  const bool plain =
      std::ranges::none_of(words, [](const std::string& word) { return word == "OR" || word.starts_with('-'); });
  return plain ? words : std::vector<std::string>();
}

// Prints lines indented by two, also when a narrow terminal needs several lines.
void printIndented(const std::vector<Span>& spans) {
  constexpr std::size_t kIndent = 2;
  if (!stdoutIsTerminal()) {
    std::string line;
    for (const Span& span : spans) line += paintSpan(span);
    return printLine("  " + line);
  }
  const std::size_t columns = std::max<std::size_t>(terminalWidth(), 20) - kIndent;
  for (const std::string& line : wrapSpans(spans, columns, columns)) printLine("  " + line);
}

// Colors the matches; without colors, puts them in brackets.
std::vector<Span> marked(std::string_view excerpt) {
  std::vector<Span> spans;
  forEachPiece(excerpt, [&](std::string_view piece, bool found) {
    const std::string safe = text::printable(piece);
    spans.push_back({.text = found && !colorsAreUsed() ? "[" + safe + "]" : safe, .style = found ? kFound : kPlain});
  });
  return spans;
}

void printAround(const std::vector<EntrySummary>& messages) {
  for (const EntrySummary& each : messages) {
    const std::string line = fmt::format("[{}] {}", each.speaker, each.text);
    const std::size_t columns = stdoutIsTerminal() && terminalWidth() > 8 ? terminalWidth() - 4 : 100;
    printLine("    " + styled(Style::Dim, text::excerptToWidth(line, columns)));
  }
}

// A hit is shown even when the messages around it cannot be read.
Around aroundOrNote(const AroundOf& aroundOf, const SearchHit& hit) {
  if (!aroundOf) return {};
  auto around = aroundOf(hit);
  if (around) return std::move(*around);
  printMessage("note: the messages around it cannot be read: " + text::printable(around.error().message));
  return {};
}

void writeAround(json::Writer& writer, std::string_view key, const std::vector<EntrySummary>& messages) {
  writer.key(key).beginArray();
  for (const EntrySummary& each : messages) {
    writer.beginObject().member("entryId", each.entryId).member("role", each.speaker).member("text", each.text);
    writer.endObject();
  }
  writer.endArray();
}

// Matches parts of words, because a title is short. Returns the title with the first occurrence of each part marked;
// empty unless the title contains all of them.
std::string partsIn(std::string_view title, const std::vector<std::string>& parts) {
  const std::string lower = inLowerCase(title);
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const std::string& part : parts) {
    const std::size_t at = lower.find(inLowerCase(part));
    if (at == std::string::npos) return {};
    places.emplace_back(at, at + part.size());
  }
  std::ranges::sort(places);
  std::string out;
  std::size_t done = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t begin = places[i].first;
    std::size_t end = places[i].second;
    while (i + 1 < places.size() && places[i + 1].first <= end) end = std::max(end, places[++i].second);
    out.append(title.substr(done, begin - done)) += kMarkBegin;
    out.append(title.substr(begin, end - begin)) += kMarkEnd;
    done = end;
  }
  return done == 0 ? std::string() : out.append(title.substr(done));
}

// Returns true when a text has one of these words, or a word that begins with one. Most texts have none and need no
// further check.
bool holdsAnchor(std::string_view text, const std::vector<std::string>& anchors) {
  bool holds = false;
  catalog::eachWord(text, [&](std::string_view word) {
    holds = holds || std::ranges::any_of(anchors, [&](const std::string& anchor) { return word.starts_with(anchor); });
  });
  return holds;
}

std::vector<std::string> sessionsOf(const std::vector<SearchHit>& hits) {
  std::vector<std::string> ids;
  for (const SearchHit& hit : hits) ids.push_back(hit.sessionId);
  return ids;
}

}  // namespace

std::string joinPhrases(std::string_view excerpt, std::string_view query) {
  const std::string wanted = inLowerCase(query);
  std::vector<std::pair<std::string, bool>> pieces;
  forEachPiece(excerpt, [&](std::string_view piece, bool found) {
    // Joins match, blanks, match if the query has both in a row.
    if (found && pieces.size() >= 2 && pieces.back().first.find_first_not_of(" \n\t") == std::string::npos &&
        pieces[pieces.size() - 2].second) {
      const std::string joined = pieces[pieces.size() - 2].first + " " + std::string(piece);
      if (wanted.find(inLowerCase(joined)) != std::string::npos) {
        pieces[pieces.size() - 2].first = joined;
        pieces.pop_back();
        return;
      }
    }
    if (found && !pieces.empty() && pieces.back().second &&
        wanted.find(inLowerCase(pieces.back().first + std::string(piece))) != std::string::npos) {
      pieces.back().first += piece;
      return;
    }
    pieces.emplace_back(piece, found);
  });
  std::string out;
  for (const auto& [piece, found] : pieces) out += found ? kMarkBegin + piece + kMarkEnd : piece;
  return out;
}

void printHits(const std::vector<SearchHit>& hits, const AroundOf& aroundOf) {
  const std::uint64_t now = nowMs();
  const std::vector<std::string> ids = shortIds(sessionsOf(hits));
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (outputClosed()) return;
    const SearchHit& hit = hits[i];
    const std::string entry = hit.entryId.empty() ? "" : "  " + shortId(hit.entryId);
    printLine(fmt::format("{}{}", styled(Style::Bold, ids[i]), entry));
    std::vector<Span> about = {{.text = fmt::format("[{}]  {}", hit.role, formatAge(hit.timeMs, now))}};
    if (!hit.title.empty() && hit.role != "title") {
      // The match is more important; the title gets the rest of the line.
      constexpr std::size_t kLeast = 8;
      const std::size_t taken = spansWidth(about) + 4;
      const std::size_t room = terminalWidth() > taken + kLeast ? terminalWidth() - taken : kLeast;
      about.push_back({.text = "  "});
      about.push_back({.text = stdoutIsTerminal() ? text::excerptToWidth(hit.title, room) : text::printable(hit.title),
                       .style = kFaint});
    }
    printIndented(about);
    const Around near = aroundOrNote(aroundOf, hit);
    printAround(near.before);
    printIndented(marked(hit.excerpt));
    printAround(near.after);
  }
}

void printHitsJson(const std::vector<SearchHit>& hits, bool more, const AroundOf& aroundOf) {
  json::Writer writer;
  writer.beginObject().member("schema", 2).member("more", more).key("hits").beginArray();
  for (const SearchHit& hit : hits) {
    writer.beginObject().member("sessionId", hit.sessionId).memberOrNull("title", hit.title);
    writer.memberOrNull("entryId", hit.entryId);
    writer.member("role", hit.role).member("timestamp", formatTimestamp(hit.timeMs));
    writer.key("score").raw(fmt::format("{:.4f}", hit.score)).key("excerpt").beginArray();
    forEachPiece(hit.excerpt, [&](std::string_view piece, bool found) {
      writer.beginObject().member("text", piece).member("found", found).endObject();
    });
    writer.endArray();
    if (aroundOf) {
      const Around near = aroundOrNote(aroundOf, hit);
      writeAround(writer, "before", near.before);
      writeAround(writer, "after", near.after);
    }
    writer.endObject();
  }
  printJsonLine(writer.endArray().endObject().text());
}

void printSessionsWith(const std::vector<SearchHit>& hits, std::size_t limit, bool json) {
  std::vector<std::pair<const SearchHit*, std::uint64_t>> sessions;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const SearchHit& hit : hits) {
    const auto [place, isNew] = places.try_emplace(hit.sessionId, sessions.size());
    if (isNew) sessions.emplace_back(&hit, 0);
    ++sessions[place->second].second;
  }
  const std::size_t all = sessions.size();
  if (all > limit) sessions.resize(limit);
  std::vector<std::string> ids;
  for (const auto& [hit, count] : sessions) ids.push_back(hit->sessionId);
  ids = shortIds(ids);
  std::size_t idColumns = 0;
  for (const std::string& id : ids) idColumns = std::max(idColumns, text::displayWidth(id));
  auto nextId = ids.begin();
  json::Writer writer;
  writer.beginObject().member("schema", 1).key("sessions").beginArray();
  for (const auto& [hit, count] : sessions) {
    writer.beginObject().member("sessionId", hit->sessionId).memberOrNull("title", hit->title);
    writer.member("hitCount", count).endObject();
    if (!json) {
      const std::string& id = *nextId++;
      const std::string number =
          fmt::format("{}  {:>4}  ", std::string(idColumns - text::displayWidth(id), ' '), count);
      const std::string place = styled(Style::Bold, id) + number;
      const std::size_t used = text::displayWidth(id + number);
      const bool isCut = stdoutIsTerminal() && terminalWidth() > used;
      printLine(place +
                (isCut ? text::excerptToWidth(hit->title, terminalWidth() - used) : text::printable(hit->title)));
    }
  }
  if (json) printJsonLine(writer.endArray().endObject().text());
  if (!json && all > limit) printMessage(fmt::format("showing {} of {} sessions", limit, all));
}

Result<std::vector<SearchHit>> searchTitles(Catalog& catalog, std::string_view query, const SessionFilter& filter,
                                            std::size_t limit) {
  constexpr std::size_t kPage = 1'000;
  constexpr std::size_t kMost = 10'000;
  std::vector<SearchHit> hits;
  BOUGH_TRY(const auto wanted, catalog::scanForWords(query));
  BOUGH_TRY(const auto excerptOf, wanted.matcher());
  const std::vector<std::string> words = plainWords(query);
  // Many sessions take their title from the beginning of the first message; such text is found as a message.
  ListOptions options{.filter = filter, .limit = kPage, .models = false};
  options.filter.named = true;
  BOUGH_TRY(auto rows, catalog.list(options));
  // Among very many titles, let the list select those that contain the word.
  if (rows.size() == kPage && wanted.anchors.size() == 1) {
    options.filter.title = words.empty() ? wanted.anchors.front() : words.front();
    BOUGH_TRY(rows, catalog.list(options));
  }
  for (std::size_t seen = kPage;; seen += kPage) {
    for (const SessionSummary& row : rows) {
      if (hits.size() >= limit) return hits;
      std::string excerpt = partsIn(row.title, words);
      if (excerpt.empty() && holdsAnchor(row.title, wanted.anchors)) {
        BOUGH_TRY(const auto found, excerptOf(row.title));
        excerpt = joinPhrases(found.value_or(""), query);
      }
      if (excerpt.empty()) continue;
      hits.push_back({.sessionId = row.sessionId, .title = row.title, .role = "title", .timeMs = row.activeMs});
      hits.back().excerpt = std::move(excerpt);
    }
    if (rows.size() < kPage || hits.size() >= limit || seen >= kMost) return hits;
    options.after = {.activeMs = rows.back().activeMs, .sessionId = rows.back().sessionId};
    BOUGH_TRY(rows, catalog.list(options));
  }
}

std::string withBeginnings(std::string_view query) {
  std::string out;
  for (const std::string& word : plainWords(query)) out += (out.empty() ? "" : " ") + word + "*";
  return out;
}

std::string withoutOperators(std::string_view query) {
  std::string out;
  bool isOther = false;
  bool isNext = false;  // the word after NOT
  for (const std::string& word : plainWords(query)) {
    const bool isOperator = word == "AND" || word == "NOT" || word == "NEAR" || word == "&&";
    isOther |= isOperator;
    if (!isOperator) out += fmt::format("{}{}{}", out.empty() ? "" : " ", isNext ? "-" : "", word);
    isNext = word == "NOT";
  }
  return isOther ? out : "";
}

}  // namespace bough::cli
