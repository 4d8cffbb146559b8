// What bough must know about an agent to read and write its transcripts. To add an agent: write a file in agents/ that
// fills in an Agent, add one row to agents.cpp, and add fixtures to tests/transcript/fixtures. docs/adding-an-agent.md
// describes each step.
#pragma once

#include <bough/message.h>
#include <bough/transcript.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/model/builder.h"
#include "transcript/source/record.h"

namespace bough::transcript {

/// Turns the records of one file into entries. One object reads one file.
class Reader {
 public:
  virtual ~Reader() = default;
  /// Takes the next record that is a JSON object, in file order.
  virtual void record(const Record& record, Builder& out) = 0;
  /// Called before a record that carries entries (carried.h). Such entries may continue the last record, so a reader
  /// that holds back records passes them to `out` now.
  virtual void flushHeld(Builder& out) { (void)out; }
  /// Takes bytes that are not a JSON object. Records that were held back are passed on first.
  virtual void notJson(const Record& record, Builder& out) {
    flushHeld(out);
    out.keepBytes(record);
  }
  /// Called after the last record. Sets the head when it is not the last entry of the conversation.
  virtual void end(Builder& out) { (void)out; }
};

/// An entry to write.
struct Item {
  const Entry* entry = nullptr;  ///< As stored.
  std::string parentId;          ///< Id of the entry that it continues, which was written before; empty for a root.
  /// The entry's messages in the agent's dialect (one message of one dialect may become several in another). Empty when
  /// the entry has no message, or when nothing of the message can be expressed in the agent's dialect.
  std::vector<std::string> messages;
  /// For Agent::joinsResults: the messages of the next entries that answer the calls of these messages.
  std::vector<std::string> answers{};
  /// For a compaction_summary: ids of the earlier entries that stay in the context, oldest first.
  std::vector<std::string> kept{};
  bool isKept = false;  ///< A later summary keeps it, so its lines may be needed again.
  /// The first of the entries kept by a later summary that comes after them (`summaryAfterKept`).
  bool beginsKept = false;
  /// Continues an answer that was written before (damage split the answer). The first part states the cost of the
  /// answer.
  bool isMoreOfAnswer = false;
  /// An edit of a message that was already written in its edited form.
  bool isAppliedEdit = false;
  /// It takes the place of a line that the agent wrote, because other lines name that line's id.
  bool replacesRedactedLine = false;
};

class EntryList;  // entry_list.h

/// The part of a branch that no earlier branch contains, as places in the list of entries.
struct OwnPart {
  std::size_t base = SIZE_MAX;        ///< The entry of an earlier branch that this part continues; SIZE_MAX for none.
  std::vector<std::size_t> places{};  ///< Not empty.
};

/// The branches of a session, and a way to get the Item of each entry, which is created on demand.
struct TreeItems {
  const EntryList& entries;
  std::vector<OwnPart> branches;  ///< The branch of the head comes first and is complete.
  /// Calls `use` with the Item of an entry. Call this once per entry, in the order of the branches.
  std::function<void(std::size_t place, const std::function<void(const Item&)>& use)> with;
};

/// Writes one file. The driver copies the lines that the same agent wrote; the writer is only informed about them.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Appends the first lines of the file. Called when the file does not begin with lines that the agent wrote.
  virtual void begin(const TranscriptFacts& facts, std::string& out) = 0;
  /// Called for an entry whose line the agent wrote and the driver copies. `line` is that line, with U+FFFD for bytes
  /// that are not UTF-8, because a writer may use parts of it in its own lines.
  virtual void copied(const Item& item, std::string_view line) { (void)item, (void)line; }
  /// Appends the lines for an entry. What the lines cannot hold goes into `lossyFields`.
  virtual void item(const Item& item, std::string& out) = 0;
  /// Appends the last lines. `headId` is the entry that the agent must continue from.
  virtual void end(const std::string& headId, std::string& out) { (void)headId, (void)out; }

  /// Adds the type of an entry that the format cannot hold to `lossyFields`. Does nothing for messages (a message
  /// without a line of its own is part of another line, or its parts were named) and for bookkeeping, heads and labels
  /// (the driver names those).
  void addLossyType(const Item& item) {
    const std::string& type = item.entry->type;
    if (!item.messages.empty() || item.isAppliedEdit || type == entry_type::kMessage || isControlType(type)) return;
    lossyFields.push_back(type);
  }

  /// A file that the agent keeps next to its transcripts.
  struct Beside {
    std::string name;  ///< Relative to the folder of such files.
    std::string bytes;
  };
  bool keepsBeside = false;      ///< Whether files in `beside` are stored where the agent looks for them.
  bool isInEarlierLine = false;  ///< `item` found that the entry is part of a line that was written before.
  std::string sessionId;         ///< The session's id in the agent's own naming.
  std::string cwd;               ///< The session's folder, for a file that begins with lines that the agent wrote.
  std::vector<Beside> beside;    ///< Files that the driver has not taken yet.

  /// The entry that the session continues from, when entries are carried in lines (carried.h). It may have no line;
  /// then `end` gets the nearest entry before it that has one.
  std::string headEntryId;
  std::vector<std::string> lossyFields;  ///< What could not be written, named as in `lossyFields`.
};

class TreeCarrierWriter;  // carrier_writer.h

