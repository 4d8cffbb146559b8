// Writes planned messages in each dialect, and records the hash of every value and block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/json/node_writer.h"
#include "message/model/history.h"
#include "message/model/media.h"
#include "message/model/planned.h"

namespace bough::message {

struct Records {
  std::vector<ValueRecord> values;
  std::vector<BlockRecord> blocks;
};

/// Receives the values of one section, one after the other, and writes separators between them.
class Sink {
 public:
  Sink(std::string& out, Records& records, Section section, Hashing hashing = Hashing::Yes,
       Surrogates inStored = Surrogates::Perhaps)
      : writer_(out, hashing, inStored), out_(out), records_(records), section_(section) {}

  /// Begins a value. The caller must write exactly one value to the result.
  NodeWriter& begin();
  /// Records that the last completed value is a block that came from `original`.
  void addBlock(std::int32_t original) {
    records_.blocks.push_back({.hash = writer_.lastHash(), .original = original});
  }
  void addBlock(const OutBlock& from) {
    records_.blocks.push_back({.hash = writer_.lastHash(), .original = from.original, .block = from.block});
  }
  void end();
  /// Copies an original. An empty separator means the usual one.
  void splice(std::int32_t original, std::string_view raw, std::string_view separator, std::uint64_t hash);
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  void separate(std::string_view separator);

  NodeWriter writer_;
  std::string& out_;
  Records& records_;
  Section section_;
  std::size_t count_ = 0;
  std::size_t firstBlock_ = 0;
  std::string usualSeparator_ = ",";
};

using WriteMessage = void(const OutMessage& message, Sink& sink);
WriteMessage writeAnthropic;
WriteMessage writeOpenaiChat;
WriteMessage writeOpenaiResponses;
WriteMessage writeGemini;
WriteMessage writeBough;
void writeMessage(Dialect dialect, const OutMessage& message, Sink& sink);

/// Writes the system prompt as the value of the request's own member.
void writeSystem(Dialect dialect, const OutMessage& message, Sink& sink);

// Shared by the writers.

/// Writes a stored block into a list of blocks. Returns false when the block is not stored or is a bare string, which
/// cannot be an element of such a list.
bool writeStored(NodeWriter& writer, const OutBlock& outBlock);
/// Writes the texts of a result as one string that begins with `prefix`.
void writeJoined(NodeWriter& writer, const OutBlock& result, std::string_view prefix = {});
/// "data:TYPE;base64,DATA"
void writeDataUrl(NodeWriter& writer, const Block& block);
/// Returns a view of text that needs no escapes.
inline TextView literal(std::string_view text) {
  return {.escaped = text, .present = true, .oddEscapes = false};
}

}  // namespace bough::message
