#include "store/postgres/client/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "store/postgres/client/failure.h"

namespace bough::postgres {
namespace {

// In libpq's messages, this follows the severity of a message from the server, in any language.
constexpr std::string_view kServerSpeaks = ":  ";

int leftMs(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// Returns the timeout for one host, in seconds. PGCONNECT_TIMEOUT takes precedence; libpq's minimum is 2.
std::string connectTimeout(Deadline deadline) {
  if (const char* const wanted = std::getenv("PGCONNECT_TIMEOUT")) return wanted;
  return fmt::format("{}", std::clamp(leftMs(deadline) / 1000, 2, 5));
}

void ignoreNotices(void* /*unused*/, const char* /*message*/) {}

struct FinishAttempt {
  void operator()(PGconn* connection) const { libpq().PQfinish(connection); }
};
using Attempt = std::unique_ptr<PGconn, FinishAttempt>;

// Starts to connect. Suppresses notices of the server, which libpq would print.
Attempt startAttempt(const char* const* keywords, const char* const* values) {
  Attempt attempt(libpq().PQconnectStartParams(keywords, values, /*expand_dbname=*/1));
  if (attempt == nullptr) throw std::bad_alloc();
  libpq().PQsetNoticeProcessor(attempt.get(), ignoreNotices, nullptr);
  return attempt;
}

// Waits for the attempt to end, successfully or not. Returns false when the deadline has passed.
bool isAttemptOver(PGconn* attempt, Deadline deadline) {
  if (libpq().PQstatus(attempt) == CONNECTION_BAD) return true;
  PostgresPollingStatusType status = PGRES_POLLING_WRITING;
  while (status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING) {
    const short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    pollfd socket{.fd = libpq().PQsocket(attempt), .events = events, .revents = 0};
    const int ready = ::poll(&socket, 1, leftMs(deadline));
    if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    if (ready > 0) status = libpq().PQconnectPoll(attempt);
  }
  return true;
}

// Settings of a connection attempt from any source: the URL, the environment or a service file.
struct Patience {
  bool hasSeveralHosts = false;
  std::chrono::seconds timeout = std::chrono::hours(1);
};

Patience patienceOf(PGconn* attempt) {
  Patience patience;
  const std::unique_ptr<PQconninfoOption, decltype(libpq().PQconninfoFree)> options(libpq().PQconninfo(attempt),
                                                                                    libpq().PQconninfoFree);
  if (!options) return patience;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    const std::string_view keyword = option->keyword;
    if (keyword == "host" || keyword == "hostaddr") {
      patience.hasSeveralHosts = patience.hasSeveralHosts || std::string_view(option->val).contains(',');
    }
    const int seconds = keyword == "connect_timeout" ? std::atoi(option->val) : 0;
    if (seconds > 0) patience.timeout = std::chrono::seconds(std::max(seconds, 2));
  }
  return patience;
}

// Connects within the deadline. A host, or one address of its name, that does not answer keeps libpq from trying the
// next one, unless libpq does the waiting itself (PQconnectdbParams). That call starts from the beginning, so it is not
// used when the only server is just slow.
PGconn* connectInTime(const char* const* keywords, const char* const* values, Deadline deadline) {
  constexpr std::chrono::seconds kSoon{2};
  const auto begin = std::chrono::steady_clock::now();
  Attempt attempt = startAttempt(keywords, values);
  if (isAttemptOver(attempt.get(), std::min(deadline, begin + kSoon))) return attempt.release();
  const Patience patience = patienceOf(attempt.get());
  const bool isReached = libpq().PQstatus(attempt.get()) != CONNECTION_STARTED;
  if (isReached && !patience.hasSeveralHosts) {
    (void)isAttemptOver(attempt.get(), begin + patience.timeout);
    return attempt.release();
  }
  attempt.reset(libpq().PQconnectdbParams(keywords, values, /*expand_dbname=*/1));
  if (attempt == nullptr) throw std::bad_alloc();
  libpq().PQsetNoticeProcessor(attempt.get(), ignoreNotices, nullptr);
  return attempt.release();
}

// Connects again to learn the SQLSTATE of a refusal: libpq reports it only in place of the server's message, which may
// be in any language. Returns an empty text when there is none.
std::string refusalState(const char* const* keywords, const char* const* values, Deadline deadline) {
  const Attempt asking = startAttempt(keywords, values);
  libpq().PQsetErrorVerbosity(asking.get(), PQERRORS_SQLSTATE);
  if (!isAttemptOver(asking.get(), deadline)) return {};
  std::string_view words = libpq().PQerrorMessage(asking.get());
  while (words.ends_with('\n')) words.remove_suffix(1);
  const std::size_t at = words.rfind(kServerSpeaks);
  return at == std::string_view::npos ? std::string() : std::string(words.substr(at + kServerSpeaks.size()));
}

}  // namespace

Exchange<std::unique_ptr<Connection>> Connection::open(const Location& location, Deadline deadline) {
  std::unique_ptr<Connection> made(new Connection(location));
  // Of two equal keywords the last one counts, so the URL overrides the first two and is overridden by the others.
  // libpq tries the next of several hosts when one does not answer in time.
  const std::string patience = connectTimeout(deadline);
  // A pooler refuses `replication` even when it is off, so it is sent only to override the URL.
  const std::array<const char*, 6> keywords{"fallback_application_name",
                                            "connect_timeout",
                                            "dbname",
                                            "client_encoding",
                                            location.replication ? "replication" : nullptr,
                                            nullptr};
  const std::array<const char*, 6> values{"bough", patience.c_str(), location.url.c_str(), "UTF8", "false", nullptr};
  made->connection_ = connectInTime(keywords.data(), values.data(), deadline);
  if (libpq().PQstatus(made->connection_) != CONNECTION_OK) {
    std::string words = libpq().PQerrorMessage(made->connection_);
    if (libpq().PQstatus(made->connection_) != CONNECTION_BAD) words += "timeout expired";
    Failure failure = connectFailure(location, words);
    if (failure.trouble == Trouble::Unreachable && words.contains(kServerSpeaks)) {
      failure = connectFailure(location, words, refusalState(keywords.data(), values.data(), deadline));
    }
    return std::unexpected(std::move(failure));
  }
  if (libpq().PQsetnonblocking(made->connection_, 1) != 0 || libpq().PQenterPipelineMode(made->connection_) != 1) {
    return std::unexpected(made->lost("it does not take statements in a pipeline"));
  }
  return made;
}

Connection::~Connection() {
  if (connection_ != nullptr) libpq().PQfinish(connection_);
}

bool Connection::isInTransaction() const {
  const PGTransactionStatusType status = libpq().PQtransactionStatus(connection_);
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

void Connection::dropNotifications() {
  while (PGnotify* const notification = libpq().PQnotifies(connection_)) libpq().PQfreemem(notification);
}

void Connection::abandon() {
  // PQfinish would send a message on the socket that the parent still uses. The memory is leaked.
  if (connection_ != nullptr) ::close(libpq().PQsocket(connection_));
  connection_ = nullptr;
}

Failure Connection::lost(std::string what) {
  if (what.empty()) what = connection_ == nullptr ? "it is closed" : libpq().PQerrorMessage(connection_);
  return lostFailure(location_, what, sent_);
}

Failure Connection::timedOut() {
  return timeoutFailure(location_, sent_);
}

Failure Connection::refused(const PGresult* result) const {
  const char* const state = libpq().PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const primary = libpq().PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  Failure failure = sqlFailure(location_, state == nullptr ? "" : state,
                               primary == nullptr ? libpq().PQresultErrorMessage(result) : primary);
  const bool onlyReads = reports("in_hot_standby", "off") && reports("default_transaction_read_only", "on");
  return onlyReads ? asReadOnlyDatabase(std::move(failure)) : failure;
}

bool Connection::reports(const char* setting, std::string_view value) const {
  const char* const reported = libpq().PQparameterStatus(connection_, setting);
  return reported != nullptr && reported == value;
}

Exchange<void> Connection::waitFor(short events, Deadline deadline) {
  for (;;) {
    pollfd socket{.fd = libpq().PQsocket(connection_), .events = events, .revents = 0};
    const int ready = ::poll(&socket, 1, leftMs(deadline));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return std::unexpected(lost("poll fails"));
    if (std::chrono::steady_clock::now() >= deadline) return std::unexpected(timedOut());
  }
}

Exchange<void> Connection::send(const Call& call, bool prepared, bool preparing) {
  const std::string name(call.name);
  const std::string sql(preparing || !prepared ? call.sql : std::string_view());
  const std::vector<const char*> values = call.parameters.pointers();
  const std::vector<int> formats(values.size(), 1);
  const auto& lengths = call.parameters.lengths();
  const auto& types = call.parameters.types();
  const int count = call.parameters.size();
  if (preparing && libpq().PQsendPrepare(connection_, name.c_str(), sql.c_str(), count, types.data()) != 1) {
    return std::unexpected(lost({}));
  }
  const int done = prepared ? libpq().PQsendQueryPrepared(connection_, name.c_str(), count, values.data(),
                                                          lengths.data(), formats.data(), 1)
                            : libpq().PQsendQueryParams(connection_, sql.c_str(), count, types.data(), values.data(),
                                                        lengths.data(), formats.data(), 1);
  if (done != 1) return std::unexpected(lost({}));
  return {};
}

// Reads while it writes; otherwise both sides could wait for each other. The deadline is extended as long as bytes are
// sent.
Exchange<void> Connection::flush(Deadline& deadline) {
  const auto patience = deadline - std::chrono::steady_clock::now();
  for (;;) {
    const int left = libpq().PQflush(connection_);
    if (left == 0) return {};
    if (left < 0) return std::unexpected(lost({}));
    if (auto ready = waitFor(POLLIN | POLLOUT, deadline); !ready) return ready;
    deadline = std::chrono::steady_clock::now() + patience;
    if (libpq().PQconsumeInput(connection_) != 1) return std::unexpected(lost({}));
  }
}

// Waits for the next result. The deadline is extended as long as bytes arrive.
Exchange<PGresult*> Connection::nextResult(Deadline& deadline, std::chrono::nanoseconds patience) {
  while (libpq().PQisBusy(connection_) != 0) {
    if (auto ready = waitFor(POLLIN, deadline); !ready) return std::unexpected(ready.error());
    deadline = std::chrono::steady_clock::now() + patience;
    if (libpq().PQconsumeInput(connection_) != 1) return std::unexpected(lost({}));
  }
  return libpq().PQgetResult(connection_);
}

Exchange<std::vector<Rows>> Connection::run(std::span<const Call> calls, bool prepare, Deadline deadline) {
  if (connection_ == nullptr) return std::unexpected(lost({}));
  // The server would close the connection, which would look like a lost connection.
  constexpr std::size_t kMostMessageBytes = 1'000'000'000;
  const auto large =
      std::ranges::find_if(calls, [](const Call& call) { return call.parameters.totalBytes() > kMostMessageBytes; });
  if (large != calls.end()) {
    return std::unexpected(
        sqlFailure(location_, kTooLarge,
                   fmt::format("{} bytes at once, and PostgreSQL takes a billion", large->parameters.totalBytes())));
  }
  const auto patience = deadline - std::chrono::steady_clock::now();
  sent_ = false;
  struct Answer {
    std::size_t call = 0;
    bool preparation = false;
  };
  std::vector<Answer> expected;
  std::set<std::string_view> preparing;
  // With each part that the socket accepts, libpq moves all the data that it has not sent yet. So the queue is kept
  // short.
  constexpr std::size_t kMostQueuedBytes = 256 << 10;
  std::size_t queuedBytes = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool byName = prepare && !calls[i].name.empty();
    const bool first = byName && !prepared_.contains(calls[i].name) && preparing.insert(calls[i].name).second;
    if (first) expected.push_back({.call = i, .preparation = true});
    expected.push_back({.call = i});
    if (calls[i].sink != nullptr) calls[i].sink->restart();
    if (auto queued = send(calls[i], byName, first); !queued) return std::unexpected(queued.error());
    queuedBytes += calls[i].parameters.totalBytes();
    if (queuedBytes < kMostQueuedBytes) continue;
    if (auto flushed = flush(deadline); !flushed) return std::unexpected(flushed.error());
    queuedBytes = 0;
  }
  if (libpq().PQpipelineSync(connection_) != 1) return std::unexpected(lost({}));
  sent_ = true;
  if (auto flushed = flush(deadline); !flushed) return std::unexpected(flushed.error());

  std::vector<Rows> results(calls.size());
  std::optional<Failure> failure;
  const auto sinkAt = [&](std::size_t at) {
    return at >= expected.size() || expected[at].preparation ? nullptr : calls[expected[at].call].sink;
  };
  for (std::size_t at = 0;;) {
    auto received = nextResult(deadline, patience);
    if (!received) return std::unexpected(received.error());
    if (*received == nullptr) {  // the end of one statement's results
      if (++at > expected.size() + 1) return std::unexpected(lost("its answer has no end"));
      if (sinkAt(at) != nullptr) (void)libpq().PQsetSingleRowMode(connection_);
      continue;
    }
    Rows rows(*received);
    const ExecStatusType status = libpq().PQresultStatus(*received);
    if (status == PGRES_PIPELINE_SYNC) break;
    if (status == PGRES_FATAL_ERROR && !failure) failure = refused(*received);
    const bool good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_SINGLE_TUPLE;
    if (!good || at >= expected.size()) continue;
    if (const RowSink* const sink = sinkAt(at)) {
      if (!rows.empty()) sink->take(rows);
    } else if (expected[at].preparation) {
      prepared_.emplace(calls[expected[at].call].name);
    } else {
      results[expected[at].call] = std::move(rows);
    }
  }
  if (failure) return std::unexpected(std::move(*failure));
  return results;
}

Exchange<std::vector<std::string>> Connection::waitForNotifications(int wakeFd, int timeoutMs) {
  std::vector<std::string> payloads;
  const auto collect = [&] {
    while (PGnotify* const notification = libpq().PQnotifies(connection_)) {
      payloads.emplace_back(notification->extra);
      libpq().PQfreemem(notification);
    }
  };
  collect();
  if (!payloads.empty()) return payloads;
  std::array<pollfd, 2> waiting{pollfd{.fd = libpq().PQsocket(connection_), .events = POLLIN, .revents = 0},
                                pollfd{.fd = wakeFd, .events = POLLIN, .revents = 0}};
  const int ready = ::poll(waiting.data(), waiting.size(), timeoutMs);
  if (ready < 0 && errno != EINTR) return std::unexpected(lost("poll fails"));
  if (ready > 0 && waiting[0].revents != 0) {
    sent_ = false;
    if (libpq().PQconsumeInput(connection_) != 1) return std::unexpected(lost({}));
    collect();
  }
  return payloads;
}

}  // namespace bough::postgres
