#include "catalog/search/session_files.h"

#include "base/system/environment.h"

namespace bough::catalog {

SessionFiles::SessionFiles(const std::string& folder) {
  if (folder.empty()) return;
  const auto root = systemEnvironment().files.openRoot(folder, false);
  if (!root) return;
  if (auto opened = (*root)->openDirectory("sessions", false)) sessions_ = std::move(*opened);
  if (auto opened = (*root)->openDirectory("archive", false)) archive_ = std::move(*opened);
}

std::unique_ptr<File> SessionFiles::open(const std::string& sessionId) const {
  if (!sessions_) return nullptr;
  auto file = sessions_->open(sessionId + ".jsonl", OpenMode::Read);
  return file ? std::move(*file) : nullptr;
}

std::optional<FileInfo> SessionFiles::info(const std::string& sessionId) const {
  if (sessions_) {
    if (const auto plain = sessions_->info(sessionId + ".jsonl")) return *plain;
  }
  if (archive_) {
    if (const auto packed = archive_->info(sessionId + ".jsonl.zst")) return *packed;
  }
  return std::nullopt;
}

}  // namespace bough::catalog
