// What MemoryBackend holds, shared by its source files.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "log/line.h"
#include "log/new_lines.h"
#include "store/memory_backend.h"

namespace bough {

struct MemoryLine {
  std::string text;
  std::string id;
  std::string parentId;
  std::string type;  // as it stands in the text
};

struct MemorySession {
  std::mutex mutex;
  std::shared_mutex staying;  // shared by those who need it to stay, whole for who removes it
  std::vector<MemoryLine> lines;
  std::unordered_map<std::string, std::uint64_t> sequences;
  std::string headId;
  std::uint64_t version = 0;  // the store's count of changes when this one changed last
  std::uint64_t numbering = nextNumbering();

  // Never the same twice: a session may be removed and made again.
  static std::uint64_t nextNumbering() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  void add(const NewLines& fresh) {
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      const NewLines::Line line = fresh[i];
      sequences.emplace(std::string(line.id()), lines.size());
      lines.push_back({.text = std::string(line.text()),
                       .id = std::string(line.id()),
                       .parentId = std::string(line.parentId()),
                       .type = std::string(line.type())});
    }
    std::string movedHead;
    if (const auto head = fresh.headAfter(movedHead)) headId = *head;
  }
};

// Runs `use` on a session under its lock.
template <typename Use>
auto with(Result<std::shared_ptr<MemorySession>> session, Use use) -> decltype(use(**session)) {
  if (!session) return std::unexpected(session.error());
  const std::lock_guard lock((*session)->mutex);
  return use(**session);
}

template <typename Lock>
struct StayingSession {
  std::shared_ptr<MemorySession> session;
  Lock lock;
};

// Finds a session and takes its `staying`. Looks again then: it may have been removed while we waited.
template <typename Lock, typename Find>
Result<StayingSession<Lock>> findStaying(const Find& find) {
  for (;;) {
    Result<std::shared_ptr<MemorySession>> found = find();
    if (!found) return std::unexpected(found.error());
    StayingSession<Lock> held{.session = *found, .lock = Lock((*found)->staying)};
    if (const auto now = find(); now && *now == *found) return held;
  }
}
using ToRemove = std::unique_lock<std::shared_mutex>;
using ToKeep = std::shared_lock<std::shared_mutex>;

// Sealed as a file would be, each entry a batch of its own. Without the lock, since `line` may ask for more.
inline Result<void> exportTo(const Result<std::shared_ptr<MemorySession>>& session,
                             const std::function<bool(std::string_view)>& line) {
  if (!session) return std::unexpected(session.error());
  std::vector<std::string> texts;
  {
    const std::lock_guard lock((*session)->mutex);
    for (const MemoryLine& stored : (*session)->lines) texts.push_back(stored.text);
  }
  SealDigits seal;
  for (const std::string& stored : texts) {
    std::string text;
    seal = appendSealedLine(text, stored, seal, 1, 1);
    text.pop_back();
    if (!line(text)) break;
  }
  return {};
}

struct MemoryBackend::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t changes = 0;
  std::map<std::string, std::shared_ptr<MemorySession>> sessions;
  std::map<std::string, std::string> attachments;
  std::shared_mutex adding;  // shared by those who add attachments, whole for who removes them
  std::string settings;
  struct Trashed {
    TrashedSession about;
    std::shared_ptr<MemorySession> session;
  };
  std::map<std::string, Trashed> trash;
};

}  // namespace bough
