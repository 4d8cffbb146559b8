// Transcripts: the session files of other agents (claw0, pi, Claude Code, Codex …). They are read into entries and
// written from entries.
//
// Reading turns a file into facts about the session and a sequence of entries in log order, so that every feature of
// bough works on it. Every byte of the file is kept without storing the message twice: the payload of each entry has a
// member `transcript`, which says which agent wrote the line, at which offset, and how to rebuild the original line:
//
//   {"dialect":"anthropic","message":{"role":"user","content":"hello"},
//    "transcript":{"agent":"claw0","at":0,"line":["{\"type\": \"user\", \"content\": ",",
//    \"ts\": 1.5}\n"],"holes":["message/content"]}}
//
// `line` holds the pieces of the line, and `holes` names the parts of the payload that belong between them. Lines that
// are not part of the conversation (headers, titles, bookkeeping, blank and damaged lines) become `session_info`
// entries: control entries, which appear in no conversation and no tree. The member is in the payload and not in
// `meta`, so that a redaction also hides it. See docs/transcripts.md.
//
// Threads: the calls keep no state between them and may come from any thread. Callbacks run on the caller's thread;
// when a callback returns an error, the call fails with that error. Failures: besides the errors that each call names,
// NotFound (no such file), ReadOnly (no permission to read it), Io, and the errors of Session's calls. Only
// removeTranscript and announceTranscript change files of other agents.
#pragma once

#include <bough/catalog.h>
#include <bough/convert.h>
#include <bough/entry.h>
#include <bough/error.h>
#include <bough/message.h>
#include <bough/store.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace BOUGH_PUBLIC bough {

/// What a transcript says about its session as a whole. A member is empty when the transcript does not have it.
struct TranscriptFacts {
  std::string agent = {};          ///< "claw0", "pi" …: a name from transcriptAgents().
  std::string sessionId = {};      ///< The agent's own id of the session.
  std::string key = {};            ///< `agent:channel:peer`, when the agent has one.
  std::string cwd = {};            ///< The folder that the agent worked in.
  std::string title = {};          ///< Set by a person or by the agent.
  std::string model = {};          ///< The last model that answered.
  std::string created = {};        ///< RFC 3339.
  std::string version = {};        ///< Of the agent or of its format, as written in the file.
  std::string parentSession = {};  ///< What the session was forked from: an agent's session id or a path.
  std::string metadata = {};       ///< From the agent's own list of sessions: a JSON object, verbatim.
  /// The session's id in the store that exported it; empty for a session that did not come from a store.
  std::string storeId = {};
  /// When the file holds only what came after a fork: the entry (bough id) of the parent session that it continues. The
  /// parent must be read first.
  std::string parentEntryId = {};
};

/// A defect of a file, and its place.
struct TranscriptDamage {
  std::uint64_t offset = 0;     ///< In the file as it is read, unpacked.
  std::uint64_t sizeBytes = 0;  ///< 0 when the defect is not about bytes of the file.
  std::string reason = {};      ///< For people.
  bool recovered = false;       ///< The content was read nevertheless.
};

/// What was read from a file, and what could not be read.
struct TranscriptReport {
  /// The most damage that is listed; the counts are not limited.
  static constexpr std::size_t kMaxDamage = 1'000;

  TranscriptFacts facts = {};
  std::string headId = {};         ///< The entry that the agent would continue from; empty when there is none.
  bool startsOver = false;         ///< There are messages but no head: all of them were taken back.
  std::uint64_t bytes = 0;         ///< Size of the file.
  std::uint64_t coveredBytes = 0;  ///< Bytes that were read for good. The rest may still be being written.
  std::uint64_t entries = 0;       ///< All entries that were returned, including bookkeeping.
  std::uint64_t messages = 0;      ///< How many of them are messages.
  /// Damage is counted in the whole file, including the part before ReadTranscriptOptions::fromOffset.
  std::uint64_t recovered = 0;                ///< Damaged places that were read nevertheless.
  std::uint64_t unreadable = 0;               ///< Places that could not be read; their bytes are kept unchanged.
  std::uint64_t skippedBytes = 0;             ///< Bytes of lines too long to keep (kMaxTranscriptLineBytes).
  std::vector<TranscriptDamage> damage = {};  ///< In file order, at most kMaxDamage.
};

/// Describes how many places are damaged, and what is wrong with the first one; empty when none is damaged.
std::string damageText(const TranscriptReport& report);

