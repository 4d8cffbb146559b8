// The facts shown about a session before its conversation: title, folder, model, cost, branch.
#pragma once

#include <string>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

struct SessionHead {
  std::string sessionId = {};
  std::string title = {};
  std::string cwd = {};
  std::string models = {};
  std::string cost = {};    ///< Empty until the catalog has read the whole session.
  std::string branch = {};  ///< The label of the last entry shown, otherwise its short id.
  std::uint64_t branches = 0;
};

/// Reads the facts. `leaf` is the last entry of the branch that is shown. Uses what the catalog knows and lets it read
/// a few new sessions, but does not wait for it to read a whole store.
Result<SessionHead> readSessionHead(SessionStore& store, const std::string& sessionId, const std::string& leaf);

/// Returns the lines for a terminal, or as plain text.
std::string headForTerminal(const SessionHead& head, std::size_t width);
std::string headAsMarkdown(const SessionHead& head);
/// Returns the beginning of an HTML page, up to its first entry; htmlEnd() returns the end of the page.
std::string headAsHtml(const SessionHead& head);
std::string htmlEnd();

}  // namespace bough::cli
