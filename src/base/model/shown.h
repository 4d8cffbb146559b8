// What people see of a conversation but no model receives, stored in `custom` entries: words that an agent showed,
// {"shown":{"role":"assistant","text":"…"}}, and the reason why a turn ended early,
// {"kind":"turn_aborted","reason":"…"}.
#pragma once

#include <bough/entry.h>

#include <optional>
#include <string>

#include "base/json/json_scan.h"

namespace bough {

struct ShownText {
  std::string role;
  std::string text;
};

/// Returns std::nullopt for any other entry.
inline std::optional<ShownText> shownText(const Entry& entry) {
  if (entry.type != entry_type::kCustom || entry.redacted) return std::nullopt;
  const auto shown = json::findMember(entry.payload, "shown");
  const auto text = shown ? json::findString(*shown, "text") : std::nullopt;
  if (!text) return std::nullopt;
  return ShownText{.role = json::findString(*shown, "role").value_or("user"), .text = *text};
}

inline constexpr std::string_view kTurnAbortedKind = "turn_aborted";

/// Returns why a turn ended early; std::nullopt for any other entry.
inline std::optional<std::string> turnAbortReason(const Entry& entry) {
  if (entry.type != entry_type::kCustom || entry.redacted) return std::nullopt;
  if (json::findString(entry.payload, "kind") != kTurnAbortedKind) return std::nullopt;
  return json::findString(entry.payload, "reason").value_or("");
}

}  // namespace bough
