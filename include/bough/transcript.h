// Transcripts: the session files of other agents (claw0, pi, Claude Code, Codex …), read into entries and written from
// them.
//
// Reading turns a file into facts about the session and a sequence of entries in log order, so that everything bough
// does with a session works on it. Every byte of the file is kept: an entry's payload has a member `transcript` that
// says which agent wrote it, at which offset, and how the original line is rebuilt, without storing the message twice:
//
//   {"dialect":"anthropic","message":{"role":"user","content":"hello"},
//    "transcript":{"agent":"claw0","at":0,"line":["{\"type\": \"user\", \"content\": ",",
//    \"ts\": 1.5}\n"],"holes":["message/content"]}}
//
// `line` are the pieces of the line, `holes` name the parts of the payload that are between them. Lines that are not
// part of the conversation (headers, titles, bookkeeping, blank and damaged ones) are `session_info` entries: control
// entries, which appear in no conversation and no tree. It is in the payload, not in `meta`, so that a redaction hides
// it too. See docs/transcripts.md.
//
// Threads: the calls keep nothing between them and may come from any thread; a callback is called on the caller's, and
// an error that it returns is the error of the call. Failures: besides what each call names, NotFound (no such file),
// ReadOnly (it may not be read), Io, and what Session's calls return. Agents' own files are changed by removeTranscript
// and announceTranscript alone.
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

/// What a transcript says of its session as a whole. Empty where it does not say.
struct TranscriptFacts {
  std::string agent = {};          ///< "claw0", "pi" …: a name of transcriptAgents().
  std::string sessionId = {};      ///< The agent's own name for the session.
  std::string key = {};            ///< `agent:channel:peer`, where the agent has one.
  std::string cwd = {};            ///< The folder the agent worked in.
  std::string title = {};          ///< A person's or the agent's own.
  std::string model = {};          ///< The last one that answered.
  std::string created = {};        ///< RFC 3339.
  std::string version = {};        ///< Of the agent or of its format, as it is written there.
  std::string parentSession = {};  ///< What the session was forked from: an agent's session id or a path.
  std::string metadata = {};       ///< What the agent's own list of sessions says of it: a JSON object, verbatim.
  /// When the file holds only what came after the fork: the entry of the parent session (its bough id) that it
  /// continues. The parent must be read first.
  std::string parentEntryId = {};
};

/// One place of a file that is not as it should be.
struct TranscriptDamage {
  std::uint64_t offset = 0;     ///< In the file as it is read: unpacked.
  std::uint64_t sizeBytes = 0;  ///< 0 when it is not about bytes of the file.
  std::string reason = {};      ///< For people.
  bool recovered = false;       ///< What it says was read all the same.
};

/// What was read of a file, and what could not be.
struct TranscriptReport {
  /// The longest list of damage that is kept; the counts go on.
  static constexpr std::size_t kMaxDamage = 1'000;

  TranscriptFacts facts = {};
  std::string headId = {};         ///< The entry that the agent would continue from; empty when there is none.
  bool startsOver = false;         ///< There is none although there are messages: all of them were taken back.
  std::uint64_t bytes = 0;         ///< Of the file.
  std::uint64_t coveredBytes = 0;  ///< Read for good. What comes after is torn: the agent may be writing it.
  std::uint64_t entries = 0;       ///< All that were given, bookkeeping included.
  std::uint64_t messages = 0;      ///< Those of them that are messages.
  /// Damage is counted in the whole file, also before ReadTranscriptOptions::fromOffset.
  std::uint64_t recovered = 0;                ///< Places that are damaged and were read all the same.
  std::uint64_t unreadable = 0;               ///< Places that could not be read; their bytes are kept as they are.
  std::uint64_t skippedBytes = 0;             ///< Lines too long to be kept at all (kMaxTranscriptLineBytes).
  std::vector<TranscriptDamage> damage = {};  ///< In the order of the file, at most kMaxDamage.
};

/// Says how many places are damaged, and what is wrong with the first; empty when none is.
std::string damageText(const TranscriptReport& report);

/// A longer line is counted and named in the report, and not read.
inline constexpr std::size_t kMaxTranscriptLineBytes = std::size_t{32} << 20;

/// The names of all agents whose transcripts can be read, by name.
std::vector<std::string_view> transcriptAgents();

