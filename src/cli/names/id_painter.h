// Colors short ids: the part that tells one from all others stands out.
#pragma once

#include <functional>
#include <string>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// Empty where no colors are used.
using IdPainter = std::function<std::string(const std::string& shortId)>;

/// For the sessions of a store. In a large store, where looking at all ids takes too long, the whole short id stands
/// out.
IdPainter sessionIdPainter(Catalog& catalog);
/// The same for the entries of a session.
IdPainter entryIdPainter(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
