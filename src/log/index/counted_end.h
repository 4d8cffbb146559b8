// What is known about the end of a log that looks torn: the earlier index, and why it is not known whether others have
// counted the end.
#pragma once

#include <cstdint>
#include <optional>

#include "base/system/environment.h"
#include "bough/error.h"
#include "log/file/log_file.h"
#include "log/index/offset_index.h"

namespace bough {

class CountedEnd {
 public:
  CountedEnd(const LogFile& file, Clock& clock) : file_(file), clock_(clock) {}

  /// The index from before the log was damaged. While the log is scanned again, it tells what the lost lines were. Null
  /// when there is none.
  OffsetIndex* earlier() { return earlier_ ? &*earlier_ : nullptr; }
  void keepEarlier(OffsetIndex index) { earlier_.emplace(std::move(index)); }
  void dropEarlier() { earlier_.reset(); }

  /// Records that the index file was read or does not exist (0), or the errno with which the system refused to read it.
  void noteFile(int refusal) { refusal_ = refusal; }
  /// Records that nothing is known about the log except what its index file may say.
  void noteUnknown() { refusal_ = kUnknown; }
  /// Reads the index file if that has not been done yet, or was refused. The file then becomes the earlier index.
  void readFile();

  /// Records that a scan ended before `trailing` bytes that look torn. `unasked` says why not everybody could be asked
  /// about them.
  void noteTrailing(std::uint64_t trailing, std::optional<Error> askFailure);
  void clearDoubt() { doubt_.reset(); }
  /// Says why it is not known whether those bytes were counted; std::nullopt when it is known.
  [[nodiscard]] const std::optional<Error>& doubt() const { return doubt_; }
  /// Returns true when there is a doubt and the last attempt was some time ago. The answer can change although the log
  /// does not.
  [[nodiscard]] bool shouldAskAgain() const;

 private:
  static constexpr int kUnknown = -1;

  const LogFile& file_;
  Clock& clock_;
  std::optional<OffsetIndex> earlier_;
  int refusal_ = 0;
  std::optional<Error> doubt_;
  std::uint64_t askedMs_ = 0;
};

}  // namespace bough
