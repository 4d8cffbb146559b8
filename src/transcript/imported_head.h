// Where a session goes on after an import of another agent's file: where the agent went on, when that is another place
// than at the last import. Else where it went on before: somebody may have continued it, or have moved its head.
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
  /// The session's head when the import began.
  void begin(std::string headId) { before_ = std::move(headId); }
  /// Each entry that the session has from the agent, in its order.
  void noteStored(const Entry& entry);
  /// Each entry that the session did not have.
  void noteNew(const Entry& entry);

  /// The head entries to append after the import's other entries; often none. Where the agent goes on is noted in any
  /// case, for the next import. `present`: the session's head; `timestamp`: theirs.
  Result<std::vector<Entry>> moves(SessionStore& store, const ImportResult& done, const std::string& present,
                                   const std::string& timestamp) const;

 private:
  [[nodiscard]] Result<std::string> target(SessionStore& store, const ImportResult& done,
                                           const std::string& present) const;
  [[nodiscard]] Result<bool> agentWentOn(SessionStore& store, const ImportResult& done) const;

  std::string before_;
  // Where the agent went on at the last import.
  struct {
    std::string id{};
    bool wasMoved = false;  // it is not the last entry
  } last_;
  bool tookTalk_ = false;  // the file has entries of the conversation that the session did not have
};

}  // namespace bough::transcript
