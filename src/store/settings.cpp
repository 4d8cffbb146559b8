// What was said about a store as a whole: {"schema":1,"timeToLiveMs":…}, in the file settings.json.

#include <fmt/format.h>

#include <cerrno>

#include "base/file_io.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "store/file_backend.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

constexpr std::string_view kName = "settings.json";
constexpr std::string_view kTemporaryBegin = "settings.";
constexpr std::string_view kTemporaryEnd = ".tmp";
constexpr std::uint64_t kMaxBytes = 64 << 10;
constexpr std::uint64_t kSchema = 1;

// What processes left that died while they saved; one that is younger may be at it.
void removeOldTemporaries(Directory& root, std::uint64_t nowMs) {
  constexpr std::uint64_t kOldMs = 3'600'000;
  const auto names = root.list();
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kTemporaryBegin) || !name.ends_with(kTemporaryEnd)) continue;
    const auto info = root.info(name);
    if (info && info->isRegular && info->modifiedNs / 1'000'000 + kOldMs < nowMs) (void)root.remove(name);
  }
}

}  // namespace

Result<std::string> FileBackend::settings() {
  const std::string path = fmt::format("{}/{}", root_->path(), kName);
  auto file = root_->open(kName, OpenMode::Read);
  if (!file && file.error() == ENOENT) return std::string();
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  return orError(readWhole(**file, kMaxBytes), "read", path);
}

// Under another name first, which no other process has, so that it is there whole or as it was.
Result<void> FileBackend::saveSettings(std::string_view text) {
  const std::string path = fmt::format("{}/{}", root_->path(), kName);
  const std::string temporary = fmt::format("{}{:016x}{}", kTemporaryBegin, environment_.random.next(), kTemporaryEnd);
  auto file = root_->open(temporary, OpenMode::CreateNew);
  if (!file) return std::unexpected(systemError(file.error(), "make", path));
  SysResult<void> done = writeFully(**file, 0, text);
  if (done) done = (*file)->sync();
  if (done) done = root_->rename(temporary, kName);
  if (done) done = root_->sync();
  if (!done) (void)root_->remove(temporary);
  removeOldTemporaries(*root_, environment_.clock.nowMs());
  return orError(std::move(done), "write", path);
}

Result<StoreSettings> SessionStore::settings() {
  if (auto open = impl_->checkOpen(); !open) return std::unexpected(open.error());
  auto text = impl_->backend->settings();
  if (!text) return std::unexpected(text.error());
  StoreSettings found;
  if (text->empty()) return found;
  const auto schema = json::findUnsigned(*text, "schema");
  const auto life = json::findMember(*text, "timeToLiveMs");
  found.timeToLiveMs = json::findUnsigned(*text, "timeToLiveMs");
  if (schema != kSchema || (life && !found.timeToLiveMs)) {
    const bool newer = schema && *schema > kSchema;
    return fail(newer ? ErrorCode::NewerFormat : ErrorCode::Damaged,
                fmt::format("the settings of {} {}", impl_->backend->describe(),
                            newer ? "were written by a newer bough" : "cannot be understood"),
                newer ? "upgrade bough" : "correct settings.json there, or delete it: then everything is as at first");
  }
  return found;
}

Result<void> SessionStore::saveSettings(const StoreSettings& settings) {
  if (auto open = impl_->checkOpen(); !open) return open;
  std::string text;
  json::Writer writer(text);
  writer.beginObject().member("schema", kSchema);
  if (settings.timeToLiveMs) writer.member("timeToLiveMs", *settings.timeToLiveMs);
  writer.endObject();
  return impl_->backend->saveSettings(text + "\n");
}

}  // namespace bough
