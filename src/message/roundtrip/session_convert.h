// Converts the messages of a session, each stored on its own, with the exact way back that documents have (convert.h).
#pragma once

#include <bough/convert.h>

#include <string>
#include <string_view>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"
#include "message/model/signatures.h"

namespace bough::message {

/// One message of the branch that is converted.
struct SessionMessage {
  std::string_view entryId;
  std::string_view type;      ///< Of the entry.
  std::string_view payload;   ///< Must outlive the history. Empty: it was redacted.
  std::string_view hidden{};  ///< Of one that was redacted: its payload as it was stored; empty: it is gone.
  std::string_view system{};  ///< The system prompt and tools in force there, raw: what signatures are bound to.
  std::string_view tools{};
  bool apart = false;  ///< It is never joined with the message before it, which other branches continue as well.
};

/// Reads the messages as originals. `origin` is that of the conversion that made the session, if one did.
/// Damaged when it cannot be read. `chain`: what was read before, of a session that is read in parts.
Result<void> readSession(const std::vector<SessionMessage>& messages, const WayBack* wayBack, History& history,
                         Reporter& reporter, PrefixChain* chain = nullptr);

/// Where in the result a converted message is, and what it came from.
struct SessionNode {
  std::size_t begin = 0;  ///< In SessionConversion::text.
  std::size_t end = 0;
  bool verbatim = false;                  ///< As its author wrote it.
  Dialect dialect = Dialect::Bough;       ///< The target's, except where the target is not a provider.
  std::vector<std::int32_t> originals{};  ///< In History::originals; empty when it was added for the target's sake.
};

struct SessionConversion {
  std::string text;
  std::vector<SessionNode> nodes;
  WayBack wayBack;
};

/// Calls at the end may still be answered; until then every context gives them a result of its own.
inline constexpr ConvertOptions kSessionOptions{.strict = false, .keepPendingCalls = true};

/// The hash of a system prompt or of tools, raw; 0 when there are none.
std::uint64_t hashOfRaw(std::string_view raw);

/// `system`, `tools`: those in force at the end of the branch, raw.
SessionConversion convertSession(History& history, Dialect target, std::string_view system, std::string_view tools,
                                 Reporter& reporter);

}  // namespace bough::message
