#include "cli/names/damage.h"
#include "cli/names/session_titles.h"
#include "cli/names/short_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/model/unreadable.h"
#include "base/text/counted.h"
#include "base/text/shell_word.h"
#include "base/text/text.h"
#include "base/try.h"
#include "bough/torn.h"
#include "bough/transcript.h"
#include "cli/terminal/output.h"

namespace bough::cli {
namespace {

constexpr const char* kStrictHint = "leave --strict out to see the rest";

struct Damage {
  std::string what;
  std::string sessionId;    // the damaged session; empty: there are several
  std::string remedy = {};  // used instead of `bough verify`, which would say nothing more

  [[nodiscard]] std::string advice() const {
    if (!remedy.empty()) return remedy;
    return fmt::format("`bough verify{}{}` says where", sessionId.empty() ? "" : " ", exactName(sessionId));
  }
};

Result<void> reportOrFail(const Context& context, const Damage& damage) {
  if (context.strict) {
    return fail(ErrorCode::Damaged, damage.what, fmt::format("{}; {}", damage.advice(), kStrictHint));
  }
  printMessage(fmt::format("{}; {}", damage.what, damage.advice()));
  return {};
}

// Returns the nearest damaged session with which a fork shares history; empty when there is none. Stops at cycles: a
// file may claim to continue a session that continues the file.
std::string damagedAncestor(SessionStore& store, const SessionState& fork) {
  std::set<std::string> seen{fork.sessionId};
  for (auto origin = fork.origin; origin && seen.insert(origin->sessionId).second;) {
    const auto state = store.sessionState(origin->sessionId);
    if (!state) return {};
    if (state->problemCount > 0) return state->sessionId;
    origin = state->origin;
  }
  return {};
}

// Returns the damage known so far.
std::optional<Damage> damageOf(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  if (!state) return std::nullopt;  // the command itself will report the error
  if (const std::uint64_t places = state->problemCount + state->lostPayloads; places > 0) {
    // A fork's lost attachment may belong to the shared history; then the session of that history must be verified.
    const bool mayBeShared = state->problemCount == 0 && state->origin;
    return Damage{
        .what = fmt::format("{} of session {} cannot be read", counted(places, "place"), idAndTitle(store, sessionId)),
        .sessionId = mayBeShared ? std::string() : sessionId};
  }
  const auto missing = missingFromLog(store, sessionId);
  if (!missing) {
    return Damage{.what = fmt::format("session {}: it is unknown whether entries are missing at its end: {}",
                                      idAndTitle(store, sessionId), missing.error().message),
                  .sessionId = sessionId,
                  .remedy = missing.error().hint};
  }
  if (!missing->empty()) {
    return Damage{.what = fmt::format("session {}: {}", idAndTitle(store, sessionId), *missing),
                  .sessionId = sessionId};
  }
  if (state->trailingBytes > 0) {
    return Damage{
        .what = fmt::format("session {} ends with {} of an incomplete batch: an interrupted write left them, or "
                            "somebody is writing now",
                            idAndTitle(store, sessionId), counted(state->trailingBytes, "byte")),
        .sessionId = sessionId};
  }
  if (!state->origin) return std::nullopt;
  const auto lost = store.loadSessionEntries(sessionId, {.type = std::string(kUnreadableType)});
  if (!lost || lost->empty()) return std::nullopt;
  return Damage{.what = fmt::format("{} of the history that session {} shares cannot be read",
                                    counted(lost->size(), "place"), idAndTitle(store, sessionId)),
                .sessionId = damagedAncestor(store, *state)};
}

Result<void> refuseLostHistory(SessionStore& store, const std::string& sessionId) {
  const auto state = store.sessionState(sessionId);
  if (!state || state->lostSession.empty()) return {};
  return fail(ErrorCode::Damaged,
              fmt::format("the beginning of session {} is lost with part of session {}", idAndTitle(store, sessionId),
                          state->lostSession),
              fmt::format("`bough verify {}` says more; {}", exactName(sessionId), kStrictHint));
}

// Reads every byte of the session and of those with which it shares history, so that all damage is known.
Result<void> reportAllDamage(const Context& context, SessionStore& store, const std::string& sessionId) {
  std::set<std::string> seen;
  for (std::string next = sessionId; seen.insert(next).second;) {
    const auto report = store.verifySession(next);
    const auto isLost = [](const Problem& each) { return each.kind == ProblemKind::Attachment; };
    if (report && std::ranges::any_of(report->problems, isLost)) {
      BOUGH_TRY(reportOrFail(context,
                             {.what = fmt::format("attachments of session {} cannot be read", idAndTitle(store, next)),
                              .sessionId = next}));
    }
    const auto state = store.sessionState(next);
    if (!state) return {};
    // Lines that match their seals but are not entries; the index does not know them.
    const auto isUnread = [](const Problem& each) { return each.kind == ProblemKind::Damage; };
    if (report && next == sessionId && state->problemCount == 0) {
      if (const auto places = std::ranges::count_if(report->problems, isUnread); places > 0) {
        BOUGH_TRY(reportOrFail(context, {.what = fmt::format("{} of session {} cannot be read",
                                                             counted(static_cast<std::uint64_t>(places), "place"),
                                                             idAndTitle(store, next)),
                                         .sessionId = next}));
      }
    }
    if (!state->origin) return {};
    next = state->origin->sessionId;
  }
  return {};
}

// Reports damage that was found while the command was running.
class LaterDamage {
 public:
  LaterDamage(SessionStore& store, std::string sessionId) : store_(store), sessionId_(std::move(sessionId)) {}
  LaterDamage(const LaterDamage&) = delete;
  LaterDamage& operator=(const LaterDamage&) = delete;
  ~LaterDamage() {
    if (const auto damage = damageOf(store_, sessionId_)) (void)reportOrFail(Context(), *damage);
  }

