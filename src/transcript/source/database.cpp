#include "transcript/source/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/system/process_state.h"
#include "base/try.h"
#include "transcript/source/unpacked.h"

namespace bough::transcript {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".sqlite";
constexpr std::size_t kMostEventBytes = kMaxTranscriptLineBytes;
constexpr int kBusyMs = 5'000;

class Close {
 public:
  template <typename Object>
  void operator()(Object* object) const {
    const ForkBlocker forkBlocker;
    close(object);
  }

 private:
  static void close(sqlite3* database) { ::sqlite3_close_v2(database); }
  static void close(sqlite3_stmt* statement) { ::sqlite3_finalize(statement); }
  static void close(sqlite3_blob* blob) { ::sqlite3_blob_close(blob); }
};
using Handle = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

// Escapes a path for a URI: SQLite ends a path at `?` and `#`.
std::string uriPath(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                         c == '.' || c == '-' || c == '_';
    out += isPlain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

// An id is free text. In a name its blanks, control characters, `/` and `%` are escaped as in a URL.
std::string sessionName(std::string_view id) {
  std::string out;
  for (const char c : id) {
    const bool isUsual = static_cast<unsigned char>(c) > ' ' && c != '/' && c != '%' && c != '\x7f';
    out += isUsual ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::optional<std::string> sessionNamed(std::string_view name) {
  std::string id;
  for (; !name.empty(); name.remove_prefix(1)) {
    auto byte = static_cast<unsigned char>(name.front());
    if (byte == '%') {
      const auto read = std::from_chars(name.data() + 1, name.data() + std::min<std::size_t>(3, name.size()), byte, 16);
      if (read.ec != std::errc() || read.ptr != name.data() + 3) return std::nullopt;
      name.remove_prefix(2);
    }
    id += static_cast<char>(byte);
  }
  return id;
}

std::unexpected<Error> damaged(const std::string& file, sqlite3* database) {
  const char* why = database == nullptr ? "out of memory" : ::sqlite3_errmsg(database);
  return fail(ErrorCode::Damaged, fmt::format("{} cannot be read: {}", file, why),
              "close the program that uses it, and try again");
}

class Database {
 public:
  static Result<std::shared_ptr<Database>> open(const std::string& file) {
    const ForkBlocker forkBlocker;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) {
      return fail(ErrorCode::NotFound, fmt::format("there is no database {}", file), "");
    }
    // A reader of a database that is in use shares the writer's files. When nobody has the database open, no files must
    // be created.
    const bool hasLog = fs::exists(file + "-wal", error) && fs::file_size(file + "-wal", error) > 0;
    if (hasLog && !fs::exists(file + "-shm", error)) {
      return fail(ErrorCode::Busy, fmt::format("{} was not closed by its program", file),
                  "start the agent once, so that it takes in what is in the -wal file; bough changes nothing there");
    }
    const std::string uri = fmt::format("file:{}?{}", uriPath(fs::absolute(file, error).string()),
                                        hasLog ? "mode=ro" : "mode=ro&immutable=1");
    auto database = std::make_shared<Database>();
    database->file = file;
    sqlite3* opened = nullptr;
    const int code = ::sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database->handle.reset(opened);
    if (code != SQLITE_OK) return damaged(file, opened);
    // The file is not trusted: its schema must not run anything, and the size of values must be limited.
    ::sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    ::sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    ::sqlite3_busy_timeout(opened, kBusyMs);
    BOUGH_TRY(const bool isThere, database->hasTable("transcript_events"));
    if (!isThere) return fail(ErrorCode::Unsupported, fmt::format("{} holds no transcripts", file), "");
    return database;
  }

  Result<Statement> prepare(const std::string& sql) {
    const ForkBlocker forkBlocker;
    sqlite3_stmt* statement = nullptr;
    if (::sqlite3_prepare_v2(handle.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      return damaged(file, handle.get());
    }
    return Statement(statement);
  }

  // Accepts only tables, because a view could compute anything.
  Result<bool> hasTable(const std::string& name) {
    const ForkBlocker forkBlocker;
    BOUGH_TRY(const auto statement, prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1"));
    bindText(statement.get(), name);
    const int code = ::sqlite3_step(statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) return damaged(file, handle.get());
    return code == SQLITE_ROW;
  }

  bool hasColumn(const std::string& table, const std::string& column) {
    return prepare(fmt::format("SELECT \"{}\".\"{}\" FROM \"{}\" LIMIT 0", table, column, table)).has_value();
  }

  static void bindText(sqlite3_stmt* statement, const std::string& text) {
    ::sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }

  static std::string text(sqlite3_stmt* statement, int column) {
    const auto* bytes = static_cast<const char*>(::sqlite3_column_blob(statement, column));
    const int size = ::sqlite3_column_bytes(statement, column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
  }

  Handle handle;
  std::string file;
};

// Returns std::nullopt when the event is damaged or too long for a line. A zstd frame need not say how much it holds.
std::optional<std::string> unpackedEvent(std::string_view packed) {
  std::string text;
  const auto source = unpacked(fromMemory(packed), {});
  while (source && text.size() <= kMostEventBytes) {
    constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
    const std::size_t size = text.size();
    text.resize(size + kPieceBytes);
    const auto got = (*source)->read(std::span(text).subspan(size));
    if (!got) return std::nullopt;
    text.resize(size + *got);
    if (*got == 0) return text;
  }
  return std::nullopt;
}

// Returns a row's JSON text. When the text is not available, returns words that are not JSON, so that the reader counts
// them as damage.
std::string eventLine(sqlite3_stmt* row) {
  if (::sqlite3_column_type(row, 0) == SQLITE_TEXT) {
    std::string text = Database::text(row, 0);
    std::ranges::replace(text, '\n', ' ');  // occurs only between tokens
    return text + "\n";
  }
  const std::string packed = Database::text(row, 1);
  if (packed.empty()) return "an event of more than 32 MiB\n";
  auto text = unpackedEvent(packed);
  if (!text) return "an event that cannot be unpacked\n";
  std::ranges::replace(*text, '\n', ' ');
  return *text + "\n";
}

// A value that is too large for a line is not even fetched.
std::string bounded(std::string_view column) {
  return fmt::format("CASE WHEN length(CAST({0} AS BLOB)) <= {1} THEN {0} END", column, kMostEventBytes);
}

class Events : public ByteSource {
 public:
  Events(std::shared_ptr<Database> database, Statement rows) : database_(std::move(database)), rows_(std::move(rows)) {}

  Result<std::size_t> read(std::span<char> out) override {
    const ForkBlocker forkBlocker;
    while (begin_ == line_.size()) {
      if (ended_) return std::size_t{0};
      const int code = ::sqlite3_step(rows_.get());
      ended_ = code == SQLITE_DONE;  // another step would start again
      if (ended_) return std::size_t{0};
      if (code != SQLITE_ROW) return damaged(database_->file, database_->handle.get());
      line_ = eventLine(rows_.get());
      begin_ = 0;
    }
    const std::size_t count = std::min(out.size(), line_.size() - begin_);
    line_.copy(out.data(), count, begin_);
    begin_ += count;
    return count;
  }

 private:
  std::shared_ptr<Database> database_;
  Statement rows_;
  std::string line_;
  std::size_t begin_ = 0;
  bool ended_ = false;
};

class Blob : public ByteSource {
 public:
  Blob(std::shared_ptr<Database> database, sqlite3_blob* blob) : database_(std::move(database)), blob_(blob) {}

  Result<std::size_t> read(std::span<char> out) override {
    const ForkBlocker forkBlocker;
    const int left = ::sqlite3_blob_bytes(blob_.get()) - at_;
    const int count = static_cast<int>(std::min<std::size_t>(out.size(), static_cast<std::size_t>(left)));
    if (count == 0) return std::size_t{0};
    if (::sqlite3_blob_read(blob_.get(), out.data(), count, at_) != SQLITE_OK) {
      return damaged(database_->file, database_->handle.get());
    }
    at_ += count;
    return static_cast<std::size_t>(count);
  }

 private:
  std::shared_ptr<Database> database_;
  std::unique_ptr<sqlite3_blob, Close> blob_;
  int at_ = 0;
};

constexpr std::string_view kArchives = "session_transcript_archives";

Result<std::unique_ptr<ByteSource>> openArchive(const std::shared_ptr<Database>& database, const DatabasePlace& place) {
  const ForkBlocker forkBlocker;
  const auto missing = [&] {
    return fail(ErrorCode::NotFound, fmt::format("{} has no session {}", place.file, place.session), "");
  };
  BOUGH_TRY(const bool hasArchives, database->hasTable(std::string(kArchives)));
  if (!hasArchives) return missing();
  BOUGH_TRY(const auto statement,
            database->prepare(fmt::format("SELECT rowid FROM {} WHERE archive_name = ?1", kArchives)));
  Database::bindText(statement.get(), place.session);
  if (::sqlite3_step(statement.get()) != SQLITE_ROW) return missing();
  sqlite3_blob* blob = nullptr;
  const int code = ::sqlite3_blob_open(database->handle.get(), "main", std::string(kArchives).c_str(), "archive_blob",
                                       ::sqlite3_column_int64(statement.get(), 0), 0, &blob);
  if (code != SQLITE_OK) return damaged(place.file, database->handle.get());
  return unpacked(std::make_unique<Blob>(database, blob), place.file + "#" + place.session);
}

// The size and the time of the last change tell whether a session must be read again.
Result<void> addRows(Database& database, const std::string& sql, std::string_view agent,
                     std::vector<FoundTranscript>& out) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  const ForkBlocker forkBlocker;
  BOUGH_TRY(const auto rows, database.prepare(sql));
  while (true) {
    const int code = ::sqlite3_step(rows.get());
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return damaged(database.file, database.handle.get());
    FoundTranscript found{.agent = std::string(agent),
                          .path = database.file + "#" + sessionName(Database::text(rows.get(), 0))};
    found.sizeBytes = static_cast<std::uint64_t>(std::max<sqlite3_int64>(0, ::sqlite3_column_int64(rows.get(), 1)));
    found.modifiedNs =
        static_cast<std::uint64_t>(std::max<sqlite3_int64>(0, ::sqlite3_column_int64(rows.get(), 2))) * kMillisecond;
    if (placeInDatabase(found.path)) out.push_back(std::move(found));
  }
}

}  // namespace

std::optional<DatabasePlace> placeInDatabase(const std::string& path) {
  const std::size_t mark = path.find(std::string(kEnding) + "#");
  if (mark == std::string::npos) return std::nullopt;
  const std::string name = path.substr(mark + kEnding.size() + 1);
  auto session = sessionNamed(name);
  // Accept only the name that sessionName returns.
  if (!session || session->empty() || sessionName(*session) != name) return std::nullopt;
  return DatabasePlace{.file = path.substr(0, mark + kEnding.size()), .session = std::move(*session)};
}

bool isDatabaseName(std::string_view path) {
  return path.ends_with(kEnding);
}

Result<std::vector<FoundTranscript>> sessionsInDatabase(const std::string& file, std::string_view agent) {
  BOUGH_TRY(const auto database, Database::open(file));
  const bool hasPacked = database->hasColumn("transcript_events", "event_zstd");
  const std::string bytes = hasPacked ? "coalesce(length(CAST(event_json AS BLOB)), length(event_zstd), 0)"
                                      : "coalesce(length(CAST(event_json AS BLOB)), 0)";
  std::vector<FoundTranscript> found;
  BOUGH_TRY(addRows(*database,
                    fmt::format("SELECT session_id, sum({} + 1), max(created_at) FROM transcript_events "
                                "GROUP BY session_id ORDER BY session_id",
                                bytes),
                    agent, found));
  BOUGH_TRY(const bool hasArchives, database->hasTable(std::string(kArchives)));
  if (hasArchives) {
    BOUGH_TRY(addRows(
        *database,
        fmt::format("SELECT archive_name, length(archive_blob), created_at FROM {} ORDER BY archive_name", kArchives),
        agent, found));
  }
  return found;
}

Result<std::unique_ptr<ByteSource>> openInDatabase(const DatabasePlace& place) {
  const ForkBlocker forkBlocker;
  BOUGH_TRY(auto database, Database::open(place.file));
  const bool hasPacked = database->hasColumn("transcript_events", "event_zstd");
  BOUGH_TRY(auto rows, database->prepare(fmt::format(
                           "SELECT {}, {} FROM transcript_events WHERE session_id = ?1 ORDER BY seq",
                           bounded("event_json"), hasPacked ? bounded("event_zstd") : std::string("NULL"))));
  Database::bindText(rows.get(), place.session);
  const int first = ::sqlite3_step(rows.get());
  if (first == SQLITE_DONE) return openArchive(database, place);
  if (first != SQLITE_ROW) return damaged(place.file, database->handle.get());
  ::sqlite3_reset(rows.get());
  return std::make_unique<Events>(std::move(database), std::move(rows));
}

Result<DatabaseFacts> factsInDatabase(const DatabasePlace& place) {
  const ForkBlocker forkBlocker;
  DatabaseFacts facts;
  BOUGH_TRY(const auto database, Database::open(place.file));
  for (const char* sql :
       {"SELECT session_key, '' FROM session_windows WHERE session_id = ?1",
        "SELECT session_key, entry_json FROM session_nodes WHERE current_session_id = ?1 ORDER BY updated_at DESC"}) {
    const auto row = database->prepare(sql);
    if (!row) continue;  // an older schema
    Database::bindText(row->get(), place.session);
    const int code = ::sqlite3_step(row->get());
    if (code == SQLITE_DONE) continue;
    if (code != SQLITE_ROW) {
      return fail(ErrorCode::Damaged, fmt::format("{}, the agent's list of sessions, is damaged", place.file),
                  "titles and keys that only the list has are missing");
    }
    facts.key = Database::text(row->get(), 0);
    facts.record = Database::text(row->get(), 1);
  }
  return facts;
}

}  // namespace bough::transcript
