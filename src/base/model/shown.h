// Words that an agent showed to people and that no model gets: the member `shown` of a `custom` entry,
// {"role":"assistant","text":"…"}.
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

/// None where the entry is of another kind.
inline std::optional<ShownText> shownText(const Entry& entry) {
  if (entry.type != entry_type::kCustom || entry.redacted) return std::nullopt;
  const auto shown = json::findMember(entry.payload, "shown");
  const auto text = shown ? json::findString(*shown, "text") : std::nullopt;
  if (!text) return std::nullopt;
  return ShownText{.role = json::findString(*shown, "role").value_or("user"), .text = *text};
}

}  // namespace bough