/// The longest line that is read. A longer line is counted and listed in the report.
inline constexpr std::size_t kMaxTranscriptLineBytes = std::size_t{32} << 20;

/// Returns the names of all agents whose transcripts can be read, sorted by name.
std::vector<std::string_view> transcriptAgents();

/// Determines from its content which agent wrote a file. Unsupported when no agent matches; the message explains why.
/// Reads the beginning of the file: a few records, however long the first record is.
[[nodiscard]] Result<std::string> recognizeTranscript(const std::string& path);

/// What to read of a file, and how.
struct ReadTranscriptOptions {
  std::string agent = {};        ///< Empty: determine it from the content.
  std::uint64_t fromOffset = 0;  ///< Only return entries of lines from here on: an earlier coveredBytes.
  /// Return entries without the lines that they were made from: for counting and listing, not for storing.
  bool withoutLines = false;
  /// With `withoutLines`: longer texts in messages may be replaced by other texts when nothing else depends on them;
  /// equal texts stay equal. Called for each line. Empty: all texts are needed.
  std::function<std::size_t()> longestText{};
  /// With `fromOffset`: returns whether the line at an offset was returned by an earlier read. Lines of one message
  /// that were returned separately, because the file grew between them, stay separate, and the new lines continue the
  /// right one. Empty: unknown.
  std::function<bool(std::uint64_t offset)> wasGiven{};
};

/// Reads a transcript and passes its entries to `use` in log order, until `use` fails. Ids and times come from the
/// file, so reading the file again gives the same entries. Memory is bounded for any file. The file is never changed.
///
/// Damage is in the report, not an error. Unsupported: no agent wrote this file, or it is a single JSON document that
/// is too large for memory. InvalidArgument: bough does not know the agent.
[[nodiscard]] Result<TranscriptReport> readTranscript(const std::string& path, const ReadTranscriptOptions& options,
                                                      const std::function<Result<void>(Entry&&)>& use);

/// Passes the bytes of a transcript to `use`, in pieces of at most 256 KiB, unpacked if they are packed, until `use`
/// returns false.
[[nodiscard]] Result<void> readTranscriptBytes(const std::string& path,
                                               const std::function<bool(std::string_view piece)>& use);

/// Returns what the first lines of a transcript, and the files beside it, say about its session: enough to name it.
/// Reads about 256 KiB, more when the first record is longer. Unsupported when no agent wrote this file.
[[nodiscard]] Result<TranscriptFacts> peekTranscript(const std::string& path);

/// Returns the latest time in the last lines of a transcript; std::nullopt when no line there is complete, or none has
/// a time. Reads at most 16 KiB of a file of any size. Never fails.
std::optional<std::uint64_t> latestTimeAtEnd(const std::string& path);

/// Returns the elements of a transcript that is a single JSON document, as lines, all in memory. Damaged when the
/// document is incomplete; InvalidArgument when the file already consists of lines; Unsupported when no agent wrote it,
/// or it is too large.
[[nodiscard]] Result<std::string> linesOfDocument(const std::string& path);

/// Returns the id that a transcript's session gets in a store: `storeId` when the session came from a store, otherwise
/// the agent's own id when it is valid.
std::string transcriptSessionId(const TranscriptFacts& facts);

/// Which agent wrote the file, and which session it becomes.
struct ImportOptions {
  std::string agent = {};      ///< Empty: determine it from the content.
  std::string sessionId = {};  ///< Empty: transcriptSessionId.
};

/// The result of an import.
struct ImportResult {
  std::string sessionId = {};    ///< In the store.
  bool created = false;          ///< The import created the session.
  bool rewritten = false;        ///< The agent rewrote its file. The stored entries stay, new ones were added.
  std::uint64_t appended = 0;    ///< New entries.
  TranscriptReport report = {};  ///< About the part that was read this time.
};

/// Imports a transcript into a store. Importing it again adds only what is new, so a session that grew continues.
/// NotFound when the file continues another session (TranscriptFacts::parentEntryId) that is not in the store: import
/// that session first.
///
/// AlreadyExists: the store has another session with that id; choose another id in ImportOptions::sessionId.
/// Unsupported and InvalidArgument as in readTranscript. Two concurrent imports of one file both succeed. Costs one
/// read of what is new, one read of the session's own lines in the store, and one append per part. What was appended
/// before an error stays, and the next import continues after it.
[[nodiscard]] Result<ImportResult> importTranscript(SessionStore& store, const std::string& path,
                                                    const ImportOptions& options = {});

