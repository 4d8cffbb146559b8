// What the parts of a store on PostgreSQL share: the pool, the texts of the statements, the serializer, and the
// generator of ids.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/model/ids.h"
#include "base/system/environment.h"
#include "bough/entry.h"
#include "store/postgres/client/pool.h"

namespace bough::postgres {

/// A statement; `@.` stands for the store's schema. It is prepared under its name and a digest of its text.
struct Statement {
  std::string_view name;
  std::string_view sql;
};

/// Attachments that this process has stored and that none of its appends has named yet.
struct HeldAttachments {
  std::mutex mutex;
  int holders = 0;
  std::set<std::string> sha256s;
};

class Database {
 public:
  Database(Location location, PoolOptions options, const EntrySerializer& entrySerializer, Environment& env);

  Pool pool;
  const EntrySerializer& serializer;
  Environment& environment;
  IdGenerator ids;
  HeldAttachments held;

  /// Returns a call of a statement. Statements must live as long as the program.
  Call call(const Statement& statement, Parameters parameters);
  Result<Rows> run(const Statement& statement, Parameters parameters);

  /// Runs `work` between BEGIN and COMMIT on one connection. Repeats it from the start when the server was lost or two
  /// transactions conflicted. `work` ends the transaction itself, so that COMMIT can be sent with its last statement.
  /// After an error the transaction is rolled back.
  Exchange<void> transaction(const std::function<Exchange<void>(Connection&)>& work);

  [[nodiscard]] const std::string& shown() const { return pool.location().shown; }
  /// Returns the error for a session that does not exist.
  [[nodiscard]] Error noSession(const std::string& sessionId) const;

 private:
  // A pooler may give a client a connection on which another client has prepared statements. The name identifies the
  // text of a statement, so that statements of another store in the database or of another version of the program are
  // not confused with this one.
  struct Text {
    std::string name;
    std::string sql;
  };

  std::mutex mutex_;
  std::map<const void*, Text> texts_;  // by the original text of the statement
};

/// How the line of an entry begins. A row stores everything after the parent's id as its `body`.
inline constexpr std::string_view kIdKey = R"({"id":")";
inline constexpr std::string_view kParentKey = R"(","parentId":)";
/// Rebuilds the line from a row.
void lineOf(std::string_view id, std::string_view parentId, std::string_view body, std::string& out);

}  // namespace bough::postgres