/// How a file is divided into records.
enum class Framing : std::uint8_t {
  Lines,     ///< One JSON object per line.
  Document,  ///< One JSON document with a list of records (Agent::listName).
};

/// The beginning of a file, used to recognize its agent.
struct Sample {
  std::vector<std::string_view> objects;  ///< The first whole JSON objects, at most 32.
  std::string_view bytes;                 ///< The first 64 KiB.
  std::string_view path = {};             ///< For agents whose files differ only in what is stored next to them.
};

/// One row of the table of agents.
struct Agent {
  std::string_view name;
  std::string_view format = {};          ///< Agents with the same non-empty format accept each other's lines unchanged.
  Dialect dialect = Dialect::Anthropic;  ///< The dialect of its messages.
  bool canHoldTree = false;              ///< Whether a file can hold more than one branch.
  bool continuesFromEnd = false;         ///< Whether some of its programs continue from the end of the file.
  /// What its lines have no place for, of a session (`session.id`, `session.key`, `session.cwd`, `session.title`), of
  /// an answer (`assistant.usage`, `assistant.model`, `assistant.stop_reason`) and of a result (`tool_result.texts`:
  /// several).
  std::span<const std::string_view> lacks = {};
  std::span<const std::string_view> listed = {};  ///< Those of `lacks` that the agent's own list of sessions has.
  bool joinsResults = false;           ///< Whether the line of an answer also holds the results of its calls.
  bool canShortenTexts = false;        ///< Whether nothing else in its lines depends on the content of long texts.
  std::string_view idMember = {};      ///< The member of a line that holds its id.
  std::string_view parentMember = {};  ///< The member that names the line it continues.
  std::span<const std::string_view> nameMembers = {};  ///< Members that name other lines.
  Framing framing = Framing::Lines;
  std::string_view listName = {};  ///< For Framing::Document: the member that holds the list.
  /// Returns in a few words why a file cannot be this agent's (`has no "uuid"`); empty when it can.
  std::string (*mismatch)(const Sample& sample) = nullptr;
  /// Returns whether an object found in damaged bytes is a complete record, and not a part of one.
  bool (*isRecord)(std::string_view object) = nullptr;
  /// Returns whether an object is the header that begins each file of this agent. Null when its files have no header.
  bool (*isHeader)(std::string_view object) = nullptr;
  std::unique_ptr<Reader> (*makeReader)() = nullptr;
  /// Converts a line of a subagent's session (one that an agent started) to a line of a session that people continue.
  /// Returns an empty string for any other line. Optional.
  std::string (*toMainSessionLine)(std::string_view object) = nullptr;
  /// Returns whether a session id is that of a subagent. Set together with toMainSessionLine.
  bool (*isSubagent)(std::string_view sessionId) = nullptr;
  /// Adds what files next to the transcript say about its session, such as a title or a key in the agent's own list.
  /// Fails when such a file exists and cannot be read. Optional.
  Result<void> (*addFactsBeside)(const std::string& path, TranscriptFacts& facts) = nullptr;
  std::unique_ptr<Writer> (*makeWriter)() = nullptr;  ///< Null when files of this agent are only read.
  /// Writes all branches as files that continue one another, starting with the file of the head. Optional.
  Result<void> (*writeTree)(const TranscriptFacts& facts, const TreeItems& items, TreeCarrierWriter& carrierWriter,
                            const TranscriptFiles& files) = nullptr;
  /// Returns the path of the session that the file at `path` continues (TranscriptFacts::parentSession); empty when it
  /// is not found. Optional.
  std::string (*findParent)(const std::string& path, const std::string& parentSession) = nullptr;
  /// Environment variables that each name the agent's folder. Without them the folder is in the user's folder.
  std::span<const std::string_view> folderVariables = {};
  /// Returns the folders that hold its sessions. Called only when one of the variables is set or the user's folder is
  /// known. Optional.
  std::vector<std::string> (*folders)(const TranscriptHome& home) = nullptr;
  /// Returns whether a file in one of these folders is a transcript, judging by its name. `relative` is the path inside
  /// that folder, with slashes.
  bool (*isTranscript)(std::string_view relative) = nullptr;
  /// Returns where the agent looks for a session, and the command that continues it. Optional.
  Result<TranscriptPlace> (*place)(const TranscriptHome& home, const TranscriptFacts& facts) = nullptr;
  /// Adds a session to the agent's own list. Optional.
  Result<void> (*announce)(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path) = nullptr;
  /// Stores a file of Writer::beside. `path` is that of the transcript. Optional.
  Result<void> (*keepBeside)(const std::string& path, const std::string& name, std::string_view bytes) = nullptr;
};

/// Returns whether the user's folder is known.
inline bool hasUserFolder(const TranscriptHome& home) {
  return home.home.starts_with('/');
}

/// Returns the table, in the order in which files are compared with it: the most specific formats first.
std::span<const Agent> agents();
/// Returns nullptr when no agent has this name.
const Agent* findAgent(std::string_view name);

/// Reads the bytes of a transcript and passes its entries to `use`. `sessionId` is the id that the name of the file
/// implies.
Result<TranscriptReport> readSource(const Agent& agent, ByteSource& bytes, const std::string& sessionId,
                                    const Builder::Use& use);

/// Returns the agent that wrote a file, judging by its first bytes. Unsupported when no agent matches; the error says
/// why not.
Result<const Agent*> recognize(std::string_view beginning, std::string_view path = {});

}  // namespace bough::transcript
