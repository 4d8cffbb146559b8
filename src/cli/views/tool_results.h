// Results of tools, shown with their calls or by the names of these: of a session that is read part by part.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "bough/store.h"
#include "cli/views/entry_view.h"

namespace bough::cli {

/// Takes each result out of the entry that holds it, to be shown with its call, also when that is in an earlier part:
/// what comes after a part is then looked through, once. A result whose call is not shown stays where it is.
class ResultFolding {
 public:
  /// `wanted`: what is shown, as its parts are loaded.
  ResultFolding(SessionStore& store, std::string sessionId, LoadOptions wanted)
      : store_(store), sessionId_(std::move(sessionId)), ahead_(std::move(wanted)) {}

  /// The results for the calls of each entry of a part, of which there are the `views`; they live until the next part.
  /// `next`: where that begins; none after the last. A result that is hidden says so.
  std::vector<ToolResults> fold(const std::vector<const Entry*>& entries, std::vector<EntryView>& views,
                                std::optional<std::uint64_t> next);

 private:
  struct Place {
    std::uint64_t at = 0;
    std::string entryId = {};
    bool isCall = false;  ///< The same id again: what comes after is not the result of an earlier call.
  };
  std::optional<EntryPart> lookAhead(const std::string& callId, std::uint64_t next);
  bool readOn(std::uint64_t next);

  SessionStore& store_;
  std::string sessionId_;
  LoadOptions ahead_;  ///< What is looked through next.
  bool isAllSeen_ = false;
  std::map<std::string, std::vector<Place>, std::less<>>
      seen_;                                  ///< Results, and more calls, in what was looked through.
  std::set<std::string, std::less<>> shown_;  ///< Calls whose results were shown before the part that holds them.
  std::vector<EntryPart> kept_;
};

/// Entries as people read them, where a result has the name of its call's tool also when the provider repeats only the
/// call's id (Anthropic, OpenAI). Given in the order of the session; the call of a result may stand before the first.
class CallNames {
 public:
  CallNames(SessionStore& store, std::string sessionId) : store_(store), sessionId_(std::move(sessionId)) {}

  EntryView view(const Entry& entry);

 private:
  void learn(const EntryView& view);
  void lookBack(const Entry& entry);

  SessionStore& store_;
  std::string sessionId_;
  std::unordered_map<std::string, std::string> names_;  ///< Of tools, by the ids of their calls.
  std::size_t misses_ = 0;                              ///< How often a call was looked for in vain.
};

}  // namespace bough::cli
