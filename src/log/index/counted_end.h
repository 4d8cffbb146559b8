// What is known of the end of a log, where it looks torn: the index from before, and why it may be that somebody has
// counted it all the same.
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

  /// The index before the log was damaged, while the log is scanned again: what it says of lines that are gone. Null
  /// when there is none.
  OffsetIndex* earlier() { return earlier_ ? &*earlier_ : nullptr; }
  void keep(OffsetIndex index) { earlier_.emplace(std::move(index)); }
  void dropEarlier() { earlier_.reset(); }

  /// The index file was read, or there is none; or the system refused to read it, with that number.
  void noteFile(int refusal) { refusal_ = refusal; }
  /// Nothing is known of the log but what its index file may say.
  void noteForgotten() { refusal_ = kForgotten; }
  /// Reads the index file where that was not done yet, or was refused. It is the earlier index then.
  void readFile();

  /// A scan has ended before so many bytes that look torn, and `unasked` is why not all could be asked about them.
  void note(std::uint64_t trailing, std::optional<Error> unasked);
  void noteNothing() { doubt_.reset(); }
  /// Why it is not known whether they were counted; none when it is known.
  [[nodiscard]] const std::optional<Error>& doubt() const { return doubt_; }
  /// There is a doubt, and it was some time ago that was asked: the log need not change until it can be.
  [[nodiscard]] bool isToBeAsked() const;

 private:
  static constexpr int kForgotten = -1;

  const LogFile& file_;
  Clock& clock_;
  std::optional<OffsetIndex> earlier_;
  int refusal_ = 0;
  std::optional<Error> doubt_;
  std::uint64_t askedMs_ = 0;
};

}  // namespace bough
