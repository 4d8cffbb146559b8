// Writes and reads the side data of a converted document.
#pragma once

#include <bough/convert.h>

#include <string>
#include <string_view>
#include <vector>

#include "message/dialect/writers.h"
#include "message/model/history.h"

namespace bough::message {

/// Version 1 did not record from which block of an original a written block came.
inline constexpr std::uint64_t kWayBackVersion = 2;

/// The problem of an original whose bytes differ from the stored ones; such an original is not used.
inline constexpr std::string_view kDamagedOriginal = "its bytes in the origin were changed";

/// The content of a WayBack. Originals point into the history's texts and trees.
struct WayBackData {
  Dialect document = Dialect::Bough;
  std::vector<Original> originals;  ///< Not normalized yet.
  std::vector<RequestFrame> requestFrames;
  std::vector<Setting> written;  ///< The settings that the conversion wrote into the document.
  Records records;
};

/// Returns the WayBack for a document of `target` that was written from `history`.
std::string writeWayBack(Dialect target, const History& history, const Records& records,
                         const std::vector<Setting>& written = {});

/// Reads a WayBack. Its aliases are added to `history`, which also owns what the result points into.
Result<WayBackData> readWayBack(const WayBack& wayBack, History& history);

}  // namespace bough::message
