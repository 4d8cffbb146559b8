// What bough must know of an agent to read and write its transcripts. To add one: a file in agents/ that fills in an
// Agent, one row in agents.cpp, and fixtures in tests/transcript/fixtures. docs/adding-an-agent.md goes through it.
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
  /// The next record that is a JSON object, in file order.
  virtual void record(const Record& record, Builder& out) = 0;
  /// Before a record with entries of its own (carried.h), which may continue the last one: a reader that holds records
  /// back gives those.
  virtual void giveHeld(Builder& out) { (void)out; }
  /// Bytes that are not an object. What is held back comes first.
  virtual void notJson(const Record& record, Builder& out) {
    giveHeld(out);
    out.keepBytes(record);
  }
  /// After the last one: sets the head when it is not the last entry of the conversation.
  virtual void end(Builder& out) { (void)out; }
};

/// One entry to be written.
struct Item {
  const Entry* entry = nullptr;  ///< As it is stored.
  std::string parentId;          ///< The entry written before it that it continues (an entry id); empty: a root.
  /// The entry's messages in the agent's dialect (one message of one dialect may be several of another); none when it
  /// holds no message, or when nothing of it is left in the agent's dialect.
  std::vector<std::string> messages;
  /// Of a compaction_summary: the entries before it that stay in the context, oldest first.
  std::vector<std::string> kept{};
  bool isKept = false;  ///< A later summary keeps it: its lines may be wanted once more.
  /// The first of the entries that a later summary keeps and comes after (`summaryAfterKept`).
  bool beginsKept = false;
  /// More of an answer that was written before (damage tore it apart): what the answer cost was said there.
  bool isMoreOfAnswer = false;
  /// An edit of a message: that was written with what the edit says.
  bool isApplied = false;
  /// It stands in the place of a line of the agent's own, whose id other lines name.
  bool isInPlace = false;
};

class EntryList;  // entry_list.h

/// What a branch holds that none before it does, as places of the session.
struct OwnPart {
  std::size_t base = SIZE_MAX;        ///< The entry of an earlier branch that it continues; SIZE_MAX: none.
  std::vector<std::size_t> places{};  ///< At least one.
};

/// The branches of a session, and what to write for each entry, which is made when it is asked for.
struct TreeItems {
  const EntryList& entries;
  std::vector<OwnPart> branches;  ///< That of the head comes first, with all that it holds.
  /// Calls `use` with an entry. Each is asked for once, in the order of the branches.
  std::function<void(std::size_t place, const std::function<void(const Item&)>& use)> with;
};

/// Writes one file. What the same agent wrote is copied by the driver; the writer only learns of it.
class Writer {
 public:
  virtual ~Writer() = default;
  /// The lines that come first, when the file does not begin with lines of the agent's own.
  virtual void begin(const TranscriptFacts& facts, std::string& out) = 0;
  /// An entry whose line the agent wrote itself; it is copied as it is. `line`: its bytes, with U+FFFD where they are
  /// not UTF-8: what a writer takes from them goes into lines of its own.
  virtual void copied(const Item& item, std::string_view line) { (void)item, (void)line; }
  /// Appends the lines for an entry. It may say in `report` what they cannot hold.
  virtual void item(const Item& item, std::string& out) = 0;
  /// The lines that come last. `headId`: the entry the agent shall continue from.
  virtual void end(const std::string& headId, std::string& out) { (void)headId, (void)out; }

  /// Names an entry that the format has no place for. A message without a line of its own is in another one, or was
  /// named by its parts; bookkeeping, heads and labels are named by the driver.
  void noteNotHeld(const Item& item) {
    const std::string& type = item.entry->type;
    if (!item.messages.empty() || item.isApplied || type == entry_type::kMessage || isControlType(type)) return;
    notHeld.push_back(type);
  }

  /// A file that the agent keeps beside its transcripts.
  struct Beside {
    std::string name;  ///< Below the folder of such files.
    std::string bytes;
  };
  bool keepsBeside = false;    ///< Files of `beside` are kept where the agent looks for them.
  std::string sessionId;       ///< The agent's.
  std::string cwd;             ///< The session's folder, for a file that begins with lines of the agent's own.
  std::vector<Beside> beside;  ///< Until the driver takes them.

  /// The entry that the session continues from, where entries travel. It may have no line: then `end` gets one that it
  /// continues.
  std::string headEntryId;
  std::vector<std::string> notHeld;  ///< Names of what could not be written, as `lossyFields` has them.
};

class TreeCargo;  // carrying.h

/// How a file is cut into records.
enum class Framing : std::uint8_t {
  Lines,     ///< One JSON object a line.
  Document,  ///< One JSON document with a list of records (Agent::listName).
};

