// Shows tool results with their calls, or under the names of their calls, in a session that is read part by part.
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

/// Moves each result out of its entry so that it is shown with its call, even when the call is in an earlier part: the
/// entries after a part are then searched, once. A result whose call is not shown stays where it is.
class ResultFolding {
 public:
  /// `wanted` selects what is shown, as its parts are loaded.
  ResultFolding(SessionStore& store, std::string sessionId, LoadOptions wanted)
      : store_(store), sessionId_(std::move(sessionId)), ahead_(std::move(wanted)) {}

  /// Returns the results for the calls of each entry of a part; `views` are the views of the entries. The results live
  /// until the next call. `next` is where the next part begins; std::nullopt after the last part. A hidden result says
  /// so.
  std::vector<ToolResults> fold(const std::vector<const Entry*>& entries, std::vector<EntryView>& views,
                                std::optional<std::uint64_t> next);

 private:
  struct Place {
    std::uint64_t at = 0;
    std::string entryId = {};
    bool isCall = false;  ///< A call with the same id: later results belong to this call.
  };
  std::optional<EntryPart> findLaterResult(const std::string& callId, std::uint64_t next);
  bool searchNextPart(std::uint64_t next);

  SessionStore& store_;
  std::string sessionId_;
  LoadOptions ahead_;  ///< The entries to search next.
  bool isAllSeen_ = false;
  std::map<std::string, std::vector<Place>, std::less<>>
      seen_;                                  ///< Results and repeated calls among the entries searched.
  std::set<std::string, std::less<>> shown_;  ///< Calls whose results were shown before the part that holds them.
  std::vector<EntryPart> movedResults_;
};

/// Shows entries so that each result has its tool's name, even when the provider repeats only the call's id (Anthropic,
/// OpenAI). Entries must be given in the order of the session; the call of a result may come before the first of them.
class CallNames {
 public:
  CallNames(SessionStore& store, std::string sessionId) : store_(store), sessionId_(std::move(sessionId)) {}

  EntryView view(const Entry& entry);

 private:
  void learn(const EntryView& view);
  void learnEarlierNames(const Entry& entry);

  SessionStore& store_;
  std::string sessionId_;
  std::unordered_map<std::string, std::string> names_;  ///< Names of tools, by the ids of their calls.
  std::size_t misses_ = 0;                              ///< How often a call was not found.
};

}  // namespace bough::cli
