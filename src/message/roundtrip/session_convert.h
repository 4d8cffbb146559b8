// Converts the messages of a session, which are stored separately, with the same exact way back that documents have
// (convert.h).
#pragma once

#include <bough/convert.h>

#include <string>
#include <string_view>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"
#include "message/model/signatures.h"

namespace bough::message {

/// One message of the branch to convert.
struct SessionMessage {
  std::string_view entryId;
  std::string_view type;      ///< Type of the entry.
  std::string_view payload;   ///< Must outlive the history. Empty when the message was redacted.
  std::string_view hidden{};  ///< For a redacted message: its payload as stored; empty when it no longer exists.
  /// The raw system prompt and tools in force at this message; signatures are bound to them.
  std::string_view system{};
  std::string_view tools{};
  bool neverJoined =
      false;  ///< Never join it with the message before it, because other branches also continue that message.
};

/// Reads the messages as originals. `wayBack` is that of the conversion that made the session, if any; fails with
/// Damaged when it cannot be read. `chain` is what precedes these messages, for a session that is read in parts.
Result<void> readSession(const std::vector<SessionMessage>& messages, const WayBack* wayBack, History& history,
                         Reporter& reporter, PrefixChain* chain = nullptr);

/// Where a converted message is in the result, and what it came from.
struct ConvertedMessage {
  std::size_t begin = 0;  ///< In SessionConversion::text.
  std::size_t end = 0;
  bool verbatim = false;             ///< Exactly as its author wrote it.
  Dialect dialect = Dialect::Bough;  ///< The target's dialect, except for messages that belong to no provider.
  /// Indexes in History::originals; empty when it was added because the target requires it.
  std::vector<std::int32_t> originals{};
};

struct SessionConversion {
  std::string text;
  std::vector<ConvertedMessage> messages;
  WayBack wayBack;
};

/// Calls at the end may still be answered; until then every context adds results for them.
inline constexpr ConvertOptions kSessionOptions{.strict = false, .keepPendingCalls = true};

/// Returns the hash of a raw system prompt or of raw tools; 0 when there are none.
std::uint64_t hashOfRaw(std::string_view raw);

/// `system`, `tools`: those in force at the end of the branch, raw.
SessionConversion convertSession(History& history, Dialect target, std::string_view system, std::string_view tools,
                                 Reporter& reporter);

}  // namespace bough::message