namespace transcript {
class EntryList;
}

/// The entries of a session in log order, to be written to a file. Only a few entries of a long stored session are in
/// memory; they are read when they are written. Use it from one thread.
class TranscriptSource {
 public:
  /// Takes entries in memory: a variable must outlive this object, a temporary is moved into it.
  TranscriptSource(const std::vector<Entry>& entries);  // NOLINT(google-explicit-constructor): implicit on purpose
  TranscriptSource(std::vector<Entry>&& entries);       // NOLINT(google-explicit-constructor): likewise
  /// Opens a session of a store, as it is now; the store must outlive the result. A session of at most `keptBytes` is
  /// read once and kept in memory. A later read returns Conflict when the session is rewritten meanwhile.
  [[nodiscard]] static Result<TranscriptSource> open(SessionStore& store, const std::string& sessionId,
                                                     std::size_t keptBytes = kKeptBytes);

  static constexpr std::size_t kKeptBytes = std::size_t{24} << 20;

  [[nodiscard]] const transcript::EntryList& list() const { return *list_; }  ///< Not part of the interface.

 private:
  explicit TranscriptSource(std::shared_ptr<const transcript::EntryList> list);
  std::shared_ptr<const transcript::EntryList> list_;
};

/// A project that moved: what was in the folder `from`, or below it, is now in `to`. Windows paths (`C:\work`) are
/// compared without regard to case, and get the slashes of `to`.
struct MovedFolder {
  std::string from = {};
  std::string to = {};
};

/// Returns where a folder is after the moves; the longest matching `from` applies. std::nullopt when no move affects
/// it.
std::optional<std::string> movedFolder(std::string_view folder, const std::vector<MovedFolder>& moves);

/// What to write, and for which agent.
struct WriteTranscriptOptions {
  std::string agent = {};      ///< The agent whose format is written.
  TranscriptFacts facts = {};  ///< Of the session; `sessionId` is the agent's id for the new session.
  std::string headId = {};     ///< The entry from which the agent continues; empty: the last of the conversation.
  bool clean = false;          ///< Leave out what is not a record, and rewrite records with a wrong id or parent.
  bool branchOnly = false;     ///< Only the branch of the head, even when the format can hold a tree.
  /// Leave out the original entries. Otherwise, lines written for another agent carry the original entries, and reading
  /// the file restores them. A bare file is smaller, but what the format cannot hold is lost.
  bool bare = false;
  /// The project moved: apply these moves to folders in lines that the agent wrote itself. `facts.cwd` is the new
  /// folder.
  std::vector<MovedFolder> moves = {};
  /// The session gets another id: in lines that the agent wrote itself, `facts.sessionId` replaces this id.
  std::string renamedFrom = {};
  /// An offset in the agent's own file; WrittenTranscript::pastBytes returns how long the part before it is now.
  std::uint64_t pastOffset = 0;
  /// For a file that continues a part of another file (continuedBytes): how long that part is now. 0: none.
  std::uint64_t continuedBytes = 0;
  /// Receives the files that the agent keeps beside its transcripts (images, in MyAgents): the name of each file below
  /// the agent's folder, and its bytes. See keepBesideTranscript. Empty: the transcript is not for the agent's own
  /// folder, and content that the agent's own lines do not refer to stays in the lines.
  std::function<Result<void>(const std::string& name, std::string_view bytes)> keepBeside = {};
};

/// What was written.
struct WrittenTranscript {
  std::uint64_t entries = 0;        ///< Entries that were written.
  std::uint64_t verbatim = 0;       ///< How many of them as the same agent had written them.
  bool sameBytes = false;           ///< All of them were.
  std::uint64_t carried = 0;        ///< Entries that the file carries in their stored form.
  std::uint64_t leftOut = 0;        ///< Messages that the format has no place for; nothing of them was written.
  std::uint64_t pastBytes = 0;      ///< See WriteTranscriptOptions::pastOffset.
  CompatibilityReport report = {};  ///< What the agent's format cannot hold.
};

/// For a session whose file continues a part of another file, as forks of Codex do: returns how long that part was. 0:
/// none.
[[nodiscard]] std::uint64_t continuedBytes(const TranscriptSource& entries);

