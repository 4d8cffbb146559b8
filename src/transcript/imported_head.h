// Decides where a session continues after an import of another agent's file. When the agent has moved since the last
// import, the session continues where the agent does. Otherwise the session's head stays: somebody may have continued
// the session or moved its head.
#pragma once

#include <bough/entry.h>
#include <bough/error.h>
#include <bough/store.h>
#include <bough/transcript.h>

#include <string>
#include <utility>
#include <vector>

namespace bough::transcript {

class ImportedHead {
 public:
  /// Sets the session's head at the start of the import.
  void begin(std::string headId) { previousHead_ = std::move(headId); }
  /// Takes each entry of this agent that the session already has, in the session's order.
  void addStored(const Entry& entry);
  /// Takes each entry that the session did not have.
  void addNew(const Entry& entry);

  /// Returns the head entries to append after the other entries of the import; none when the head stays. The first one
  /// notes where the agent continues, for the next import, even when the session continues elsewhere. `present` is the
  /// session's head, `timestamp` the time of the new entries.
  Result<std::vector<Entry>> headEntries(SessionStore& store, const ImportResult& done, const std::string& present,
                                         const std::string& timestamp) const;

 private:
  [[nodiscard]] Result<std::string> target(SessionStore& store, const ImportResult& done,
                                           const std::string& present) const;
  [[nodiscard]] Result<bool> hasAgentContinued(SessionStore& store, const ImportResult& done) const;

  std::string previousHead_;
  // Where the agent continued at the last import.
  struct {
    std::string id{};
    bool wasMoved = false;  // it was not the last entry
  } last_;
  bool hasNewConversation_ = false;  // the file has entries of the conversation that the session did not have
};

}  // namespace bough::transcript
