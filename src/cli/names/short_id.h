// What people see of the ids of sessions and entries, and which parts of them are names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

/// How many characters of an id are shown where it is cut.
inline constexpr std::size_t kShortIdSize = 8;

/// Whether bough made an id: a UUID that begins with a time.
bool isMadeId(std::string_view id);
/// What a list shows of an id: the last 8 characters of one that bough made (its first ones are alike), the first 8 of
/// any other UUID, any other id whole.
std::string shortId(std::string_view id);
/// The same for the ids of one list: the other 8 characters, or the whole id, where these would name two of them. An id
/// may be there several times.
std::vector<std::string> shortIds(const std::vector<std::string>& ids);
std::vector<std::string> shortIds(const std::vector<SessionSummary>& rows);
/// The shortest name that commands which change a session take: 8 characters of an id that bough made, any other whole.
std::string exactId(std::string_view id);

/// Colors short ids: the part that tells one from all others stands out. Empty where no colors are used.
using IdPainter = std::function<std::string(const std::string& shortId)>;

/// For the sessions of a store. In a large store, where looking at all ids takes too long, the whole short id stands
/// out.
IdPainter sessionIdPainter(Catalog& catalog);
/// The same for the entries of a session.
IdPainter entryIdPainter(SessionStore& store, const std::string& sessionId);

}  // namespace bough::cli
