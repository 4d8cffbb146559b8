// The folder that a Gemini CLI session belongs to, from where its file is: <home>/.gemini/tmp/<id>/chats/<file>.
#pragma once

#include <string>

namespace bough::transcript::gemini_cli {

struct Project {
  std::string root;           ///< The project's folder; empty when nothing says it.
  std::string parentSession;  ///< Of a subagent's session: the session that started it.
};

Project findProject(const std::string& path);

}  // namespace bough::transcript::gemini_cli