/// Finds out from its content which agent wrote a file. Unsupported when it fits none; the message says why it fits
/// none. Reads the beginning of the file: a few records, however long the first one is.
[[nodiscard]] Result<std::string> recognizeTranscript(const std::string& path);

/// What to read of a file, and how.
struct ReadTranscriptOptions {
  std::string agent = {};        ///< Empty: found out from the content.
  std::uint64_t fromOffset = 0;  ///< Give only entries of lines from here on: TranscriptReport::coveredBytes of before.
  /// Entries without the lines that they were made from: for counting and listing, not for keeping.
  bool withoutLines = false;
  /// With `withoutLines`: texts in messages that are longer than this need not be what the file says, where nothing
  /// else depends on them; equal ones stay equal. Asked for each line. Empty: all texts are wanted.
  std::function<std::size_t()> longestText{};
  /// With `fromOffset`: whether the line that begins at an offset was given before. Lines of one message that were
  /// given apart, since the file grew between them, stay apart, and what comes now continues the right one. Empty: not
  /// known.
  std::function<bool(std::uint64_t offset)> wasGiven{};
};

/// Reads a transcript and gives its entries, in log order, to `use`, until it fails. Ids and times come from the file,
/// so reading it again gives the same entries. Memory is bounded whatever the file holds. The file is never changed.
///
/// What is damaged is in the report, not an error. Unsupported: it is no agent's file, or one JSON document that is too
/// large to be held in memory. InvalidArgument: bough knows no such agent.
[[nodiscard]] Result<TranscriptReport> readTranscript(const std::string& path, const ReadTranscriptOptions& options,
                                                      const std::function<Result<void>(Entry&&)>& use);

/// Gives the bytes of a transcript in pieces of at most 256 KiB, unpacked where they are packed, until `use` returns
/// false.
[[nodiscard]] Result<void> readTranscriptBytes(const std::string& path,
                                               const std::function<bool(std::string_view piece)>& use);

/// What a transcript's first lines, and the files beside it, say of its session: enough to name it. Reads about 256
/// KiB, more where the first record is longer. Unsupported when it is no agent's file.
[[nodiscard]] Result<TranscriptFacts> peekTranscript(const std::string& path);

/// The latest time that the last lines of a transcript name. None when no line there is whole or none names a time.
/// Reads at most 16 KiB, however large the file is. Never fails.
std::optional<std::uint64_t> latestTimeAtEnd(const std::string& path);

/// Returns the elements of a transcript that is one JSON document, as lines, all in memory. Damaged when it breaks off;
/// InvalidArgument when it is a file of lines already; Unsupported when it is no agent's, or too large.
[[nodiscard]] Result<std::string> linesOfDocument(const std::string& path);

/// The id that a transcript's session has in a store: the agent's own where that is legal.
std::string transcriptSessionId(const TranscriptFacts& facts);

/// Whose file it is, and where it goes.
struct ImportOptions {
  std::string agent = {};      ///< Empty: found out from the content.
  std::string sessionId = {};  ///< Empty: transcriptSessionId.
};

/// What an import did.
struct ImportResult {
  std::string sessionId = {};    ///< In the store.
  bool created = false;          ///< The store did not have it.
  bool rewritten = false;        ///< The agent wrote its file again; what the store had stays, what is new was added.
  std::uint64_t appended = 0;    ///< Entries that are new.
  TranscriptReport report = {};  ///< Of what was read this time.
};

/// Brings a transcript into a store. Importing it again adds only what is new; a session that grew continues. NotFound
/// when the file continues another session (TranscriptFacts::parentEntryId) that is not in the store: import that
/// first.
///
/// AlreadyExists: the store has another session under that id; ImportOptions::sessionId names another. Unsupported and
/// InvalidArgument as readTranscript. Two imports of one file at a time both succeed. Costs one read of what is new,
/// one of the session's own lines that are in the store, and an append for each part; what was appended before an error
/// stays, and the next import goes on after it.
[[nodiscard]] Result<ImportResult> importTranscript(SessionStore& store, const std::string& path,
                                                    const ImportOptions& options = {});

namespace transcript {
class EntryList;
}

