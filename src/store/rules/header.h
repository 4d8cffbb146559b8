// The header of a session: reading and making its payload.
#pragma once

#include <climits>
#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough {

/// The format of a header that does not state a small whole number. It counts as newer than all known formats.
inline constexpr int kUnknownFormat = INT_MAX;

/// Returns InvalidArgument when the text is not a session id.
Result<void> checkSessionId(const std::string& sessionId);

struct HeaderInfo {
  int format = 0;  ///< 0 when the header is a draft's or missing.
  std::optional<ForkOrigin> origin;
  std::string key;
  std::string cwd;
};

/// Reads a session's first entry, which need not be a header.
HeaderInfo readHeader(const Entry& first);

/// Refuses to write to a session that is not in the format `known`. `first` is its first entry, at `offset` in `path`.
Result<void> checkFormat(const Entry& first, std::string_view sessionId, std::string_view path, std::uint64_t offset,
                         int known);
/// Refuses a file of another tool that looks like a draft without a header: its lines have their content outside the
/// payload, so every entry would be empty.
Result<void> refuseForeignFile(const Entry& first, std::string_view sessionId, std::string_view path);
Error newerFormatError(int format, std::string_view sessionId, std::string_view path);
/// Describes a format that is newer than the known ones, or not a number.
std::string unknownFormat(int format);

/// Returns the payload of a new session's header.
std::string makeHeaderPayload(const NewSession& session, const std::optional<ForkOrigin>& origin, int format);

/// Returns the payload of a header in a newer format: all its members, and those it lacks.
std::string upgradeHeaderPayload(std::string_view payload, std::string_view sessionId, int format);

/// Returns the payload for a header that is missing or unreadable. The readable rest of that header (`damaged`) may
/// still contain the key and folder of the session, and the session it was detached from.
std::string rebuiltHeaderPayload(std::string_view damaged, std::string_view sessionId,
                                 const std::optional<ForkOrigin>& origin, int format);

/// Reads the origin of a fork from the rest of a damaged header. The entry id is empty when only the session is
/// readable.
std::optional<ForkOrigin> originNamedIn(std::string_view damaged);
/// Reads the format from the rest of a damaged header.
std::optional<int> formatNamedIn(std::string_view damaged);

/// Returns the payload of a label. Without an entry, it removes the label.
std::string labelPayload(std::string_view name, std::optional<std::string_view> entryId);

/// Returns the payload of a fork's header after the fork was given its own copy of the shared history. `root` is the
/// session where its history began.
std::string detachHeaderPayload(std::string_view payload, std::string_view root);

/// Returns true when two headers say the same. The session where the history of a detached session began is not
/// compared, because only one of two stores may know it.
bool isSameHeaderPayload(std::string_view left, std::string_view right);

}  // namespace bough
