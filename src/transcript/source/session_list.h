// The list that an agent keeps of its sessions: a JSON object or array with an object for each.
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
    std::string key;         ///< Empty in an array.
    std::string_view value;  ///< A JSON object.
  };

  /// The list at `path`; null when there is none. It is read once while the file stays as it is, because every session
  /// of a folder asks for it. Damaged when the file is not such a list.
  static Result<std::shared_ptr<const SessionList>> at(const std::string& path);

  /// The first session whose member (one of "id", "sessionId", "transcript_file" or "sessionFile") has this value; of a
  /// path its last component counts. Null when there is none.
  [[nodiscard]] const Session* find(std::string_view member, std::string_view value) const;
  /// Whether any session has that member.
  [[nodiscard]] bool hasMember(std::string_view member) const;
  /// The first session with this key.
  [[nodiscard]] const Session* withKey(std::string_view key) const { return find({}, key); }

 private:
  explicit SessionList(std::string text) : text_(std::move(text)) {}
  Result<void> read(const std::string& path);

  std::string text_;
  std::vector<Session> sessions_;
  std::unordered_map<std::string, std::size_t> places_;  // "member\nvalue"
};

}  // namespace bough::transcript