/// The entries of a session in log order, on their way into a file. Of a long session in a store only a few are in
/// memory: they are read when they are written. One thread.
class TranscriptSource {
 public:
  /// Entries in memory: those of a variable must outlive it, those of a temporary become its own.
  TranscriptSource(const std::vector<Entry>& entries);  // NOLINT(google-explicit-constructor): it is one
  TranscriptSource(std::vector<Entry>&& entries);       // NOLINT(google-explicit-constructor): likewise
  /// A session of a store, as it is now; the store must outlive it. One of no more than `keptBytes` is read once and
  /// kept. Conflict, later, when the session is rewritten while it is read.
  [[nodiscard]] static Result<TranscriptSource> open(SessionStore& store, const std::string& sessionId,
                                                     std::size_t keptBytes = kKeptBytes);

  static constexpr std::size_t kKeptBytes = std::size_t{24} << 20;

  [[nodiscard]] const transcript::EntryList& list() const { return *list_; }  ///< Not part of the interface.

 private:
  explicit TranscriptSource(std::shared_ptr<const transcript::EntryList> list);
  std::shared_ptr<const transcript::EntryList> list_;
};

/// A project that moved: what was in the folder `from`, and in those below it, is in `to` now. Windows paths
/// (`C:\work`) are compared without regard to case, and get the slashes of `to`.
struct MovedFolder {
  std::string from = {};
  std::string to = {};
};

/// Where the folder is after the moves; the longest `from` counts. None when none of them moved it.
std::optional<std::string> movedFolder(std::string_view folder, const std::vector<MovedFolder>& moves);

/// What to write, and for whom.
struct WriteTranscriptOptions {
  std::string agent = {};      ///< Whose format to write.
  TranscriptFacts facts = {};  ///< Of the session; `sessionId` is the agent's name for the new one.
  std::string headId = {};     ///< The entry the agent shall continue from; empty: the last of the conversation.
  bool clean = false;          ///< Leave out what is not a record, and write records with a wrong id or parent again.
  bool branchOnly = false;     ///< Only the branch of the head, also where the format can hold a tree.
  /// Without the original entries, which otherwise travel in lines written for another agent and come back when the
  /// file is read. The file is then smaller, and what the format cannot hold is gone from it.
  bool bare = false;
  /// The project moved: these are applied to folders in lines that the agent wrote itself. `facts.cwd` is the new one.
  std::vector<MovedFolder> moves = {};
  /// The session gets another id: in lines that the agent wrote itself, `facts.sessionId` takes the place of this one.
  std::string renamedFrom = {};
  /// An offset in the agent's own file: WrittenTranscript::pastBytes says how long the part before it is now.
  std::uint64_t pastOffset = 0;
  /// Not 0: of a file that continues a part of another one (continuedBytes), how long that part is now.
  std::uint64_t continuedBytes = 0;
  /// Gets what the agent keeps in files beside its transcripts (images, in MyAgents): the name below its folder of such
  /// files, and the bytes. See keepBesideTranscript. Empty: the file is not for the agent's own folder, and what the
  /// agent's own lines do not name stays in the lines.
  std::function<Result<void>(const std::string& name, std::string_view bytes)> keepBeside = {};
};

/// What was written.
struct WrittenTranscript {
  std::uint64_t entries = 0;        ///< Those that were written.
  std::uint64_t verbatim = 0;       ///< Of these, as the same agent had written them.
  bool sameBytes = false;           ///< Everything was.
  std::uint64_t carried = 0;        ///< Entries that travel in the file as they are stored.
  std::uint64_t leftOut = 0;        ///< Messages of which nothing is there: the format has no place for them.
  std::uint64_t pastBytes = 0;      ///< See WriteTranscriptOptions::pastOffset.
  CompatibilityReport report = {};  ///< What the agent's format cannot hold.
};

/// Of a session whose file continues a part of another one, as Codex's forks do: how long that part was. 0: it is none.
[[nodiscard]] std::uint64_t continuedBytes(const TranscriptSource& entries);

/// Writes a session as a transcript. What the same agent wrote comes out as the same bytes. `out` gets the file in
/// pieces. What the format cannot hold is in the report, not an error.
///
/// InvalidArgument: bough knows no such agent, or the session has no conversation to write. NotFound: the session has
/// no entry `headId`. Unsupported: files of that agent are only read.
[[nodiscard]] Result<WrittenTranscript> writeTranscript(const TranscriptSource& entries,
                                                        const WriteTranscriptOptions& options,
                                                        const std::function<Result<void>(std::string_view)>& out);

