#include "message/model/report.h"

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/model/unreadable.h"

namespace bough {

std::string_view toString(Change change) {
  switch (change) {
    case Change::Carried: return "carried";
    case Change::Renamed: return "renamed";
    case Change::Altered: return "altered";
    case Change::LeftOut: return "left_out";
    case Change::Synthetic: return "synthetic";
    case Change::Invalid: return "invalid";
    case Change::Edited: return "edited";
    case Change::Removed: return "removed";
    case Change::Added: return "added";
    case Change::Needs: return "needs";
  }
  return "carried";
}

std::string_view toString(SignatureState state) {
  switch (state) {
    case SignatureState::Carried: return "carried";
    case SignatureState::Valid: return "valid";
    case SignatureState::Invalid: return "invalid";
  }
  return "carried";
}

std::string CompatibilityReport::toJson() const {
  json::Writer writer;
  writer.beginObject().member("compatible", compatible);
  writer.list("warnings", warnings).list("lossyFields", lossyFields).key("lossyCounts").beginObject();
  for (std::size_t i = 0; i < lossyFields.size(); ++i) writer.member(lossyFields[i], lossyCounts[i]);
  writer.endObject();
  if (!betas.empty()) {
    writer.list("betas", betas);
  }
  writer.member("messages", messages).member("lossyMessages", lossyMessages).member("restored", restored);
  writer.key("signatures").beginArray();
  for (const SignatureStatus& status : signatures) {
    writer.beginObject();
    if (!status.entryId.empty()) writer.member("entryId", status.entryId);
    writer.member("path", status.path).member("provider", toString(status.provider));
    writer.member("state", toString(status.state)).member("reason", status.reason).endObject();
  }
  writer.endArray().key("findings").beginArray();
  for (const Finding& finding : findings) {
    writer.beginObject().member("change", toString(finding.change));
    if (!finding.entryId.empty()) writer.member("entryId", finding.entryId);
    writer.member("path", finding.path).member("field", finding.field).member("reason", finding.reason).endObject();
  }
  return writer.endArray().member("findingsDropped", findingsDropped).endObject().take();
}

namespace message {

void Reporter::note(Change change, std::string path, std::string_view field, std::string_view reason,
                    std::string_view entryId) {
  if (report_.findings.size() >= CompatibilityReport::kMaxFindings) {
    ++report_.findingsDropped;
    return;
  }
  report_.findings.push_back({.change = change,
                              .path = std::move(path),
                              .field = std::string(field),
                              .reason = std::string(reason),
                              .entryId = std::string(entryId)});
}

void Reporter::note(Change change, const Original& original, const Block* block, std::string_view field,
                    std::string_view reason) {
  if (report_.findings.size() >= CompatibilityReport::kMaxFindings) {
    ++report_.findingsDropped;
    return;
  }
  note(change, paths_.of(original, block), field, reason, original.entryId);
}

void Reporter::renamedTool(const Original& original, const Block* block, std::string_view field, std::string_view name,
                           std::string_view there) {
  note(Change::Renamed, original, block, field,
       fmt::format("the tool \"{}\" is \"{}\" there: the target does not take its name", name, there));
}

void Reporter::lossy(Change change, const Original& original, const Block* block, std::string_view field,
                     std::string_view reason, bool visible) {
  auto entry = fields_.find(field);
  if (entry == fields_.end()) {
    entry = fields_.emplace(field, report_.lossyFields.size()).first;
    report_.lossyFields.emplace_back(field);
    report_.lossyCounts.push_back(0);
  }
  ++report_.lossyCounts[entry->second];
  if (isFirstLoss(original)) ++report_.lossyMessages;
  if (visible) report_.compatible = false;
  if (!original.entryId.empty()) {
    std::vector<std::string>& fields = byEntry_[std::string(original.entryId)];
    if (named_.emplace(&fields, entry->second).second) fields.emplace_back(field);
  }
  note(change, original, block, field, reason);
}

// The pieces of a message count as one message.
bool Reporter::isFirstLoss(const Original& original) {
  if (original.section != Section::Messages) return false;
  if (!original.entryId.empty()) return lossyEntries_.emplace(original.entryId).second;
  if (original.documentPlace == kNotInDocument) return lossyOriginals_.insert(&original).second;
  return lossyPlaces_.emplace(original.dialect, original.documentPlace).second;
}

std::string Reporter::unreadable(const Entry& entry) {
  return damaged(entry, unreadableText(entry));
}

std::string Reporter::beginsTooLate(const Entry& entry) {
  return damaged(entry, fmt::format("[what was before it is lost: there is no entry {}]", entry.parentId.value_or("")));
}

std::string Reporter::damaged(const Entry& entry, const std::string& text) {
  std::string problem = fmt::format("entry {}: {}", entry.id, text);
  report_.compatible = false;
  warn(problem);
  note(Change::Invalid, "payload", "entry", text, entry.id);
  return problem;
}

void Reporter::invalid(const Original& original, const Block* block, std::string_view reason) {
  report_.compatible = false;
  const bool isFull = report_.warnings.size() >= CompatibilityReport::kMaxFindings;
  const std::string path = isFull ? std::string() : paths_.of(original, block);
  const std::string entry = original.entryId.empty() ? "" : fmt::format("entry {}: ", original.entryId);
  warn(fmt::format("{}{}: {}", entry, path, reason));
  note(Change::Invalid, original, block, block == nullptr ? "message" : "block", reason);
}

}  // namespace message
}  // namespace bough
