// What a sentence calls a session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// What a list calls a session: its title, else what it is a fork of, else its key.
std::string displayTitle(const SessionSummary& row);

/// Gives forks that have no title of their own "fork of" and the title of the session they come from: for people, not
/// for programs, who get the origin.
void titleForks(Catalog& catalog, std::vector<SessionSummary>& rows);

/// What messages and questions call a session: its exactId and, where it has one, its title.
std::string nameWithTitle(const SessionSummary& row);

/// Names the sessions of a store with their titles. The catalog is opened when the first name is asked for. It takes in
/// what is new, but a name never waits for a whole store to be read: then it is the id alone.
class SessionTitles {
 public:
  explicit SessionTitles(SessionStore& store) : store_(store) {}

  /// None when the catalog does not know the session. A fork has the title of its session, as in lists.
  std::optional<SessionSummary> row(const std::string& sessionId, const PriceTable* prices = nullptr);
  /// The exactId and, where it has one, the title: `c66b5023 "Refactor the parser"`.
  std::string name(const std::string& sessionId);

 private:
  SessionStore& store_;
  std::unique_ptr<Catalog> catalog_;
  bool opened_ = false;
};

/// The name of one session.
std::string idAndTitle(const SessionSummary& row);
std::string idAndTitle(SessionStore& store, const std::string& sessionId);

/// HasForks of this session, with the forks' titles; any other error as it is.
Error withForksNamed(SessionStore& store, const std::string& sessionId, Error error);

/// The folder in which a session works, for a fork of it; empty when nobody recorded it, or what says it is damaged or
/// gone. A fork without a folder of its own works where the session does that it continues.
[[nodiscard]] Result<std::string> folderOf(SessionStore& store, std::string sessionId);

}  // namespace bough::cli
