// An edit of an earlier message: a custom entry that says what models get instead of that message.
//
//   {"kind":"edit","entryId":"…","content":[{"type":"text","text":"…"}]}   blocks of the dialect bough
//   {"kind":"edit","entryId":"…","content":null}                           models do not get the message
//
// An edit is in effect on its own branch; of several edits of one message the last is in effect. The message itself
// stays.
#pragma once

#include <bough/entry.h>

#include <optional>
#include <string>

namespace bough::message {

struct MessageEdit {
  std::string targetId;  ///< The entry that holds the message.
  std::string content;   ///< JSON of the new blocks; empty to leave the message out.

  [[nodiscard]] bool leavesOut() const { return content.empty(); }
};

/// Returns std::nullopt when the entry is not an edit, or when it is redacted.
std::optional<MessageEdit> editIn(const Entry& entry);

/// Returns the payload of an edit that leaves a message out.
std::string leaveOutPayload(const std::string& targetId);

/// Returns the payload of a message entry with the new content, in the dialect bough, with the role and the answered
/// call of the original message. Returns std::nullopt when the message cannot be read or answers several calls; such a
/// message stays unchanged.
std::optional<std::string> editedPayload(const Entry& message, const MessageEdit& edit);

}  // namespace bough::message
