// A backend that wraps another one and counts the calls to it, which would be round trips over a network. open() is not
// counted, because a backend may postpone the lookup of a session to its first call.
//
// It answers catalog questions itself, as a database would. A test can let anything happen before a call.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bough/catalog.h"
#include "bough/storage_backend.h"
#include "support/entries.h"

namespace bough {

class CountingBackend final : public StorageBackend, public SessionTrash, public CatalogSource {
 public:
  explicit CountingBackend(std::shared_ptr<StorageBackend> inner) : inner_(std::move(inner)) {}

  /// Returns the number of calls since the last call of this function.
  int takeCount() { return count_.exchange(0); }
  /// Called before each call, with the number of calls since takeCount().
  std::function<void(int)> beforeCall;

  [[nodiscard]] std::string describe() const override { return inner_->describe(); }
  [[nodiscard]] const EntrySerializer& serializer() const override { return inner_->serializer(); }
  [[nodiscard]] Result<void> probe() override { return counted().probe(); }
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override { return counted().listSessions(); }
  [[nodiscard]] Result<void> create(const SessionCreation& session) override { return counted().create(session); }
  [[nodiscard]] Result<std::shared_ptr<StoredSession>> open(const std::string& sessionId) override {
    auto session = inner_->open(sessionId);
    if (!session) return session;
    return std::make_shared<CountingSession>(std::move(*session), *this);
  }
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId) override {
    return counted().forksOf(sessionId);
  }
  [[nodiscard]] Result<void> remove(const Removal& removal) override { return counted().remove(removal); }
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch(const std::vector<std::string>& sessionIds) override {
    return counted().watch(sessionIds);
  }
  [[nodiscard]] SessionTrash* trash() override { return this; }
  [[nodiscard]] AttachmentStore* attachments() override { return inner_->attachments(); }
  [[nodiscard]] CatalogSource* catalog() override { return this; }

  [[nodiscard]] std::vector<Result<TrashedSession>> trash(const std::vector<Removal>& removals) override {
    return counted().trash()->trash(removals);
  }
  [[nodiscard]] Result<std::vector<TrashedSession>> list() override { return counted().trash()->list(); }
  [[nodiscard]] Result<void> exportLines(const std::string& trashId,
                                         const std::function<bool(std::string_view)>& line) override {
    return counted().trash()->exportLines(trashId, line);
  }
  [[nodiscard]] Result<void> restore(const std::string& trashId) override {
    return counted().trash()->restore(trashId);
  }
  [[nodiscard]] Result<std::uint64_t> empty(const std::vector<std::string>& trashIds) override {
    return counted().trash()->empty(trashIds);
  }

  [[nodiscard]] Result<std::vector<SessionSummary>> list(const ListOptions& options) override {
    auto ids = counted().listSessions();
    if (!ids) return std::unexpected(ids.error());
    std::vector<SessionSummary> rows;
    for (const std::string& id : *ids) {
      if (rows.size() < options.limit) rows.emplace_back().sessionId = id;
    }
    return rows;
  }
  [[nodiscard]] Result<std::uint64_t> count(const SessionFilter&) override { return unanswered(); }
  [[nodiscard]] Result<SessionSummary> session(const std::string&) override { return unanswered(); }
  [[nodiscard]] Result<std::optional<std::string>> currentSession(std::string_view, std::string_view) override {
    return unanswered();
  }
  [[nodiscard]] Result<NameMatch> findByName(std::string_view, std::size_t) override { return unanswered(); }
  [[nodiscard]] Result<std::vector<SearchHit>> search(const SearchWords&, const SearchOptions&) override {
    return unanswered();
  }
  [[nodiscard]] Result<std::vector<UsageSum>> usage(const UsageOptions&) override { return unanswered(); }
  [[nodiscard]] Result<std::vector<ExpiredSession>> expired(std::uint64_t, std::optional<std::uint64_t>) override {
    return unanswered();
  }

 private:
  class CountingSession final : public StoredSession {
   public:
    CountingSession(std::shared_ptr<StoredSession> inner, CountingBackend& backend)
        : inner_(std::move(inner)), backend_(backend) {}
    [[nodiscard]] const std::string& sessionId() const override { return inner_->sessionId(); }
    [[nodiscard]] Result<SessionState> state() override { return counted().state(); }
    [[nodiscard]] Result<Entry> header() override { return counted().header(); }
    [[nodiscard]] Result<AppendResult> append(AppendRequest& request) override { return counted().append(request); }
    [[nodiscard]] Result<LoadResult> load(const LoadQuery& query) override { return counted().load(query); }
    [[nodiscard]] Result<std::vector<Entry>> loadOwn(std::uint64_t from, std::size_t limit) override {
      return counted().loadOwn(from, limit);
    }
    [[nodiscard]] Result<SessionShape> shape() override { return counted().shape(); }
    [[nodiscard]] Result<std::vector<SessionLabel>> labels() override { return counted().labels(); }
    [[nodiscard]] Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit) override {
      return counted().findIds(prefix, limit);
    }
    [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) override {
      return counted().exportLines(line);
    }
    [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch() override { return counted().watch(); }

   private:
    StoredSession& counted() {
      backend_.count();
      return *inner_;
    }
    std::shared_ptr<StoredSession> inner_;
    CountingBackend& backend_;
  };

  void count() {
    const int before = count_++;
    if (beforeCall) beforeCall(before);
  }
  StorageBackend& counted() {
    count();
    return *inner_;
  }
  static std::unexpected<Error> unanswered() { return fail(ErrorCode::Unsupported, "not answered here"); }

  std::shared_ptr<StorageBackend> inner_;
  std::atomic<int> count_ = 0;
};

}  // namespace bough
