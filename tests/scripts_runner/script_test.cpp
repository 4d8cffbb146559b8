// Runs every script of tests/scripts with every backend: commands, `---`, and the expected output, block by block.
// BOUGH_UPDATE_GOLDEN=1 writes the output of the first backend into the scripts. The commands:
//
//   new SESSION [key=…] [cwd=…] [title=…]        fork SESSION ENTRY NEW [title=…]
//   append SESSION [expect=TAIL] [buffered]      then one indented line per entry: ID TYPE [parent=ID|null] PAYLOAD
//     PAYLOAD may be followed by `meta=JSON`, `run=TEXT`, `extra=MEMBERS`, each up to the end or the next of them;
//     ID `-` lets the store choose the id; `blob(N)` as a payload means one of N letters
//   load SESSION [from=N] [limit=N] [last=N] [branch=ID] [type=T] [all]
//   entry SESSION ID · head SESSION ID|null · redact SESSION ID BY REASON · state SESSION · list · forks SESSION
//   delete SESSION [detach] · trash SESSION [detach] · restore T · empty T… (T: t1 was the first to be trashed)
//   cursor SESSION N [position=ID] · unused · sweep
//
// Clock and randomness are deterministic, so times and ids are too. Ids made by the store are printed as numbers in
// order of their first appearance.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/bytes/sha256.h"
#include "bough/store.h"
#include "store/file/file_backend.h"
#include "store/memory/memory_backend.h"
#include "store/postgres/postgres_backend.h"
#include "store/session_store_impl.h"
#include "support/postgres_server.h"
#include "support/sim_environment.h"
#include "support/temp_folder.h"

namespace bough {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    if (!part.empty() || at == '\n') parts.push_back(part);
  }
  return parts;
}

// One command: its words, its named options, and the indented lines below it.
struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> options;
  std::vector<std::string> lines;

  [[nodiscard]] std::string word(std::size_t i) const { return i < words.size() ? words[i] : ""; }
  [[nodiscard]] bool has(const std::string& flag) const { return std::ranges::find(words, flag) != words.end(); }
  [[nodiscard]] std::optional<std::string> option(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? std::nullopt : std::optional(found->second);
  }
};

Command parseCommand(const std::string& text) {
  Command command;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      command.words.push_back(word);
    } else {
      command.options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return command;
}

Entry parseEntry(std::string line) {
  Entry entry;
  const auto takeWord = [&] {
    const std::size_t end = line.find(' ');
    std::string word = line.substr(0, end);
    line = end == std::string::npos ? "" : line.substr(end + 1);
    return word;
  };
  const std::string id = takeWord();
  if (id != "-") entry.id = id;
  entry.type = takeWord();
  if (line.starts_with("parent=")) {
    const std::string parent = takeWord().substr(7);
    entry.parentId = parent == "null" ? "" : parent;
  }
  const auto takeTail = [&](const std::string& name, std::string& target) {
    const std::size_t at = line.find(" " + name + "=");
    if (at == std::string::npos) return;
    target = line.substr(at + name.size() + 2);
    line.resize(at);
  };
  takeTail("extra", entry.extra);
  takeTail("run", entry.runId);
  takeTail("meta", entry.meta);
  entry.payload = line;
  if (line.starts_with("blob(")) {
    entry.payload = R"({"blob":")" + std::string(std::stoul(line.substr(5)), 'b') + R"("})";
  }
  return entry;
}

class ScriptRun {
 public:
  explicit ScriptRun(std::shared_ptr<StorageBackend> backend, Environment& environment) {
    StoreOptions options;
    options.attachmentBytes = 1000;
    store_ = std::move(*SessionStore::Impl::open(std::move(backend), options, environment));
  }

  std::string run(const Command& command) {
    const std::string& name = command.words.at(0);
    const std::string session = command.word(1);
    if (name == "new") return handle(store_->createSession(newSession(session, command)));
    if (name == "fork")
      return handle(store_->branchFromEntry(session, command.word(2), newSession(command.word(3), command)));
    if (name == "append") return append(session, command);
    if (name == "load") return load(session, command);
    if (name == "entry") {
      return show(store_->loadEntry(session, command.word(2)), [&](const Entry& entry) { return print(entry); });
    }
    if (name == "head") {
      return appended(store_->moveHead(session, command.word(2) == "null" ? "" : command.word(2)));
    }
    if (name == "redact") {
      return appended(store_->redactEntry(session, command.word(2), command.word(3), command.word(4)));
    }
    if (name == "state") return state(session);
    if (name == "list") return show(store_->listSessions(), [&](const auto& ids) { return lines(ids); });
    if (name == "forks") return show(store_->forksOf(session), [&](const auto& ids) { return lines(ids); });
    if (name == "delete") return done(store_->deleteSession(session, {.detachForks = command.has("detach")}));
    if (name == "trash") return trash(session, command);
    if (name == "restore") return done(store_->restoreSession(trashIds_.at(session)));
    if (name == "empty") return empty(command);
    if (name == "cursor") return cursor(session, command);
    if (name == "unused") return show(store_->findUnusedAttachments(), [&](const auto& all) { return lines(all); });
    if (name == "sweep") {
      auto unused = store_->findUnusedAttachments();
      if (!unused) return print(unused.error());
      return show(store_->removeUnusedAttachments(*unused),
                  [](std::size_t count) { return "removed " + std::to_string(count) + "\n"; });
    }
    ADD_FAILURE() << "unknown command: " << name;
    return "?\n";
  }

