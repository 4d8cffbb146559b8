// The attachments of a file backend.
#pragma once

#include "base/try.h"
#include "store/file/file_store.h"
#include "store/sharing/sharing_backend.h"

namespace bough {

class FileAttachments final : public SharingAttachments {
 public:
  FileAttachments(SharingBackend& backend, FileStore& store) : SharingAttachments(backend), store_(store) {}

  [[nodiscard]] Result<std::unique_ptr<Hold>> hold() override { return store_.attachments.hold(); }
  [[nodiscard]] Result<void> put(const std::string& sha256, std::string_view bytes) override {
    if (store_.readOnlyReason) return std::unexpected(*store_.readOnlyReason);
    BOUGH_TRY(store_.syncFolders());
    return store_.attachments.put(sha256, bytes);
  }
  [[nodiscard]] Result<std::string> get(const std::string& sha256) override { return store_.attachments.get(sha256); }
  Result<std::vector<std::string>> list() override { return store_.attachments.list(); }
  Result<std::size_t> removeIf(const std::vector<std::string>& sha256s,
                               const std::function<Result<bool>(const std::string&)>& isUnused) override {
    return store_.attachments.remove(sha256s, isUnused);
  }

 private:
  FileStore& store_;
};

}  // namespace bough
