// A backend that wraps another one and makes one load of entries fail, or every read of an attachment.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bough/storage_backend.h"
#include "support/entries.h"

namespace bough {

class FailingSession final : public StoredSession {
 public:
  FailingSession(std::shared_ptr<StoredSession> inner, int& untilFailure)
      : inner_(std::move(inner)), untilFailure_(untilFailure) {}
  [[nodiscard]] const std::string& sessionId() const override { return inner_->sessionId(); }
  [[nodiscard]] Result<SessionState> state() override { return inner_->state(); }
  [[nodiscard]] Result<Entry> header() override { return inner_->header(); }
  [[nodiscard]] Result<AppendResult> append(AppendRequest& request) override { return inner_->append(request); }
  [[nodiscard]] Result<LoadResult> load(const LoadQuery& query) override {
    if (untilFailure_-- == 0) return fail(ErrorCode::Io, "the disk failed");
    return inner_->load(query);
  }
  [[nodiscard]] Result<std::vector<Entry>> loadOwn(std::uint64_t from, std::size_t limit) override {
    if (untilFailure_-- == 0) return fail(ErrorCode::Io, "the disk failed");
    return inner_->loadOwn(from, limit);
  }
  [[nodiscard]] Result<SessionShape> shape() override { return inner_->shape(); }
  [[nodiscard]] Result<std::vector<SessionLabel>> labels() override { return inner_->labels(); }
  [[nodiscard]] Result<std::vector<std::string>> findIds(std::string_view prefix, std::size_t limit) override {
    return inner_->findIds(prefix, limit);
  }
  [[nodiscard]] Result<void> exportLines(const std::function<bool(std::string_view)>& line) override {
    return inner_->exportLines(line);
  }
  [[nodiscard]] Result<std::unique_ptr<ChangeWatcher>> watch() override { return inner_->watch(); }

 private:
  std::shared_ptr<StoredSession> inner_;
  int& untilFailure_;
};

class FailingAttachments final : public AttachmentStore {
 public:
  explicit FailingAttachments(AttachmentStore& inner) : inner_(inner) {}
  bool fails = false;

  [[nodiscard]] Result<std::unique_ptr<Hold>> hold() override { return inner_.hold(); }
  [[nodiscard]] Result<void> put(const std::string& sha256, std::string_view bytes) override {
    return inner_.put(sha256, bytes);
  }
  [[nodiscard]] Result<std::string> get(const std::string& sha256) override {
    if (fails) return fail(ErrorCode::Io, "the disk failed");
    return inner_.get(sha256);
  }
  [[nodiscard]] Result<std::vector<std::string>> unused() override { return inner_.unused(); }
  [[nodiscard]] Result<std::size_t> removeUnused(const std::vector<std::string>& sha256s) override {
    return inner_.removeUnused(sha256s);
  }

 private:
  AttachmentStore& inner_;
};

class FailingBackend final : public StorageBackend {
 public:
  explicit FailingBackend(std::shared_ptr<StorageBackend> inner)
      : inner_(std::move(inner)), attachments_(*inner_->attachments()) {}
  /// How many loads succeed before one fails; negative when none fails.
  int untilFailure = -1;
  void failAttachments(bool on) { attachments_.fails = on; }

  [[nodiscard]] std::string describe() const override { return inner_->describe(); }
  [[nodiscard]] const EntrySerializer& serializer() const override { return inner_->serializer(); }
  [[nodiscard]] Result<void> probe() override { return inner_->probe(); }
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override { return inner_->listSessions(); }
  [[nodiscard]] Result<void> create(const SessionCreation& session) override { return inner_->create(session); }
  [[nodiscard]] Result<std::shared_ptr<StoredSession>> open(const std::string& sessionId) override {
    auto session = inner_->open(sessionId);
    if (!session) return session;
    return std::make_shared<FailingSession>(std::move(*session), untilFailure);
  }
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string& sessionId) override {
    return inner_->forksOf(sessionId);
  }
  [[nodiscard]] Result<void> remove(const Removal& removal) override { return inner_->remove(removal); }
  [[nodiscard]] AttachmentStore* attachments() override { return &attachments_; }
  [[nodiscard]] SessionMaintenance* maintenance() override { return inner_->maintenance(); }
  [[nodiscard]] ChangeFeed* changes() override { return inner_->changes(); }

 private:
  std::shared_ptr<StorageBackend> inner_;
  FailingAttachments attachments_;
};

}  // namespace bough
