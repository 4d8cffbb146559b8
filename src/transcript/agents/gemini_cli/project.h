// Finds the folder that a Gemini CLI session belongs to from the location of its file:
// <home>/.gemini/tmp/<id>/chats/<file>.
#pragma once

#include <bough/error.h>

#include <optional>
#include <string>
#include <string_view>

namespace bough::transcript::gemini_cli {

struct Project {
  std::string root;           ///< The project's folder; empty when unknown.
  std::string parentSession;  ///< For a subagent's session: the session that started it.
};

/// The file in a folder of tmp that names the project's folder.
inline constexpr std::string_view kProjectMarker = ".project_root";

/// Returns the project that a folder of tmp belongs to, according to its marker; std::nullopt without a marker.
Result<std::optional<std::string>> ownerOf(const std::string& folder);

Project findProject(const std::string& path);

}  // namespace bough::transcript::gemini_cli