/// The beginning of a file, by which it is recognized.
struct Sample {
  std::vector<std::string_view> objects;  ///< The first whole JSON objects, at most 32.
  std::string_view bytes;                 ///< The first 64 KiB.
  std::string_view path = {};             ///< For agents whose files differ only by what is beside them.
};

/// One row of the table.
struct Agent {
  std::string_view name;
  std::string_view format = {};          ///< Agents whose files have the same one take each other's lines as they are.
  Dialect dialect = Dialect::Anthropic;  ///< Of its messages.
  bool tree = false;                     ///< Its file can hold more than one branch.
  bool headLast = false;                 ///< Some of its programs continue from the end of the file.
  bool hasPlainTexts = false;            ///< Nothing else in its lines depends on what their long texts say.
  std::string_view idMember = {};        ///< Of a line: its id.
  std::string_view parentMember = {};    ///< Of a line: names the line that it continues.
  std::span<const std::string_view> nameMembers = {};  ///< Of a line: name other lines that it speaks of.
  Framing framing = Framing::Lines;
  std::string_view listName = {};  ///< Framing::Document: the member that holds the list.
  /// Why a file cannot be this agent's, in a few words ("has no \"uuid\""); empty when it is.
  std::string (*misfit)(const Sample& sample) = nullptr;
  /// Whether an object found amid damage is a whole record, and not a part of one.
  bool (*isRecord)(std::string_view object) = nullptr;
  /// Whether an object is the header that a file of this agent begins with. Optional: without it, there is none.
  bool (*isHeader)(std::string_view object) = nullptr;
  std::unique_ptr<Reader> (*makeReader)() = nullptr;
  /// A line of a session that an agent started itself (a subagent), as a session that people continue has it; empty for
  /// any other line. Optional.
  std::string (*ofMainSession)(std::string_view object) = nullptr;
  /// Whether sessions of that id are subagents'. With ofMainSession.
  bool (*isSubagent)(std::string_view sessionId) = nullptr;
  /// Adds what files beside the transcript say of its session: a title or a key in the agent's own list. Fails when
  /// such a file is there and cannot be read. Optional.
  Result<void> (*addFactsBeside)(const std::string& path, TranscriptFacts& facts) = nullptr;
  std::unique_ptr<Writer> (*makeWriter)() = nullptr;  ///< Null: only read.
  /// Writes all branches as files that continue one another; the head's first. Optional.
  Result<void> (*writeTree)(const TranscriptFacts& facts, const TreeItems& items, TreeCargo& cargo,
                            const TranscriptFiles& files) = nullptr;
  /// The file of the session that the one at `path` continues (TranscriptFacts::parentSession); empty when it is not
  /// found. Optional.
  std::string (*findParent)(const std::string& path, const std::string& parentSession) = nullptr;
  /// Variables of which each names its folder; without them that is below the user's.
  std::span<const std::string_view> folderVariables = {};
  /// The folders it keeps sessions in. Asked where there is such a variable, or a user's folder. Optional.
  std::vector<std::string> (*folders)(const TranscriptHome& home) = nullptr;
  /// Whether a file below one of them (`relative`, with slashes) is a transcript, by its name.
  bool (*isTranscript)(std::string_view relative) = nullptr;
  /// Where it looks for a session, and the command that continues it. Optional.
  Result<TranscriptPlace> (*place)(const TranscriptHome& home, const TranscriptFacts& facts) = nullptr;
  /// Adds a session to the agent's own list. Optional.
  Result<void> (*announce)(const TranscriptHome& home, const TranscriptFacts& facts, const std::string& path) = nullptr;
  /// Keeps a file of Writer::beside. `path`: of the transcript. Optional.
  Result<void> (*keepBeside)(const std::string& path, const std::string& name, std::string_view bytes) = nullptr;
};

/// Whether it is known where the user's folder is.
inline bool hasUserFolder(const TranscriptHome& home) {
  return home.home.starts_with('/');
}

/// The table, in the order in which files are compared with it: the most particular formats first.
std::span<const Agent> agents();
/// Null when there is none of that name.
const Agent* findAgent(std::string_view name);

/// Reads the bytes of a transcript, and gives its entries to `use`. `sessionId`: what the name of its file says.
Result<TranscriptReport> readSource(const Agent& agent, ByteSource& bytes, const std::string& sessionId,
                                    const Builder::Use& use);

/// The agent whose file this is, from its first bytes. Unsupported when it fits none, and why.
Result<const Agent*> recognize(std::string_view beginning, std::string_view path = {});

}  // namespace bough::transcript
