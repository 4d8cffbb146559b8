// From the messages of a session, each in the dialect it was stored in, to one request that an API accepts.
//
// Unlike a conversion (convert.h) nothing has to come back from a request, so nothing is kept that must not be in it:
// what the target's own provider wrote is regrouped where its API demands it, and copied byte for byte where not.
#pragma once

#include <bough/convert.h>

#include <string>
#include <string_view>
#include <vector>

#include "message/history.h"
#include "message/report.h"

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
/// Adds a message; a provider's whole response may be several. Says in Native::problem when it is none.
void addMessage(const StoredValue& message, History& history);
/// Adds the message of an entry of this type with this payload: {"dialect":…,"message":…}, or a plain one.
void addEntryMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history);
/// The same, as one native and with all that a response has: for conversions that come back.
void addStoredMessage(std::string_view entryId, std::string_view type, std::string_view payload, History& history);
/// Whether an entry of this type holds a message. Besides `message`, these are the plain types: user, tool_call …
bool isMessageType(std::string_view type);
/// The payload of a plain entry with the entry's type as its first member.
std::string withType(std::string_view type, std::string_view payload);

struct Request {
  std::string system;    ///< The value of the request's own member; empty when there is none.
  std::string tools;     ///< The list; empty when there are none.
  std::string messages;  ///< The list.
  struct Part {
    std::size_t begin = 0;  ///< In `messages`.
    std::size_t end = 0;
    std::vector<std::int32_t> natives{};  ///< What it came from, once each; empty when it was added.
    bool verbatim = false;
  };
  std::vector<Part> parts;  ///< One a planned message; some dialects write several values for one.
};

Request writeRequest(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter);

}  // namespace bough::message
