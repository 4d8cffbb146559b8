// The folder that a Gemini CLI session belongs to, from where its file is: <home>/.gemini/tmp/<id>/chats/<file>.
#pragma once

#include <bough/error.h>

#include <optional>
#include <string>
#include <string_view>

namespace bough::transcript::gemini_cli {

struct Project {
  std::string root;           ///< The project's folder; empty when nothing says it.
  std::string parentSession;  ///< Of a subagent's session: the session that started it.
};

/// The file in a folder below tmp that names the project's folder.
inline constexpr std::string_view kProjectMarker = ".project_root";

/// The project that a folder below tmp belongs to, by its marker; none when there is none.
Result<std::optional<std::string>> ownerOf(const std::string& folder);

Project findProject(const std::string& path);

}  // namespace bough::transcript::gemini_cli
