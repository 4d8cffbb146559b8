#include "log/session_log.h"

#include "base/try.h"
#include "log/log_parts.h"

namespace bough {

SessionLog::SessionLog(LogFolders folders, std::string sessionId, const EntrySerializer& serializer,
                       Environment& environment, Options options)
    : sessionId_(std::move(sessionId)),
      parts_([this, folders = std::move(folders), &serializer, &environment, options = std::move(options)] {
        return std::make_unique<LogParts>(folders, sessionId_, serializer, environment, options);
      }) {}

SessionLog::~SessionLog() = default;

Result<std::shared_ptr<SessionLog>> SessionLog::open(LogFolders folders, std::string sessionId,
                                                     const EntrySerializer& serializer, Environment& environment,
                                                     Options options) {
  std::shared_ptr<SessionLog> log(
      new SessionLog(std::move(folders), std::move(sessionId), serializer, environment, std::move(options)));
  BOUGH_TRY(log->parts_->open());
  return log;
}

Result<LogSummary> SessionLog::summary() {
  return parts_->summary();
}
std::uint64_t SessionLog::generation() {
  return parts_->generation();
}
Result<std::uint64_t> SessionLog::freshGeneration() {
  return parts_->freshGeneration();
}
std::optional<SessionLog::Trace> SessionLog::trace() {
  return parts_->trace();
}
Result<SessionLog::Header> SessionLog::header() {
  return parts_->header();
}
Result<std::string> SessionLog::unreadBeginning() {
  return parts_->unreadBeginning();
}
Result<std::optional<Ordinal>> SessionLog::find(std::string_view id) {
  return parts_->find(id);
}
Result<std::vector<Ordinal>> SessionLog::select(Ordinal from, std::size_t limit, std::optional<EntryKind> kind,
                                                bool newestFirst) {
  return parts_->select(from, limit, kind, newestFirst);
}
Result<SessionOutline> SessionLog::outline() {
  return parts_->outline();
}
Result<std::vector<std::string>> SessionLog::findIds(std::string_view prefix, std::size_t limit) {
  return parts_->findIds(prefix, limit);
}
Result<std::vector<Ordinal>> SessionLog::controls() {
  return parts_->controls();
}
Result<LogPath> SessionLog::branch(Ordinal leaf, std::size_t limit) {
  return parts_->branch(leaf, limit);
}
Result<std::vector<std::string>> SessionLog::read(const std::vector<Ordinal>& ordinals) {
  return parts_->read(ordinals);
}
Result<void> SessionLog::readAll(const std::function<bool(Ordinal, const std::string&)>& use) {
  return parts_->readAll(use);
}
Result<std::vector<Entry>> SessionLog::readEntries(const std::vector<Ordinal>& ordinals) {
  return parts_->readEntries(ordinals);
}
void SessionLog::append(AppendWork& work, std::size_t weightBytes) {
  parts_->append(work, weightBytes);
}
Result<std::uint64_t> SessionLog::scanWhole(ScanSink& sink) {
  return parts_->scanWhole(sink);
}
Result<void> SessionLog::makeDurable(std::string_view id) {
  return parts_->makeDurable(id);
}
Result<RepairReport> SessionLog::repair() {
  return parts_->repair();
}
std::string SessionLog::path() {
  return parts_->path();
}
std::uint64_t SessionLog::offsetOf(Ordinal ordinal) {
  return parts_->offsetOf(ordinal);
}

}  // namespace bough
