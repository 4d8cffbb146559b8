// The side data of a converted document, written and read.
#pragma once

#include <bough/convert.h>

#include <string>
#include <string_view>
#include <vector>

#include "message/dialect/writers.h"
#include "message/model/history.h"

namespace bough::message {

/// Version 1 did not say which block of an original a written block came from.
inline constexpr std::uint64_t kWayBackVersion = 2;

/// The problem of an original whose bytes are not those that were stored; it is not used.
inline constexpr std::string_view kDamagedOriginal = "its bytes in the origin were changed";

/// What a WayBack says. Natives point into the history's texts and trees.
struct WayBackData {
  Dialect document = Dialect::Bough;
  std::vector<Original> originals;  ///< Not normalized yet.
  std::vector<RequestText> requestTexts;
  std::vector<Setting> written;  ///< The settings that the conversion put into the document.
  Records records;
};

/// For a document of `target` that was written from `history`.
std::string writeWayBack(Dialect target, const History& history, const Records& records,
                         const std::vector<Setting>& written = {});

/// Reads a WayBack; the aliases it knows go into `history`, which also keeps what the result points into.
Result<WayBackData> readWayBack(const WayBack& wayBack, History& history);

}  // namespace bough::message
