// An agent's own list of its sessions: a JSON object or array with one object per session.
#pragma once

#include <bough/error.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bough::transcript {

class SessionList {
 public:
  struct Session {
    std::string key;         ///< Empty for an array.
    std::string_view value;  ///< A JSON object.
  };

  /// Returns the list at `path`; null when it does not exist. The last list is cached while its file stays unchanged,
  /// because every session of a folder asks for it. Damaged when the file is not such a list.
  static Result<std::shared_ptr<const SessionList>> at(const std::string& path);

  /// Returns the first session whose member (one of "id", "sessionId", "transcript_file" or "sessionFile") has this
  /// value. Paths are compared by their last component. Returns nullptr when there is none.
  [[nodiscard]] const Session* find(std::string_view member, std::string_view value) const;
  /// Returns whether any session has that member.
  [[nodiscard]] bool hasMember(std::string_view member) const;
  /// Returns the first session with this key.
  [[nodiscard]] const Session* withKey(std::string_view key) const { return find({}, key); }

 private:
  explicit SessionList(std::string text) : text_(std::move(text)) {}
  Result<void> read(const std::string& path);

  std::string text_;
  std::vector<Session> sessions_;
  std::unordered_map<std::string, std::size_t> places_;  // "member\nvalue"
};

}  // namespace bough::transcript
