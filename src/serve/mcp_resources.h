// Sessions as resources: `bough://session/{id}` is its conversation, `bough://session/{id}/{entry}` one entry. A part
// that is not the whole says where the next one is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bough/catalog.h"
#include "bough/store.h"
#include "serve/json_rpc.h"

namespace bough::serve {

/// The place of a session in a list, as a text that the client gives back: `TIME:ID`.
std::string placeText(const SessionSummary& row);
std::optional<ListPlace> parsePlace(std::string_view text);

/// Whether a request for a list names a page.
bool hasCursor(std::string_view params);
/// The result of resources/list: the sessions, most recent first, a page at a time.
RpcResult<std::string> listResources(Catalog& catalog, std::string_view params);
std::string resourceTemplates();
RpcResult<std::string> readResource(SessionStore& store, std::string_view params);

}  // namespace bough::serve
