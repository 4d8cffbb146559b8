// The header of a session: what its payload says.
#pragma once

#include <climits>
#include <optional>
#include <string>
#include <string_view>

#include "bough/entry.h"
#include "bough/error.h"
#include "bough/store.h"

namespace bough {

/// What a header says that is not a small whole number: of a version to come, so newer than all.
inline constexpr int kUnknownFormat = INT_MAX;

/// InvalidArgument when it is not a session id.
Result<void> checkSessionId(const std::string& sessionId);

struct HeaderInfo {
  int format = 0;  ///< 0 when the header is a draft's, or missing.
  std::optional<ForkOrigin> origin;
  std::string key;
  std::string cwd;
};

/// Reads a session's first entry, which need not be a header.
HeaderInfo readHeader(const Entry& first);

/// Refuses to write to a session that is not in the format `known`. `first` is its first entry, at `offset` of `path`.
Result<void> checkFormat(const Entry& first, std::string_view sessionId, std::string_view path, std::uint64_t offset,
                         int known);
/// Refuses a file that another tool wrote and that only looks like a draft without a header: its lines have their
/// content beside the payload, so that every entry would be empty.
Result<void> refuseOthersFile(const Entry& first, std::string_view sessionId, std::string_view path);
Error newerFormatError(int format, std::string_view sessionId, std::string_view path);
/// What is wrong with a format that is newer, or no number at all.
std::string unknownFormat(int format);

/// The payload of a new session's header.
std::string makeHeaderPayload(const NewSession& session, const std::optional<ForkOrigin>& origin, int format);

/// The payload of a header that is brought to a newer format: all its members, and the ones it lacks.
std::string upgradeHeaderPayload(std::string_view payload, std::string_view sessionId, int format);

/// The payload of a header in the place of one that is missing, or cannot be read: what is left of that (`damaged`)
/// still says which key and folder the session has, and what it was detached from.
std::string remadeHeaderPayload(std::string_view damaged, std::string_view sessionId,
                                const std::optional<ForkOrigin>& origin, int format);

/// What is left of a damaged header may still say where a fork continues from; the entry is empty when only the session
/// can be seen.
std::optional<ForkOrigin> originNamedIn(std::string_view damaged);
/// The same of the format.
std::optional<int> formatNamedIn(std::string_view damaged);

/// The payload of a label; without an entry the label is taken away.
std::string labelPayload(std::string_view name, std::optional<std::string_view> entryId);

/// The payload of a fork's header once it has its own copy of what it shared. `root`: where its history began.
std::string detachHeaderPayload(std::string_view payload, std::string_view root);

/// Whether two headers say the same; where the history of a detached session began may be known to one store alone.
bool isSameHeaderPayload(std::string_view left, std::string_view right);

}  // namespace bough
