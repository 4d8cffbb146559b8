// Puts the messages of a session into a history, each in the dialect it was stored in.
#pragma once

#include <string_view>

#include "message/model/history.h"

namespace bough::message {

/// One stored value: a message, a system prompt or a list of tools. It must outlive the history.
struct StoredValue {
  std::string_view entryId;
  Dialect dialect = Dialect::Bough;
  std::string_view raw;
};

// Call these in the order of the request: system prompt, tools, messages.

void addSystem(const StoredValue& system, History& history);
/// The dialect is found out from the tools themselves when it is Plain.
void addTools(const StoredValue& tools, History& history);
/// Adds a message; a provider's whole response may be several. Says in Original::problem when it is none.
void addMessage(const StoredValue& message, History& history);
/// Adds the message of an entry of this type with this payload: {"dialect":…,"message":…}, or a plain one.
void addEntryMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history);
/// Adds a message whose content was redacted: it holds its place, so that the calls it answered are not taken for
/// interrupted. `stored` is the payload that is hidden; empty when nobody has it any more.
void addRedacted(std::string_view entryId, std::string_view type, std::string_view stored, History& history);
/// Adds an entry whose bytes are damaged, in the same way.
void addUnreadable(std::string_view entryId, History& history);
/// Like addEntryMessage, as one original and with all that a response has: for conversions that come back.
void addStoredMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history);

}  // namespace bough::message
