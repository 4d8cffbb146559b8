// Caches built contexts. Tail and head of the session, and of the sessions whose history it shares, identify the
// content of a context: every append, redaction or move of the head changes a tail.
#include <bough/context.h>

#include <list>
#include <mutex>

#include "base/try.h"

namespace bough {

struct ContextCache::Impl {
  struct CachedContext {
    const SessionStore* store;
    std::string sessionId;
    ContextOptions options;
    std::string state;
    std::shared_ptr<const Context> context;
  };

  explicit Impl(std::size_t maxContexts) : capacity(maxContexts) {}

  std::size_t capacity;
  std::mutex mutex;
  std::list<CachedContext> contexts;  // most recently used first
  std::uint64_t hits = 0;
};

namespace {

// Returns the tails and heads of the session and of all sessions that it shares history with.
Result<std::string> stateOf(SessionStore& store, const std::string& sessionId) {
  std::string state;
  std::string next = sessionId;
  while (!next.empty()) {
    BOUGH_TRY(auto session, store.sessionState(next));
    state += session.tailId + '\n' + session.headId + '\n';
    next = session.origin ? session.origin->sessionId : std::string();
  }
  return state;
}

}  // namespace

ContextCache::ContextCache(std::size_t capacity) : impl_(std::make_unique<Impl>(capacity)) {}
ContextCache::~ContextCache() = default;

Result<std::shared_ptr<const Context>> ContextCache::get(SessionStore& store, const std::string& sessionId,
                                                         const ContextOptions& options) {
  BOUGH_TRY(auto state, stateOf(store, sessionId));
  {
    const std::lock_guard lock(impl_->mutex);
    for (auto each = impl_->contexts.begin(); each != impl_->contexts.end(); ++each) {
      if (each->store != &store || each->sessionId != sessionId || each->options != options) continue;
      if (each->state != state) {
        impl_->contexts.erase(each);
        break;
      }
      ++impl_->hits;
      impl_->contexts.splice(impl_->contexts.begin(), impl_->contexts, each);
      return impl_->contexts.front().context;
    }
  }
  BOUGH_TRY(auto built, buildContext(store, sessionId, options));
  auto context = std::make_shared<const Context>(std::move(built));
  // The state was read before building, so an append during the build makes the next call rebuild.
  const std::lock_guard lock(impl_->mutex);
  impl_->contexts.push_front({&store, sessionId, options, std::move(state), context});
  while (impl_->contexts.size() > impl_->capacity) impl_->contexts.pop_back();
  return context;
}

void ContextCache::clear() {
  const std::lock_guard lock(impl_->mutex);
  impl_->contexts.clear();
}

std::uint64_t ContextCache::hits() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->hits;
}

}  // namespace bough
