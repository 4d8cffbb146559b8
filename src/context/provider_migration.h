// A session as it is migrated to another provider: what is read from its branch, and what becomes of it.
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

/// Whether an entry begins what a migration made.
bool isMigration(const Entry& entry);

/// Unsupported for what is not a provider's dialect.
Result<void> checkTarget(Dialect target);

/// The system prompt and the tools in force, entry by entry. What it returns stays where it is.
class InForce {
 public:
  void apply(const Entry& entry);
  [[nodiscard]] std::string_view system() const { return system_; }
  [[nodiscard]] std::string_view tools() const { return tools_; }

 private:
  void keep(const std::optional<Recorded>& now, std::string_view& kept);

  Branch branch_;
  std::string_view system_;
  std::string_view tools_;
  std::deque<std::string> texts_;
};

/// The message of an entry. It points into all of these.
message::SessionMessage sessionMessage(const Entry& entry, const HiddenPayloads& hidden, const InForce& inForce);

/// The branch of a session, ready to be converted. Neither copies nor moves: its parts point into one another.
struct MigrationSource {
  std::string headId;
  std::vector<Entry> entries;       ///< After the last migration, root first.
  HiddenPayloads hidden;            ///< Of those that are redacted.
  std::optional<Entry> cut;         ///< The first entry of a branch without a migration, when it continues a lost one.
  std::vector<std::size_t> places;  ///< Of each message: its place in `entries`.
  InForce inForce;                  ///< At the end.
  std::vector<message::SessionMessage> messages;
  WayBack wayBack;                         ///< Of the last migration; empty when there was none.
  std::string wayBackProblem;              ///< Why it cannot be read.
  Dialect dialect = Dialect::Bough;        ///< Whom the newest answer is from.
  std::vector<std::string> redacted;       ///< Entries that are left out.
  std::unordered_set<std::string> edited;  ///< Entries of whose message models get something else.
};

/// Loads the branch, unless it is in `source.entries` already.
Result<void> readSource(SessionStore& store, const std::string& sessionId, const std::string& at,
                        MigrationSource& source);

/// Reads the originals; with strict, fails at the first bad one.
Result<void> readOriginals(SessionStore& store, const std::string& sessionId, const MigrationSource& source,
                           bool strict, message::History& history, message::Reporter& reporter);

}  // namespace bough::context
