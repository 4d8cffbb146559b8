// Gives sessions the names that sentences and lists use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// Returns a session's name in lists: its title, otherwise the session it was forked from, otherwise its key.
std::string displayTitle(const SessionSummary& row);

/// Gives each fork without a title the text "fork of" and the title of its origin. Only for people; programs get the
/// origin itself.
void titleForks(Catalog& catalog, std::vector<SessionSummary>& rows);

/// Returns a session's name in messages and questions: its exact name and, if it has one, its title.
std::string nameWithTitle(const SessionSummary& row);

/// Names the sessions of a store with their titles. Opens the catalog when the first name is needed. Takes in new
/// sessions, but never waits until a whole store is read; until then, a name is the id alone.
class SessionTitles {
 public:
  explicit SessionTitles(SessionStore& store) : store_(store) {}

  /// Returns std::nullopt when the catalog does not know the session. A fork has its origin's title, as in lists.
  std::optional<SessionSummary> row(const std::string& sessionId, const PriceTable* prices = nullptr);
  /// Returns the exact name and, if there is one, the title: `c66b5023 "Refactor the parser"`.
  std::string name(const std::string& sessionId);

 private:
  SessionStore& store_;
  std::unique_ptr<Catalog> catalog_;
  bool opened_ = false;
};

/// Returns the name of one session.
std::string idAndTitle(const SessionSummary& row);
std::string idAndTitle(SessionStore& store, const std::string& sessionId);

/// Adds the forks' titles to a HasForks error for this session; returns any other error unchanged.
Error withForksNamed(SessionStore& store, const std::string& sessionId, Error error);

/// Returns the folder in which a session works, for a fork of it. Empty when no folder is recorded, or when its record
/// is damaged or lost. A fork without a recorded folder works in the folder of its origin.
[[nodiscard]] Result<std::string> folderOf(SessionStore& store, std::string sessionId);

}  // namespace bough::cli