/// Keeps a file that writeTranscript gave to `keepBeside` where the agent looks for it. One that is there is left as it
/// is. `path`: of the transcript. InvalidArgument for a name that leads elsewhere.
[[nodiscard]] Result<void> keepBesideTranscript(const std::string& agent, const std::string& path,
                                                const std::string& name, std::string_view bytes);

/// A session as its agent wrote it.
struct CopiedTranscript {
  TranscriptFacts facts = {};
  WrittenTranscript written = {};
};

/// Writes a session that was imported from this agent and not changed since as the same bytes, with only a few of its
/// entries in memory. None, and nothing written, when it is not such a session: writeTranscript writes those.
[[nodiscard]] Result<std::optional<CopiedTranscript>> copyTranscript(
    SessionStore& store, const std::string& sessionId, const std::string& agent,
    const std::function<Result<void>(std::string_view)>& out);

/// Where the files go that a session is written to. The first error of either ends the writing.
struct TranscriptFiles {
  /// All files, before anything of them is written. The `sessionId` of each is its own; `parentSession` is that of the
  /// file that it continues.
  std::function<Result<void>(const std::vector<TranscriptFacts>&)> begin = {};
  /// A piece of a file, by its place among them. The pieces of a file come in order, and one file after the other.
  std::function<Result<void>(std::size_t file, std::string_view piece)> add = {};
};

/// Writes all branches of a session for an agent whose files hold one branch but can continue one another (codex):
/// first the branch of the head, then a file for each other branch, after the file that it continues. Unsupported for
/// others. Otherwise fails as writeTranscript does. `report`: gets what the format cannot hold, where it is not null.
[[nodiscard]] Result<void> writeTranscriptTree(const TranscriptSource& entries, const WriteTranscriptOptions& options,
                                               const TranscriptFiles& files, CompatibilityReport* report = nullptr);

/// Formats for tools that are not agents: "atif" (ATIF 1.8, a trajectory a line), "otel" (OpenTelemetry's GenAI spans
/// as OTLP/JSON) and "openinference" (the same spans with OpenInference's attributes).
std::vector<std::string_view> traceFormats();

/// What to write, and in which format.
struct WriteTraceOptions {
  std::string format = {};     ///< One of traceFormats().
  TranscriptFacts facts = {};  ///< Of the session; `agent` and `version` are those that the trace names.
  std::string headId = {};     ///< The last entry of the branch; empty: the head.
  bool all = false;            ///< All branches. A trajectory marks the steps that an earlier one has, too.
};

/// Writes a session for a tool that is not an agent. The report names what such a format has no place for. The input of
/// a span is what was new since the answer before it.
[[nodiscard]] Result<CompatibilityReport> writeTrace(const TranscriptSource& entries, const WriteTraceOptions& options,
                                                     const std::function<Result<void>(std::string_view)>& out);

/// What the file of a session could not give when it was imported last: `recovered`, `unreadable`, and the first of
/// `damage`; zeros when nothing was lost, or the session was not imported. Looks at so many of its last session_info
/// entries.
[[nodiscard]] Result<TranscriptReport> importedDamage(SessionStore& store, const std::string& sessionId,
                                                      std::size_t looks = SIZE_MAX);

/// What a session that was imported came with; with an empty agent when it was not.
TranscriptFacts importedFacts(const TranscriptSource& entries);

/// The facts of a session as an agent would write them: those it was imported with when the agent is the same, else
/// with a session id that every agent takes (a UUID, made from the session's id).
[[nodiscard]] Result<TranscriptFacts> factsForExport(SessionStore& store, const std::string& sessionId,
                                                     const std::string& agent, const TranscriptSource& entries);

/// The facts of the number-th copy of a session, which has an id of its own. Always the same for the same session.
TranscriptFacts factsOfCopy(const TranscriptFacts& facts, unsigned number);

/// Where agents keep their sessions on this machine. The library reads no environment of its own.
struct TranscriptHome {
  std::string home = {};                                              ///< The user's folder.
  std::function<std::string(const std::string& name)> variable = {};  ///< An environment variable; empty when unset.
};

