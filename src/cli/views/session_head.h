// What is said about a session before its conversation: title, folder, model, cost, branch.
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
  std::string cost = {};    ///< Empty when the catalog has not read the whole session yet.
  std::string branch = {};  ///< The label of the last entry that is shown, else its short id.
  std::uint64_t branches = 0;
};

/// `leaf`: the last entry of the branch that is shown. Takes from the catalog what it knows, and lets it read a few
/// sessions that are new, but does not wait for a whole store to be read.
Result<SessionHead> readSessionHead(SessionStore& store, const std::string& sessionId, const std::string& leaf);

/// The lines for a terminal, or as plain text.
std::string headForTerminal(const SessionHead& head, std::size_t width);
std::string headAsMarkdown(const SessionHead& head);
/// The beginning of a page, up to its first entry; the page ends with htmlEnd().
std::string headAsHtml(const SessionHead& head);
std::string htmlEnd();

}  // namespace bough::cli
