// Adds the messages of a session to a history, each in the dialect in which it was stored.
#pragma once

#include <string_view>

#include "message/model/history.h"

namespace bough::message {

/// A stored message, system prompt or list of tools. It must outlive the history.
struct StoredValue {
  std::string_view entryId;
  Dialect dialect = Dialect::Bough;
  std::string_view raw;
};

// Call these functions in the order of the request: system prompt, tools, messages.

void addSystem(const StoredValue& system, History& history);
/// When the dialect is Plain, it is determined from the tools themselves.
void addTools(const StoredValue& tools, History& history);
/// Adds a message; a provider's whole response may become several. Sets Original::problem when the value is not a
/// message.
void addMessage(const StoredValue& message, History& history);
/// Adds the message of an entry with this type and payload: {"dialect":…,"message":…}, or a plain message.
void addEntryMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history);
/// Adds a message whose content was redacted. It marks its place, so that the calls that it answered are not treated as
/// interrupted. `stored` is the hidden payload; empty when it no longer exists.
void addRedacted(std::string_view entryId, std::string_view type, std::string_view stored, History& history);
/// Adds an entry whose bytes are damaged, in the same way.
void addUnreadable(std::string_view entryId, History& history);
/// Like addEntryMessage, but as one original with everything that a response contains. For conversions that come back.
void addStoredMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history);

}  // namespace bough::message