/// Writes a session as a transcript. What the same agent wrote comes out as the same bytes. `out` receives the file in
/// pieces. What the format cannot hold is in the report, not an error.
///
/// InvalidArgument: bough does not know the agent, or the session has no conversation to write. NotFound: the session
/// has no entry `headId`. Unsupported: files of that agent can only be read.
[[nodiscard]] Result<WrittenTranscript> writeTranscript(const TranscriptSource& entries,
                                                        const WriteTranscriptOptions& options,
                                                        const std::function<Result<void>(std::string_view)>& out);

/// Stores a file that writeTranscript passed to `keepBeside` where the agent looks for it. An existing file is not
/// changed. `path`: the path of the transcript. InvalidArgument when the name leads outside of the agent's folder.
[[nodiscard]] Result<void> keepBesideTranscript(const std::string& agent, const std::string& path,
                                                const std::string& name, std::string_view bytes);

/// A session as its agent wrote it.
struct CopiedTranscript {
  TranscriptFacts facts = {};
  WrittenTranscript written = {};
};

/// Writes a session that was imported from this agent and has not changed since, as the same bytes, with only a few
/// entries in memory. Returns std::nullopt and writes nothing for any other session; use writeTranscript then.
[[nodiscard]] Result<std::optional<CopiedTranscript>> copyTranscript(
    SessionStore& store, const std::string& sessionId, const std::string& agent,
    const std::function<Result<void>(std::string_view)>& out);

/// Receives the files that a session is written to. The first error of either function ends the writing.
struct TranscriptFiles {
  /// Receives all files before any of them is written. Each has its own `sessionId`; its `parentSession` is the
  /// `sessionId` of the file that it continues.
  std::function<Result<void>(const std::vector<TranscriptFacts>&)> begin = {};
  /// Receives a piece of a file, with the file's position in the list. The pieces of a file come in order, one file
  /// after the other.
  std::function<Result<void>(std::size_t file, std::string_view piece)> add = {};
};

/// Writes all branches of a session for an agent whose files hold one branch but can continue one another (codex):
/// first the branch of the head, then one file per other branch, each after the file that it continues. Unsupported for
/// other agents. Otherwise fails as writeTranscript does. `report`: if not null, receives what the format cannot hold.
[[nodiscard]] Result<void> writeTranscriptTree(const TranscriptSource& entries, const WriteTranscriptOptions& options,
                                               const TranscriptFiles& files, CompatibilityReport* report = nullptr);

/// Returns the formats for tools that are not agents: "atif" (ATIF 1.8, one trajectory per line), "otel"
/// (OpenTelemetry's GenAI spans as OTLP/JSON) and "openinference" (the same spans with OpenInference's attributes).
std::vector<std::string_view> traceFormats();

/// What to write, and in which format.
struct WriteTraceOptions {
  std::string format = {};     ///< One of traceFormats().
  TranscriptFacts facts = {};  ///< Of the session; the trace names `agent` and `version`.
  std::string headId = {};     ///< The last entry of the branch; empty: the head.
  bool all = false;            ///< All branches. A trajectory marks the steps that an earlier one also has.
};

/// Writes a session for a tool that is not an agent. The report names what the format cannot hold. The input of a span
/// is what was added since the previous answer.
[[nodiscard]] Result<CompatibilityReport> writeTrace(const TranscriptSource& entries, const WriteTraceOptions& options,
                                                     const std::function<Result<void>(std::string_view)>& out);

/// Returns what the last import of a session could not read: `recovered`, `unreadable`, and the first of `damage`;
/// zeros when nothing was lost, or when the session was not imported. Looks at no more than the last `looks`
/// session_info entries.
[[nodiscard]] Result<TranscriptReport> importedDamage(SessionStore& store, const std::string& sessionId,
                                                      std::size_t looks = SIZE_MAX);

/// Returns the facts that a session was imported with; the agent is empty when it was not imported.
TranscriptFacts importedFacts(const TranscriptSource& entries);

/// Returns the facts of a session as an agent would write them: the imported facts when the agent is the same,
/// otherwise facts with a session id that every agent accepts (a UUID made from the session's id).
[[nodiscard]] Result<TranscriptFacts> factsForExport(SessionStore& store, const std::string& sessionId,
                                                     const std::string& agent, const TranscriptSource& entries);

/// Returns the facts of the number-th copy of a session, which has its own id. The same input always gives the same
/// facts.
TranscriptFacts factsOfCopy(const TranscriptFacts& facts, unsigned number);

/// Where agents keep their sessions on this machine. The library does not read the environment itself.
struct TranscriptHome {
  std::string home = {};                                              ///< The user's home folder.
  std::function<std::string(const std::string& name)> variable = {};  ///< Returns a variable; empty if unset.
};

