#include "store/postgres/schema/database.h"

#include <fmt/format.h>

#include "base/bytes/sha256.h"
#include "store/postgres/schema/schema.h"
#include "store/rules/header.h"

namespace bough::postgres {
namespace {

constexpr std::size_t kNameDigits = 16;

}  // namespace

Database::Database(Location location, PoolOptions options, const EntrySerializer& entrySerializer, Environment& env)
    : pool(std::move(location), options), serializer(entrySerializer), environment(env), ids(env.clock, env.random) {
  pool.setRefusalExplainer([this] { return schemaMismatchError(pool); });
}

Call Database::call(const Statement& statement, Parameters parameters) {
  const std::lock_guard lock(mutex_);
  auto [found, fresh] = texts_.try_emplace(statement.sql.data());
  Text& text = found->second;
  if (fresh) {
    text.sql = inSchema(statement.sql, pool.location().schema);
    text.name = fmt::format("{}_{}", statement.name, Sha256::of(text.sql).substr(0, kNameDigits));
  }
  return {.name = text.name, .sql = text.sql, .parameters = std::move(parameters)};
}

Result<Rows> Database::run(const Statement& statement, Parameters parameters) {
  return pool.run(call(statement, std::move(parameters)));
}

Exchange<void> Database::transaction(const std::function<Exchange<void>(Connection&)>& work) {
  return pool.withConnection([&](Connection& connection) -> Exchange<void> {
    auto done = work(connection);
    if (done || done.error().trouble == Trouble::LostNothingDone ||
        done.error().trouble == Trouble::LostOutcomeUnknown || done.error().trouble == Trouble::TimedOut) {
      return done;
    }
    const Call rollback{.sql = "ROLLBACK"};
    if (auto undone = connection.run(std::span(&rollback, 1), false, pool.deadline()); !undone) {
      return std::unexpected(undone.error());
    }
    return done;
  });
}

Error Database::noSession(const std::string& sessionId) const {
  if (const auto known = checkSessionId(sessionId); !known) return known.error();
  return fail(ErrorCode::NotFound, fmt::format("there is no session {} in {}", sessionId, shown()),
              "`bough ls` lists the sessions of a store")
      .error();
}

void lineOf(std::string_view id, std::string_view parentId, std::string_view body, std::string& out) {
  out.clear();
  out.reserve(kIdKey.size() + id.size() + kParentKey.size() + parentId.size() + 4 + body.size());
  out += kIdKey;
  out += id;
  out += kParentKey;
  if (parentId.empty()) {
    out += "null";
  } else {
    out += '"';
    out += parentId;
    out += '"';
  }
  out += body;
}

}  // namespace bough::postgres
