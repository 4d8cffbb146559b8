// The source of a migration to another provider: what is read from the branch, and its messages.
#pragma once

#include <bough/context.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "context/branch.h"
#include "message/roundtrip/session_convert.h"

namespace bough::context {

inline constexpr std::string_view kMigrationKind = "provider_migration";

/// Returns true when the entry is the first of those that a migration wrote.
bool isMigration(const Entry& entry);

/// Returns Unsupported for a dialect that is not a provider's.
Result<void> checkTarget(Dialect target);

/// The system prompt and tools in force after each entry. The returned views stay valid.
class SettingsInForce {
 public:
  void apply(const Entry& entry);
  [[nodiscard]] std::string_view system() const { return system_; }
  [[nodiscard]] std::string_view tools() const { return tools_; }

 private:
  void keep(const std::optional<RecordedSetting>& now, std::string_view& kept);

  Branch branch_;
  std::string_view system_;
  std::string_view tools_;
  std::deque<std::string> texts_;
};

/// Returns the message of an entry. It points into all three arguments.
message::SessionMessage sessionMessage(const Entry& entry, const HiddenPayloads& hidden,
                                       const SettingsInForce& settings);

/// The branch of a session, ready for conversion. Not copyable or movable, because its parts point into one another.
struct MigrationSource {
  std::string headId;
  std::vector<Entry> entries;         ///< After the last migration, root first.
  HiddenPayloads hidden;              ///< The payloads of redacted entries.
  std::optional<Entry> orphanedRoot;  ///< The first entry of a branch without a migration, when its parent is lost.
  std::vector<std::size_t> places;    ///< For each message, its position in `entries`.
  SettingsInForce settings;           ///< At the end.
  std::vector<message::SessionMessage> messages;
  WayBack wayBack;                         ///< Of the last migration; empty without one.
  std::string wayBackProblem;              ///< Why the way back cannot be read.
  Dialect dialect = Dialect::Bough;        ///< Of the newest answer.
  std::vector<std::string> redacted;       ///< Entries that are left out.
  std::unordered_set<std::string> edited;  ///< Entries whose message was edited: models get the new version.
};

/// Loads the branch, unless it is already in `source.entries`.
Result<void> readSource(SessionStore& store, const std::string& sessionId, const std::string& at,
                        MigrationSource& source);

/// Reads the originals. With `strict`, fails at the first invalid one.
Result<void> readOriginals(SessionStore& store, const std::string& sessionId, const MigrationSource& source,
                           bool strict, message::History& history, message::Reporter& reporter);

}  // namespace bough::context
