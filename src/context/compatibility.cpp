// The report of a migration, for a session of any length. For a long session, the losses are collected part by part.
#include <bough/context.h>

#include "base/model/unreadable.h"
#include "base/try.h"
#include "context/branch.h"
#include "context/compatibility.h"
#include "context/provider_migration.h"
#include "context/session_parts.h"
#include "message/dialect/entry_message.h"
#include "message/roundtrip/session_report.h"

namespace bough {
namespace context {
namespace {

// The size up to which a session is converted at once.
constexpr std::uint64_t kShortBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kPartBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kPageEntries = 1024;

// Returns true when the logs of a session, and of the sessions whose history it shares, are long. Missing logs count as
// short.
bool hasLongLog(SessionStore& store, std::string sessionId) {
  std::uint64_t bytes = 0;
  while (!sessionId.empty() && bytes <= kShortBytes) {
    const auto state = store.sessionState(sessionId);
    if (!state) break;
    if (state->archived) return true;  // its size is that of the compressed file
    bytes += state->bytes;
    sessionId = state->origin ? state->origin->sessionId : std::string();
  }
  return bytes > kShortBytes;
}

// Reads the branch twice: first to find where it can be cut and what is in force at its end, then to convert it part by
// part.
class PartwiseReport {
 public:
  PartwiseReport(SessionStore& store, const std::string& sessionId, Dialect target, std::uint64_t partBytes)
      : store_(store), sessionId_(sessionId), target_(target), partBytes_(partBytes), parts_(partBytes) {}

  Result<std::optional<CompatibilityReport>> run(const std::string& at) {
    BOUGH_TRY(auto state, store_.sessionState(sessionId_));
    headId_ = at.empty() ? state.headId : at;
    if (headId_.empty()) return std::nullopt;
    BOUGH_TRY(const bool isMigrated, scan());
    if (isMigrated) return std::nullopt;
    BOUGH_TRY(convert());
    return std::move(report_);
  }

 private:
  Result<std::vector<Entry>> load(std::uint64_t from, std::uint64_t end, std::uint64_t bytes) {
    return store_.loadSessionEntries(
        sessionId_, {.fromSequence = from, .limit = end - from, .limitBytes = bytes, .branch = headId_});
  }

  // Returns true when the branch was migrated before; its way back is needed then.
  Result<bool> scan() {
    message::Reporter reporter(report_);
    std::vector<std::string> redacted;
    for (;;) {
      BOUGH_TRY(const auto entries, load(count_, count_ + kPageEntries, partBytes_));
      if (entries.empty()) break;
      for (const Entry& entry : entries) {
        if (isMigration(entry)) return true;
        if (count_ == 0 && hasMissingParent(entry)) reporter.beginsTooLate(entry);
        if (isUnreadable(entry)) reporter.unreadable(entry);
        if (entry.redacted) redacted.push_back(entry.id);
        settingsAtEnd_.apply(entry);
        if (message::isMessageType(entry.type)) parts_.add(count_, entry);
        ++count_;
      }
    }
    for (const std::string& entry : redacted) {
      reporter.note(Change::LeftOut, "payload", "message", "redacted", entry);
    }
    return false;
  }

  Result<void> convert() {
    message::SessionReport converted(target_, settingsAtEnd_.system(), settingsAtEnd_.tools(), report_);
    SettingsInForce settings;
    std::vector<std::uint64_t> ends = parts_.partStarts();
    ends.push_back(count_);
    std::uint64_t begin = 0;
    for (const std::uint64_t end : ends) {
      BOUGH_TRY(const auto entries, load(begin, end, UINT64_MAX));
      BOUGH_TRY(
          const auto hidden,
          readHidden(store_, sessionId_, {.fromSequence = begin, .limit = end - begin, .branch = headId_}, entries));
      std::vector<message::SessionMessage> messages;
      for (const Entry& entry : entries) {
        settings.apply(entry);
        if (message::isMessageType(entry.type)) messages.push_back(sessionMessage(entry, hidden, settings));
      }
      converted.add(messages, end == count_);
      begin = end;
    }
    converted.joinReports();
    return {};
  }

  SessionStore& store_;
  const std::string& sessionId_;
  Dialect target_;
  std::uint64_t partBytes_;
  std::string headId_;
  std::uint64_t count_ = 0;  // number of entries of the branch
  SettingsInForce settingsAtEnd_;
  SessionParts parts_;
  CompatibilityReport report_;
};

}  // namespace

Result<std::optional<CompatibilityReport>> reportInParts(SessionStore& store, const std::string& sessionId,
                                                         Dialect target, const std::string& at,
                                                         std::uint64_t partBytes) {
  return PartwiseReport(store, sessionId, target, partBytes).run(at);
}

}  // namespace context

Result<CompatibilityReport> checkCompatibility(SessionStore& store, const std::string& sessionId, Dialect target,
                                               const std::string& at) {
  BOUGH_TRY(context::checkTarget(target));
  if (!context::hasLongLog(store, sessionId)) {
    BOUGH_TRY(auto entries, store.loadSessionEntries(sessionId, {.limitBytes = context::kShortBytes, .branch = at}));
    std::uint64_t bytes = 0;  // including attachments
    for (const Entry& entry : entries) bytes += entry.payload.size();
    if (bytes < context::kShortBytes) {
      return context::reportWhole(store, sessionId, target, at, std::move(entries));
    }
  }
  BOUGH_TRY(auto report, context::reportInParts(store, sessionId, target, at, context::kPartBytes));
  if (report) return std::move(*report);
  return context::reportWhole(store, sessionId, target, at);
}

}  // namespace bough