/// A file that may be a transcript; it was not opened.
struct FoundTranscript {
  std::string agent = {};  ///< The agent whose folder it is in; the content may belong to another.
  std::string path = {};   ///< For a session in a database, with its id: `FILE.sqlite#ID`.
  std::uint64_t sizeBytes = 0;
  std::uint64_t modifiedNs = 0;  ///< Since 1970.
};

/// What a walk over the agents' folders could not read.
struct TranscriptWalk {
  std::uint64_t folders = 0;  ///< Folders that could not be read, or are nested too deep.
  std::string example = {};   ///< The first of them, and the reason.
};

/// Passes the transcripts in the default folders of these agents (empty: all agents) to `use`, folder by folder, sorted
/// by name, until `use` returns false. Memory does not grow with their number. Missing folders are not an error; links
/// below the folders are not followed. InvalidArgument when an agent is unknown or has no folder of its own.
[[nodiscard]] Result<TranscriptWalk> eachTranscript(const TranscriptHome& home, const std::vector<std::string>& agents,
                                                    const std::function<bool(FoundTranscript&&)>& use);

/// Passes the regular files below a folder to `use`, in the same way; their `agent` is empty.
TranscriptWalk eachFileBelow(const std::string& folder, const std::function<bool(FoundTranscript&&)>& use);

/// What the answers in some transcripts used.
struct TranscriptUsage {
  std::vector<AnswerUsage> answers = {};  ///< Each answer once, in no order; `session` is empty.
  std::deque<std::string> models = {};    ///< The texts that AnswerUsage::model points to.
  std::uint64_t files = 0;
  std::uint64_t unreadable = 0;  ///< Files and places in files that could not be read.
  std::string example = {};      ///< What is wrong with one of them.
};

/// Collects what the answers in these transcripts used, from the files alone: no store or catalog is needed or created.
/// `walk` names the files. When several files hold the same answer, the first file counts. Unsupported for agents other
/// than claude-code.
[[nodiscard]] Result<TranscriptUsage> scanTranscriptUsage(
    const std::function<Result<void>(const std::function<bool(FoundTranscript&&)>& use)>& walk);

/// Returns the sessions in an agent's database (`….sqlite`). Each has a path `FILE.sqlite#ID`, which every call here
/// accepts. Empty when the file has another name. Databases are only read.
[[nodiscard]] Result<std::vector<FoundTranscript>> transcriptsInDatabase(const std::string& path);

/// Returns the folders in which these agents (empty: all agents) keep sessions, whether they exist or not.
std::vector<std::string> transcriptFolders(const TranscriptHome& home, const std::vector<std::string>& agents);

/// Returns true when a path, judged by its name, is a transcript in one of these folders.
bool isTranscriptPath(const TranscriptHome& home, const std::vector<std::string>& agents, const std::string& path);

/// Returns true when an imported session holds every byte of a transcript. Reads both completely, one piece at a time.
[[nodiscard]] Result<bool> holdsTranscript(SessionStore& store, const std::string& sessionId, const std::string& path);

/// Removes a transcript that the session holds. The file stays, and the call fails, with Conflict when the session
/// lacks a byte of the file or the file changed during the check; with Busy when a program has it open for writing; and
/// with Unsupported when it is not a regular file, or when its agent keeps a list of sessions. Costs as much as
/// holdsTranscript.
[[nodiscard]] Result<void> removeTranscript(SessionStore& store, const std::string& sessionId,
                                            const FoundTranscript& file);

/// Where an agent looks for a session, and how to continue it there.
struct TranscriptPlace {
  std::string path = {};     ///< Absolute; it need not exist.
  std::string command = {};  ///< For a shell, in the session's folder; may be empty.
  std::string advice = {};   ///< What to do when there is no command.
};

/// Returns where a session's file belongs; creates nothing there. Unsupported when bough knows no place for that agent;
/// InvalidArgument when the session's id cannot be a file name, or its folder cannot be a path.
[[nodiscard]] Result<TranscriptPlace> placeForTranscript(const TranscriptHome& home, const TranscriptFacts& facts);

/// Adds a transcript that was put in its place to the agent's own list of sessions, if the agent has one, under the
/// agent's lock. Nothing else in the list changes.
[[nodiscard]] Result<void> announceTranscript(const TranscriptHome& home, const TranscriptFacts& facts,
                                              const std::string& path);

}  // namespace BOUGH_PUBLIC bough