 private:
  static NewSession newSession(const std::string& id, const Command& command) {
    return {.sessionId = id,
            .key = command.option("key").value_or(""),
            .cwd = command.option("cwd").value_or(""),
            .title = command.option("title").value_or("")};
  }

  // Ids made by the store differ between backends, so they are replaced by numbers in order of appearance.
  std::string name(const std::string& id) {
    constexpr std::size_t kUuid = 36;
    if (id.size() != kUuid) return id.empty() ? "null" : id;
    return names_.emplace(id, "#" + std::to_string(names_.size() - trashIds_.size() + 1)).first->second;
  }

  std::string print(const Entry& entry) {
    std::string payload = entry.payload;
    if (payload.size() > 200) payload = std::to_string(payload.size()) + " bytes";
    for (const auto& [id, shown] : names_) {
      for (std::size_t at = 0; (at = payload.find(id, at)) != std::string::npos;) payload.replace(at, id.size(), shown);
    }
    std::string text = name(entry.id) + " <- " + name(entry.parentId.value_or("")) + " " + entry.type + " " + payload;
    if (!entry.runId.empty()) text += " run=" + entry.runId;
    if (!entry.meta.empty()) text += " meta=" + entry.meta;
    if (!entry.extra.empty()) text += " extra=" + entry.extra;
    return text + (entry.redacted ? " (redacted)" : "") + "\n";
  }
  std::string print(const std::vector<Entry>& entries) {
    std::string text;
    for (const Entry& entry : entries) text += print(entry);
    return text.empty() ? "nothing\n" : text;
  }
  std::string print(const Error& error) {
    std::string text = "error " + std::string(toString(error.code)) + ": " + error.message;
    if (!error.actualTail.empty()) text += " [tail " + name(error.actualTail) + "]";
    for (const auto& [id, shown] : names_) {
      for (std::size_t at = 0; (at = text.find(id, at)) != std::string::npos;) text.replace(at, id.size(), shown);
    }
    // The location of the store differs between backends; the rest of the message does not.
    if (const std::size_t at = text.find(" in /"); at != std::string::npos) text.resize(at);
    if (const std::size_t at = text.find(" in postgresql://"); at != std::string::npos) text.resize(at);
    if (const std::size_t at = text.find(" in memory"); at != std::string::npos) text.resize(at);
    return text + "\n";
  }
  static std::string lines(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) text += one + "\n";
    return text.empty() ? "none\n" : text;
  }
  template <typename T, typename Print>
  std::string show(const Result<T>& result, Print printValue) {
    return result ? printValue(*result) : print(result.error());
  }
  std::string done(const Result<void>& result) { return result ? "ok\n" : print(result.error()); }
  std::string handle(const Result<SessionHandle>& result) {
    return show(result, [](const SessionHandle& made) {
      return made.sessionId + " format " + std::to_string(made.schemaVersion) + "\n";
    });
  }
  std::string appended(const Result<AppendResult>& result) {
    return show(result, [&](const AppendResult& answer) {
      return "appended " + std::to_string(answer.appendedCount) + ", duplicates " +
             std::to_string(answer.duplicateCount) + ", last " + name(answer.lastAppendedEntryId) + "\n";
    });
  }
  std::string append(const std::string& session, const Command& command) {
    std::vector<Entry> entries;
    for (const std::string& line : command.lines) entries.push_back(parseEntry(line));
    AppendOptions options{.expectedTail = command.option("expect")};
    if (command.has("buffered")) options.durability = Durability::Buffered;
    return appended(store_->appendSessionEntries(session, std::move(entries), options));
  }
  std::string load(const std::string& session, const Command& command) {
    LoadOptions options;
    if (const auto from = command.option("from")) options.fromSequence = std::stoul(*from);
    if (const auto limit = command.option("limit")) options.limit = std::stoul(*limit);
    if (const auto last = command.option("last")) options.last = std::stoul(*last);
    options.branch = command.option("branch");
    options.type = command.option("type").value_or("");
    options.showRedacted = command.has("all");
    return show(store_->loadSessionEntries(session, options), [&](const auto& entries) { return print(entries); });
  }
  std::string state(const std::string& session) {
    return show(store_->sessionState(session), [&](const SessionState& known) {
      std::string text =
          std::to_string(known.entryCount) + " entries, tail " + name(known.tailId) + ", head " + name(known.headId);
      if (known.origin) text += ", from " + known.origin->sessionId + " " + name(known.origin->entryId);
      return text + "\n";
    });
  }
  std::string cursor(const std::string& session, const Command& command) {
    auto opened = store_->openCursor(session, command.option("position").value_or(""));
    if (!opened) return print(opened.error());
    std::string text;
    for (;;) {
      auto more = opened->hasMore();
      if (!more) return text + print(more.error());
      if (!*more) return text + "end at " + name(opened->position()) + "\n";
      auto part = opened->next(std::stoul(command.word(2)));
      if (!part) return text + print(part.error());
      for (const Entry& entry : *part) text += name(entry.id) + " ";
      text += "| position " + name(opened->position()) + "\n";
    }
  }

  std::string trash(const std::string& session, const Command& command) {
    return show(store_->trashSession(session, {.detachForks = command.has("detach")}),
                [&](const TrashedSession& moved) {
                  const std::string shown = "t" + std::to_string(trashIds_.size() + 1);
                  trashIds_[shown] = moved.trashId;
                  names_[moved.trashId] = shown;
                  return shown + "\n";
                });
  }
  std::string empty(const Command& command) {
    std::vector<std::string> ids;
    for (std::size_t i = 1; i < command.words.size(); ++i) ids.push_back(trashIds_.at(command.words[i]));
    return show(store_->emptyTrash(ids), [](std::uint64_t) { return std::string("ok\n"); });
  }

  std::unique_ptr<SessionStore> store_;
  std::map<std::string, std::string> names_;
  std::map<std::string, std::string> trashIds_;
};