/// A file that may be a transcript; it was not opened.
struct FoundTranscript {
  std::string agent = {};  ///< Whose folder it is in; the content may say otherwise.
  std::string path = {};   ///< Of a session in a database with its id: `FILE.sqlite#ID`.
  std::uint64_t sizeBytes = 0;
  std::uint64_t modifiedNs = 0;  ///< Since 1970.
};

/// What a walk over the agents' folders could not look into.
struct TranscriptWalk {
  std::uint64_t folders = 0;  ///< Folders that could not be read, or lie too deep.
  std::string example = {};   ///< The first of them, and why.
};

/// Gives the transcripts in the default folders of these agents (all when empty) to `use`, folder by folder in the
/// order of their names, until it returns false. Memory does not grow with their number. Folders that do not exist are
/// not an error; no link is followed below them. InvalidArgument when an agent is unknown or has no folder of its own.
[[nodiscard]] Result<TranscriptWalk> eachTranscript(const TranscriptHome& home, const std::vector<std::string>& agents,
                                                    const std::function<bool(FoundTranscript&&)>& use);

/// Gives the regular files below a folder to `use`, in the same way; their `agent` is empty.
TranscriptWalk eachFileBelow(const std::string& folder, const std::function<bool(FoundTranscript&&)>& use);

/// What the answers in some transcripts cost.
struct TranscriptUsage {
  std::vector<AnswerUsage> answers = {};  ///< Each once, in no order; their `session` is empty.
  std::deque<std::string> models = {};    ///< What AnswerUsage::model points to.
  std::uint64_t files = 0;
  std::uint64_t unreadable = 0;  ///< Files and places in files that could not be read.
  std::string example = {};      ///< What is wrong with one of them.
};

/// Sums up what the transcripts that `walk` gives hold, from the files alone: neither a store nor a catalog is needed
/// or made. Of an answer that several files hold, that of the first file counts. Unsupported for agents other than
/// claude-code.
[[nodiscard]] Result<TranscriptUsage> scanTranscriptUsage(
    const std::function<Result<void>(const std::function<bool(FoundTranscript&&)>& use)>& walk);

/// The sessions in an agent's database (`….sqlite`), each with a path `FILE.sqlite#ID` that every call here takes; none
/// for a file of another name. Databases are only read.
[[nodiscard]] Result<std::vector<FoundTranscript>> transcriptsInDatabase(const std::string& path);

/// The folders in which these agents (all when empty) keep sessions, whether they exist or not.
std::vector<std::string> transcriptFolders(const TranscriptHome& home, const std::vector<std::string>& agents);

/// Whether a path, by its name, is that of a transcript in one of these folders.
bool isTranscriptPath(const TranscriptHome& home, const std::vector<std::string>& agents, const std::string& path);

/// Whether a session that was imported holds every byte of a transcript. Reads both whole, a piece at a time.
[[nodiscard]] Result<bool> holdsTranscript(SessionStore& store, const std::string& sessionId, const std::string& path);

/// Removes a transcript that the session holds. The file stays with Conflict when the session lacks a byte of it or
/// when it changed while that was checked, with Busy when a program has it open for writing, with Unsupported when it
/// is not a regular file, or its agent keeps a list of its sessions. Costs as much as holdsTranscript.
[[nodiscard]] Result<void> removeTranscript(SessionStore& store, const std::string& sessionId,
                                            const FoundTranscript& file);

/// Where an agent looks for a session, and what to type then.
struct TranscriptPlace {
  std::string path = {};     ///< Absolute; need not exist.
  std::string command = {};  ///< For a shell, in the session's folder; empty where there is none.
  std::string advice = {};   ///< What to do where there is no command.
};

/// Says where a session's file belongs; makes nothing there. Unsupported when the agent has no place that bough knows;
/// InvalidArgument when the session's id cannot be a file's name, or its folder cannot be a path.
[[nodiscard]] Result<TranscriptPlace> placeForTranscript(const TranscriptHome& home, const TranscriptFacts& facts);

/// Adds a transcript that was put into its place to the agent's own list of sessions, where it has one, under the
/// agent's lock. Nothing else in the list changes.
[[nodiscard]] Result<void> announceTranscript(const TranscriptHome& home, const TranscriptFacts& facts,
                                              const std::string& path);

}  // namespace BOUGH_PUBLIC bough
