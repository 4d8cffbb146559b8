#include "log/index/counted_end.h"

#include <fmt/format.h>

#include <utility>

#include "base/system/file_io.h"
#include "log/index/index_file.h"

namespace bough {

void CountedEnd::readFile() {
  if (refusal_ == 0 || earlier_) return;
  refusal_ = 0;
  auto saved = IndexFile::open(*file_.folders().sessions, indexName(file_.sessionId()), &refusal_);
  if (saved) earlier_.emplace(std::move(saved));
}

void CountedEnd::noteTrailing(std::uint64_t trailing, std::optional<Error> askFailure) {
  if (earlier_ && earlier_->refusal() != 0) refusal_ = earlier_->refusal();
  doubt_.reset();
  if (trailing == 0 || (!askFailure && refusal_ <= 0)) return;
  const std::string index = file_.folders().sessions->path() + "/" + indexName(file_.sessionId());
  const Error cause = askFailure ? *std::move(askFailure) : systemError(refusal_, "read", index);
  doubt_ =
      fail(cause.code == ErrorCode::Busy ? ErrorCode::Busy : ErrorCode::Io,
           fmt::format("the last {} bytes of {} look torn, and it is not known whether they were complete once: {}",
                       trailing, file_.path(), cause.message),
           cause.hint.empty() ? "try again" : cause.hint + "; then try again")
          .error();
  doubt_->retryable = true;
  askedMs_ = clock_.nowMs();
}

bool CountedEnd::shouldAskAgain() const {
  constexpr std::uint64_t kAgainAfterMs = 1000;
  if (!doubt_) return false;
  const std::uint64_t nowMs = clock_.nowMs();
  return nowMs < askedMs_ || nowMs - askedMs_ >= kAgainAfterMs;
}

}  // namespace bough
