// Decides how ids of sessions and entries are shown to people, and which parts of them are valid names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// The length of a shortened id.
inline constexpr std::size_t kShortIdSize = 8;

/// Returns true when bough made the id: a UUID that begins with a time.
bool isBoughId(std::string_view id);
/// Returns the form of an id for lists: the last 8 characters of an id that bough made (their beginnings are similar),
/// the first 8 of any other UUID, and any other id whole.
std::string shortId(std::string_view id);
/// The same for the ids of one list. Where this form would be ambiguous, uses the other 8 characters, or else the whole
/// id. The list may contain an id several times.
std::vector<std::string> shortIds(const std::vector<std::string>& ids);
std::vector<std::string> shortIds(const std::vector<SessionSummary>& rows);
/// Returns the shortest name that commands accept for changing a session: 8 characters of an id that bough made, any
/// other id whole.
std::string exactName(std::string_view id);

/// Colors short ids so that the unique part of each stands out. Empty when no colors are used.
using IdPainter = std::function<std::string(const std::string& shortId)>;

/// Returns a painter for the sessions of a store. In a large store, where looking at all ids takes too long, the whole
/// short id stands out.
IdPainter sessionIdPainter(Catalog& catalog);
/// Returns a painter for the entries of a session.
IdPainter entryIdPainter(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
