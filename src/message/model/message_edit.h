// An edit of an earlier message: a custom entry that says what models get in the place of that message.
//
//   {"kind":"edit","entryId":"…","content":[{"type":"text","text":"…"}]}   blocks of the dialect bough
//   {"kind":"edit","entryId":"…","content":null}                           models do not get the message
//
// It holds for the branch that it is on; of several edits of one message the last holds. The message itself stays.
#pragma once

#include <bough/entry.h>

#include <optional>
#include <string>

namespace bough::message {

struct MessageEdit {
  std::string targetId;  ///< The entry of the message.
  std::string content;   ///< JSON of the new blocks; empty: the message is left out.

  [[nodiscard]] bool leavesOut() const { return content.empty(); }
};

/// None when the entry is not an edit, or when it is redacted.
std::optional<MessageEdit> editIn(const Entry& entry);

/// The payload of an edit that leaves a message out.
std::string leavingOut(const std::string& targetId);

/// The payload of a message entry with the new content, in the dialect bough: with its role, and the call that it
/// answers. None when the message cannot be read or answers several calls; then it stays as it is.
std::optional<std::string> editedPayload(const Entry& message, const MessageEdit& edit);

}  // namespace bough::message