struct Block {
  std::string commands;
  std::string expected;
};

// A block is commands, `---`, output, and a blank line.
std::vector<Block> parseScript(const std::string& text) {
  std::vector<Block> blocks;
  bool output = false;
  bool open = false;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty()) {
      open = false;
      output = false;
      continue;
    }
    if (!open) blocks.emplace_back();
    open = true;
    if (line == "---") {
      output = true;
    } else {
      (output ? blocks.back().expected : blocks.back().commands) += line + "\n";
    }
  }
  return blocks;
}

std::string runBlock(ScriptRun& run, const std::string& text) {
  std::vector<Command> commands;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("  ")) {
      commands.back().lines.push_back(line.substr(2));
    } else {
      commands.push_back(parseCommand(line));
    }
  }
  std::string out;
  for (const Command& command : commands) out += run.run(command);
  return out;
}

std::vector<std::string> scripts() {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(fs::path(BOUGH_TESTS_DIR) / "scripts")) {
    if (item.path().extension() == ".txt") names.push_back(item.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

enum class Backend : std::uint8_t { Files, Memory, Postgres, PostgresFunction, PostgresStatement };

std::shared_ptr<StorageBackend> openPostgres(Environment& environment, Backend kind) {
  const std::string url = freshStoreUrl() + (kind == Backend::PostgresStatement  ? "&append=statement"
                                             : kind == Backend::PostgresFunction ? "&append=function"
                                                                                 : "");
  if (auto made = initPostgresStore(url); !made) throw std::runtime_error(made.error().message);
  return *postgres::PostgresBackend::open(url, {}, jsonEntrySerializer(), environment);
}

class Script : public testing::TestWithParam<std::tuple<std::string, Backend>> {};

TEST_P(Script, SaysWhatItMust) {
  const auto& [script, kind] = GetParam();
  const fs::path path = fs::path(BOUGH_TESTS_DIR) / "scripts" / (script + ".txt");
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::vector<Block> blocks = parseScript(text.str());
  ASSERT_FALSE(blocks.empty());

  TempFolder folder;
  SimClock clock;
  SimRandom random;
  Environment environment{.files = posixFileSystem(), .clock = clock, .random = random};
  std::shared_ptr<StorageBackend> backend;
  if (kind == Backend::Files) {
    backend = *FileBackend::open(folder.path().string(), {}, jsonEntrySerializer(), environment);
  } else if (kind == Backend::Memory) {
    backend = std::make_shared<MemoryBackend>(jsonEntrySerializer(), environment);
  } else {
    if (!PostgresServer::isInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
    backend = openPostgres(environment, kind);
  }
  ScriptRun run(backend, environment);
  const bool update = std::getenv("BOUGH_UPDATE_GOLDEN") != nullptr && kind == Backend::Files;
  std::string rewritten;
  for (const Block& block : blocks) {
    const std::string out = runBlock(run, block.commands);
    rewritten += (rewritten.empty() ? "" : "\n") + block.commands + "---\n" + out;
    if (!update) {
      EXPECT_EQ(out, block.expected) << block.commands;
    }
  }
  if (update) std::ofstream(path) << rewritten;
}

std::string nameOf(const testing::TestParamInfo<std::tuple<std::string, Backend>>& test) {
  constexpr std::array<const char*, 5> kSuffixes{"_files", "_memory", "_postgres", "_postgres_function",
                                                 "_postgres_statement"};
  std::string name = std::get<0>(test.param);
  std::ranges::replace(name, '-', '_');
  return name + kSuffixes[static_cast<std::size_t>(std::get<1>(test.param))];
}

INSTANTIATE_TEST_SUITE_P(All, Script,
                         testing::Combine(testing::ValuesIn(scripts()),
                                          testing::Values(Backend::Files, Backend::Memory, Backend::Postgres,
                                                          Backend::PostgresFunction, Backend::PostgresStatement)),
                         nameOf);

}  // namespace
}  // namespace bough
