// Sessions as resources: `bough://session/{id}` is the conversation of a session, `bough://session/{id}/{entry}` one
// entry. A part that is not the last one says where the next part starts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/catalog.h"
#include "bough/store.h"
#include "serve/json_rpc.h"

namespace bough::serve {

/// Returns the place of a session in a list as a text, `TIME:ID`, which the client sends back.
std::string formatPlace(const SessionSummary& row);
std::optional<ListPlace> parsePlace(std::string_view text);

/// Returns true when a request for a list names a page.
bool hasCursor(std::string_view params);
/// Returns the result of resources/list: one page of sessions, most recent first.
RpcResult<std::string> listResources(Catalog& catalog, std::string_view params);
std::string resourceTemplates();
RpcResult<std::string> readResource(SessionStore& store, std::string_view params);

}  // namespace bough::serve