 private:
  SessionStore& store_;
  std::string sessionId_;
};

// Reports sessions that are not damaged but end with an incomplete batch.
Result<void> reportIncompleteEnds(const Context& context, std::vector<SessionSummary> rows, const auto& namesOf) {
  std::erase_if(rows, [](const SessionSummary& row) { return row.condition == SessionCondition::Missing; });
  if (rows.empty()) return {};
  return reportOrFail(context, {.what = fmt::format("the end of {} is not a complete batch and is not counted here: an "
                                                    "interrupted write left it, or somebody is writing now",
                                                    namesOf(rows)),
                                .sessionId = rows.size() == 1 ? rows.front().sessionId : ""});
}

bool isInTrash(SessionStore& store, const std::string& sessionId) {
  const auto trash = store.listTrash();
  return trash && std::ranges::find(*trash, sessionId, &TrashedSession::sessionId) != trash->end();
}

}  // namespace

std::optional<LostHistory> lostHistoryOf(SessionStore& store, const SessionState& state) {
  const std::string& lost = state.lostSession;
  if (lost.empty()) return std::nullopt;
  const std::string rest = fmt::format("`bough repair --detach {}` turns what is left into an independent session",
                                       exactName(state.sessionId));
  const auto there = store.sessionState(lost);
  // A name that is not a valid id belongs to no session.
  if (!there && (there.error().code == ErrorCode::NotFound || there.error().code == ErrorCode::InvalidArgument)) {
    return LostHistory{.what = fmt::format("session {}, which is not in the store", lost),
                       .advice = isInTrash(store, lost)
                                     ? fmt::format("`bough trash --restore {}` brings it back", shellWord(lost))
                                     : "bring its file back from a copy; without one " + rest};
  }
  // If its header cannot be read, it is unknown what that session itself continues.
  if (there && there->format == 0 && there->problemCount > 0) {
    return LostHistory{.what = fmt::format("session {}, whose header cannot be read", lost),
                       .advice = fmt::format("`bough migrate {}` rebuilds that header if possible; otherwise {}",
                                             exactName(lost), rest)};
  }
  return LostHistory{
      .what = fmt::format("an entry of session {} that is lost", lost),
      .advice = fmt::format("bring that entry back from a copy: `bough verify {}` says what is wrong; without one {}",
                            exactName(lost), rest)};
}

void reportImportDamage(SessionStore& store, const std::string& sessionId) {
  constexpr std::size_t kMostEntries = 1'000;
  const auto lost = importedDamage(store, sessionId, kMostEntries);
  if (!lost || lost->unreadable == 0) return;
  printMessage(fmt::format("note: session {} was imported from a damaged file of {}: {}", idAndTitle(store, sessionId),
                           text::printable(lost->facts.agent), text::printable(damageText(*lost))));
}

Result<std::shared_ptr<void>> reportDamage(const Context& context, SessionStore& store, const std::string& sessionId) {
  if (tornBytes(store, sessionId) > 0) {
    printMessage(fmt::format("part of session {} was set aside as torn; `bough torn {}` lists it",
                             idAndTitle(store, sessionId), exactName(sessionId)));
  }
  if (context.strict) {
    BOUGH_TRY(reportAllDamage(context, store, sessionId));
    BOUGH_TRY(refuseLostHistory(store, sessionId));
  }
  if (const auto damage = damageOf(store, sessionId)) {
    BOUGH_TRY(reportOrFail(context, *damage));
    return nullptr;
  }
  return std::make_shared<LaterDamage>(store, sessionId);
}

Result<void> reportDamagedSessions(const Context& context, Catalog& catalog, SessionFilter filter) {
  constexpr std::size_t kNamed = 3;
  filter.withProblem = true;
  const auto in = [&](std::optional<SessionCondition> condition) {
    filter.condition = condition;
    auto rows = catalog.list({.filter = filter, .limit = kNamed + 1, .models = false});
    if (!rows) return std::vector<SessionSummary>();
    titleForks(catalog, *rows);
    return std::move(*rows);
  };
  const auto namesOf = [&](const std::vector<SessionSummary>& rows) {
    std::string names;
    for (std::size_t i = 0; i < std::min(rows.size(), kNamed); ++i) {
      names.append(i == 0 ? "" : ", ").append(idAndTitle(rows[i]));
    }
    return rows.size() > kNamed ? names + " and others" : names;
  };
  if (const auto missing = in(SessionCondition::Missing); !missing.empty()) {
    BOUGH_TRY(
        reportOrFail(context, {.what = fmt::format("the log of {} is gone and not counted here", namesOf(missing))}));
  }
  const auto damaged = in(SessionCondition::Damaged);
  if (damaged.empty()) return reportIncompleteEnds(context, in(std::nullopt), namesOf);
  return reportOrFail(context,
                      {.what = fmt::format("part of {} cannot be read and is not counted here", namesOf(damaged)),
                       .sessionId = damaged.size() == 1 ? damaged.front().sessionId : ""});
}

}  // namespace bough::cli
