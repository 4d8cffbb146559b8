#include "store/file/parts/erasure_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/file_io.h"
#include "base/try.h"
#include "log/file/new_file.h"
#include "store/rules/attachment_reference.h"

namespace bough {
namespace {

constexpr std::string_view kJournal = "erasure.json";
constexpr std::string_view kLock = "erasure.lock";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kPlanVersion = 1;
constexpr std::uint64_t kPlanVersionWithDamage = 2;  // keeps programs that ignore damaged targets from finishing it

std::string textOf(const ErasurePlan& plan) {
  const bool hasDamage =
      std::ranges::any_of(plan.targets, [](const auto& each) { return each.second.damaged.has_value(); });
  json::Writer writer;
  writer.beginObject()
      .member("version", hasDamage ? kPlanVersionWithDamage : kPlanVersion)
      .member("sessionId", plan.sessionId)
      .member("by", plan.by);
  writer.member("reason", plan.reason).member("timestamp", plan.timestamp).key("entries").beginArray();
  for (const auto& [id, target] : plan.targets) {
    writer.beginObject().member("entryId", id).member("sessionId", target.sessionId);
    writer.member("storedSha256", target.storedSha256).member("sha256", target.sha256).member("bytes", target.bytes);
    writer.member("receiptId", target.receiptId);
    if (target.damaged) {
      writer.key("damaged").beginObject().member("offset", target.damaged->offset);
      writer.member("parentId", target.damaged->parentId).endObject();
    }
    writer.endObject();
  }
  writer.endArray().list("attachments", plan.attachments).list("wayBacks", plan.wayBackAttachments).endObject();
  return writer.text() + "\n";
}

std::optional<ErasureTarget> targetFrom(std::string_view text) {
  const auto part = [&](std::string_view name) { return json::findString(text, name).value_or(""); };
  ErasureTarget target{.entryId = part("entryId"),
                       .sessionId = part("sessionId"),
                       .storedSha256 = part("storedSha256"),
                       .sha256 = part("sha256"),
                       .bytes = json::findUnsigned(text, "bytes").value_or(0),
                       .receiptId = part("receiptId")};
  if (const auto place = json::findMember(text, "damaged")) {
    target.damaged = DamagedPlace{.offset = json::findUnsigned(*place, "offset").value_or(0),
                                  .parentId = json::findString(*place, "parentId").value_or("")};
  }
  const bool good = isEntryId(target.entryId) && isSessionId(target.sessionId) && isSha256(target.storedSha256) &&
                    isEntryId(target.receiptId);
  return good ? std::optional(std::move(target)) : std::nullopt;
}

bool takeHashes(std::string_view text, std::string_view name, std::vector<std::string>& hashes) {
  json::ArrayReader reader(json::findMember(text, name).value_or("[]"));
  while (const auto each = reader.next()) {
    auto sha256 = json::decodeString(*each);
    if (!sha256 || !isSha256(*sha256)) return false;
    hashes.push_back(std::move(*sha256));
  }
  return true;
}

std::optional<ErasurePlan> planFrom(std::string_view text) {
  const auto version = json::check(text) ? json::findUnsigned(text, "version") : std::nullopt;
  if (version != kPlanVersion && version != kPlanVersionWithDamage) return std::nullopt;
  ErasurePlan plan{.sessionId = json::findString(text, "sessionId").value_or(""),
                   .by = json::findString(text, "by").value_or(""),
                   .reason = json::findString(text, "reason").value_or(""),
                   .timestamp = json::findString(text, "timestamp").value_or(""),
                   .targets = {},
                   .attachments = {},
                   .wayBackAttachments = {}};
  json::ArrayReader entries(json::findMember(text, "entries").value_or("[]"));
  while (const auto each = entries.next()) {
    auto target = targetFrom(*each);
    if (!target) return std::nullopt;
    std::string id = target->entryId;
    plan.targets.emplace(std::move(id), std::move(*target));
  }
  if (!takeHashes(text, "attachments", plan.attachments) || !takeHashes(text, "wayBacks", plan.wayBackAttachments)) {
    return std::nullopt;
  }
  return plan;
}

}  // namespace

bool ErasureJournal::exists(Directory& root) {
  return root.info(kJournal).has_value();
}

Result<ErasureJournal> ErasureJournal::lock(Directory& root, int timeoutMs) {
  const std::string path = fmt::format("{}/{}", root.path(), kLock);
  BOUGH_TRY(auto file, orError(root.open(kLock, OpenMode::OpenOrCreate), "open", path));
  BOUGH_TRY(lockWithin(*file, LockKind::Exclusive, timeoutMs, path));
  return ErasureJournal(root, std::move(file));
}

Result<std::optional<ErasurePlan>> ErasureJournal::read() {
  const std::string path = fmt::format("{}/{}", root_->path(), kJournal);
  auto file = root_->open(kJournal, OpenMode::Read);
  if (!file && file.error() == ENOENT) return std::nullopt;
  if (!file) return std::unexpected(systemError(file.error(), "open", path));
  BOUGH_TRY(const auto text, orError(readWhole(**file, kMostBytes), "read", path));
  auto plan = planFrom(text);
  if (plan) return plan;
  return fail(ErrorCode::Damaged,
              fmt::format("{} cannot be read: an erasure was interrupted and cannot continue", path),
              "look which entries it names, move the file out of the store, and erase them again");
}

Result<void> ErasureJournal::write(const ErasurePlan& plan) {
  NewFile file(*root_, kJournal);
  BOUGH_TRY(file.create());
  BOUGH_TRY(file.add(textOf(plan)));
  BOUGH_TRY(file.sync());
  return file.publish();
}

Result<void> ErasureJournal::remove() {
  return removeDurably(*root_, kJournal);
}

}  // namespace bough
