#include "catalog/external/external_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/json/json_write.h"
#include "base/model/ids.h"
#include "base/model/usage_counts.h"
#include "base/text/timestamp.h"
#include "base/try.h"
#include "bough/transcript.h"
#include "catalog/database/answers.h"
#include "catalog/tally/title.h"

namespace bough::catalog {
namespace {

constexpr std::size_t kMaxNameBytes = 1'024;

// What a file says about its session, apart from the entries.
struct ExternalFacts {
  std::string agent;
  std::string sessionId;
  std::string key;
  std::string cwd;
  std::string headId;
  std::uint64_t createdMs = 0;  // 0: unknown
  std::uint64_t bytes = 0;      // size of the file
  std::string damage;           // empty: undamaged
  std::optional<ForkOrigin> origin;
};

// Returns the entry that an import would store for the facts about the whole session.
Entry factsEntry(const TranscriptFacts& facts) {
  Entry entry;
  entry.id = "facts:" + facts.title;
  entry.type = entry_type::kSessionInfo;
  json::Writer writer(entry.payload);
  writer.beginObject();
  if (!facts.title.empty()) writer.member("title", facts.title);
  writer.key("transcript").beginObject().key("facts").beginObject().member("agent", facts.agent);
  writer.endObject().endObject().endObject();
  return entry;
}

// `maxTextBytes` is the length beyond which texts are not read.
Result<ExternalFacts> readExternalEntries(const std::string& path, const std::function<void(const Entry&)>& use,
                                          const std::function<std::size_t()>& maxTextBytes = {}) {
  const ReadTranscriptOptions readOptions{
      .agent = {}, .fromOffset = 0, .withoutLines = true, .longestText = maxTextBytes, .wasGiven = {}};
  BOUGH_TRY(const auto report, readTranscript(path, readOptions, [&](Entry&& entry) -> Result<void> {
              use(entry);
              return {};
            }));
  // Lists name a session as its agent does.
  TranscriptFacts facts = report.facts;
  facts.storeId.clear();
  use(factsEntry(facts));
  ExternalFacts out;
  out.agent = facts.agent;
  out.sessionId = transcriptSessionId(facts);
  out.key = isSessionKey(facts.key) ? facts.key : fmt::format("{}:transcript:{}", facts.agent, out.sessionId);
  out.cwd = facts.cwd;
  out.headId = report.headId;
  out.createdMs = parseTimestamp(facts.created).value_or(0);
  out.bytes = report.bytes;
  out.damage = damageText(report);
  if (!facts.parentEntryId.empty()) {
    TranscriptFacts parent = facts;
    parent.sessionId = facts.parentSession;
    out.origin = ForkOrigin{.sessionId = transcriptSessionId(parent), .entryId = facts.parentEntryId};
  }
  return out;
}

void addAnswers(ExternalSession& session, std::vector<TalliedAnswer>& answers) {
  for (TalliedAnswer& each : answers) {
    const auto [found, isNew] = session.answers.try_emplace(answerId(each.identity));
    if (isNew) {
      found->second = std::move(each);
      continue;
    }
    raiseTo(found->second.usage, each.usage);
  }
  answers.clear();
}

// An entry removed the title, or an older message came later: reads all entries once more.
Result<void> chooseTitle(const std::vector<ExternalFile>& files, SessionSummary& facts) {
  TitleChoice choice;
  for (const ExternalFile& file : files) {
    BOUGH_TRY(readExternalEntries(file.path, [&](const Entry& entry) { choice.add(entry, /*redacted=*/false); }));
  }
  facts.titleSource = choice.source();
  facts.title = choice.title();
  return {};
}

// The row lists the problems of its files, one after another.
void addProblem(SessionSummary& facts, const std::string& problem) {
  facts.condition = SessionCondition::Damaged;
  facts.problem += (facts.problem.empty() ? "" : "; ") + problem;
}

}  // namespace

ExternalSession readExternalSession(std::vector<ExternalFile> files) {
  ExternalSession session;
  std::string family;
  SessionTally tally([&]() -> const std::string& { return family; });
  std::unordered_set<std::string> known;
  const bool isOne = files.size() == 1;
  std::uint64_t sequence = 1;  // an imported session starts with a header
  const auto use = [&](const Entry& entry) {
    if (!isOne && !known.insert(entry.id).second) return;
    const std::uint64_t timeMs = parseTimestamp(entry.timestamp).value_or(tally.row.facts.activeMs);
    tally.addEntry(sequence, entry, timeMs);
    if (entry.type == entry_type::kSessionInfo) {
      tally.addInfo(entry, timeMs);
    } else if (!isControlType(entry.type)) {
      // The first message gives the title.
      const bool wantSpoken = tally.row.facts.titleSource == TitleSource::None;
      tally.addConversation(entry, readFacts(entry, false, wantSpoken), timeMs, false);
    }
    tally.row.catalogedEntries = ++sequence;
    if (!tally.answers.empty()) addAnswers(session, tally.answers);
  };
  SessionSummary& facts = tally.row.facts;
  // Of long texts, only the one that gives the title is needed; ids and names are shorter.
  const auto maxTextBytes = [&] { return facts.titleSource == TitleSource::None ? kMaxTextBytes : kMaxNameBytes; };
  std::vector<std::string> problems;
  std::vector<std::string> agents;
  for (const ExternalFile& file : files) {
    family = file.path;
    auto read = readExternalEntries(file.path, use, maxTextBytes);
    if (!read) {
      problems.push_back(read.error().message);
      session.error = std::move(read.error());
      continue;
    }
    if (!read->damage.empty()) problems.push_back(isOne ? read->damage : file.path + ": " + read->damage);
    if (std::ranges::find(agents, read->agent) == agents.end()) agents.push_back(read->agent);
    facts.bytes += read->bytes;
    facts.headId = std::move(read->headId);
    if (!facts.sessionId.empty()) continue;
    facts.sessionId = std::move(read->sessionId);
    facts.key = std::move(read->key);
    facts.cwd = std::move(read->cwd);
    facts.createdMs = read->createdMs > 0 ? read->createdMs : tally.row.firstMs;
    facts.origin = std::move(read->origin);
    if (const auto key = parseSessionKey(facts.key)) facts.agent = key->agent;
  }
  if (!facts.sessionId.empty()) session.error.reset();
  if ((tally.isTitleLost || tally.isTitleOutdated()) && !session.error) {
    if (const auto chosen = chooseTitle(files, facts); !chosen) problems.push_back(chosen.error().message);
  }
  facts.writtenBy = fmt::format("{}", fmt::join(agents, ","));
  facts.entries = sequence - 1;
  facts.branches = tally.branches.size();
  if (tally.isUnfinished(facts.headId)) facts.condition = SessionCondition::Unfinished;
  for (const std::string& problem : problems) addProblem(facts, problem);
  for (const auto& [id, answer] : session.answers) facts.tokens += answer.usage;
  session.files = std::move(files);
  session.row = std::move(tally.row);
  session.branches = std::move(tally.branches);
  return session;
}

}  // namespace bough::catalog
