// The settings of a store as a whole: {"schema":1,"timeToLiveMs":…}, in the file settings.json.

#include <fmt/format.h>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/try.h"
#include "store/session_store_impl.h"

namespace bough {
namespace {

constexpr std::uint64_t kSchema = 1;

}  // namespace

Result<StoreSettings> SessionStore::settings() {
  BOUGH_TRY(impl_->checkOpen());
  BOUGH_TRY(auto text, impl_->backend->settings());
  StoreSettings found;
  if (text.empty()) return found;
  const auto schema = json::findUnsigned(text, "schema");
  const auto life = json::findMember(text, "timeToLiveMs");
  found.timeToLiveMs = json::findUnsigned(text, "timeToLiveMs");
  if (schema != kSchema || (life && !found.timeToLiveMs)) {
    const bool newer = schema && *schema > kSchema;
    return fail(newer ? ErrorCode::NewerFormat : ErrorCode::Damaged,
                fmt::format("the settings of {} {}", impl_->backend->describe(),
                            newer ? "were written by a newer bough" : "cannot be understood"),
                newer ? "upgrade bough" : "correct settings.json there, or delete it: then the defaults apply");
  }
  return found;
}

Result<void> SessionStore::saveSettings(const StoreSettings& settings) {
  BOUGH_TRY(impl_->checkOpen());
  json::Writer writer;
  writer.beginObject().member("schema", kSchema);
  if (settings.timeToLiveMs) writer.member("timeToLiveMs", *settings.timeToLiveMs);
  return impl_->backend->saveSettings(writer.endObject().text() + "\n");
}

}  // namespace bough
