#include "log/file/new_file.h"

#include <fmt/format.h>

#include <cerrno>

#include "base/system/file_io.h"

namespace bough {

NewFile::NewFile(Directory& folder, std::string_view name)
    : folder_(folder), name_(name), temporary_(fmt::format("{}.tmp", name)) {}

NewFile::~NewFile() {
  if (file_ && !isPublished_) (void)folder_.remove(temporary_);
}

std::string NewFile::path() const {
  return fmt::format("{}/{}", folder_.path(), name_);
}

Result<void> NewFile::create() {
  const auto removed = folder_.remove(temporary_);
  auto file = folder_.open(temporary_, OpenMode::CreateNew);
  if (!file) {
    const int number = file.error() == EEXIST && !removed ? removed.error() : file.error();
    return std::unexpected(systemError(number, "create", fmt::format("{}/{}", folder_.path(), temporary_)));
  }
  file_ = std::move(*file);
  return {};
}

Result<void> NewFile::add(std::string_view bytes) {
  auto written = writeFully(*file_, size_, bytes);
  size_ += bytes.size();
  return orError(std::move(written), "write", path());
}

Result<void> NewFile::addEntry(std::string_view text) {
  std::string line;
  lastSeal_ = appendSealedLine(line, text, lastSeal_, 1, 1);
  return add(line);
}

Result<void> NewFile::sync() {
  return orError(file_->sync(), "sync", path());
}

Result<void> NewFile::publish() {
  auto renamed = folder_.rename(temporary_, name_);
  isPublished_ = renamed.has_value();
  if (!renamed) return orError(std::move(renamed), "rename", path());
  return orError(folder_.sync(), "sync the folder of", path());
}

Result<void> NewFile::publishAs(std::string_view name) {
  const std::string target = fmt::format("{}/{}", folder_.path(), name);
  if (auto linked = folder_.link(temporary_, name); !linked) return orError(std::move(linked), "create", target);
  (void)folder_.remove(temporary_);
  isPublished_ = true;
  return orError(folder_.sync(), "sync the folder of", target);
}

Result<void> removeDurably(Directory& folder, std::string_view name) {
  const std::string path = fmt::format("{}/{}", folder.path(), name);
  if (auto removed = folder.remove(name); !removed) return orError(std::move(removed), "remove", path);
  return orError(folder.sync(), "sync the folder of", path);
}

}  // namespace bough
