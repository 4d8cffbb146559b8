// What the parts of a store on PostgreSQL share: the pool, the texts of the statements, and what entries are made with.
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

/// A statement; `@.` is the store's schema. It is prepared under its name and a digest of its text.
struct Statement {
  std::string_view name;
  std::string_view sql;
};

/// Attachments that this process has put and that no append of it has named yet.
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

  /// A call of a statement. Statements live as long as the program.
  Call call(const Statement& statement, Parameters parameters);
  Result<Rows> run(const Statement& statement, Parameters parameters);

  /// Runs `work` between BEGIN and COMMIT on one connection; again from the start when the server was lost or two
  /// transactions got in each other's way. `work` ends the transaction itself (COMMIT can then go with its last
  /// statement); after an error it is rolled back.
  Exchange<void> transaction(const std::function<Exchange<void>(Connection&)>& work);

  [[nodiscard]] const std::string& shown() const { return pool.location().shown; }
  /// The error of a session that is not there.
  [[nodiscard]] Error noSession(const std::string& sessionId) const;

 private:
  // A pooler may give a client the connection on which another has prepared: the name says which text it has, so that
  // neither another store of the database nor another version of the program is taken for this one.
  struct Text {
    std::string name;
    std::string sql;
  };

  std::mutex mutex_;
  std::map<const void*, Text> texts_;  // by the statement's own text
};

/// How the line of an entry begins; a row keeps what follows the parent's id as its `body`.
inline constexpr std::string_view kIdKey = R"({"id":")";
inline constexpr std::string_view kParentKey = R"(","parentId":)";
/// The line again, from a row.
void lineOf(std::string_view id, std::string_view parentId, std::string_view body, std::string& out);

}  // namespace bough::postgres
