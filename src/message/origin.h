// The side data of a converted document, written and read.
#pragma once

#include <bough/convert.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/history.h"
#include "message/writers.h"

namespace bough::message {

inline constexpr std::uint64_t kOriginVersion = 1;

/// The problem of a native whose bytes are not those that were stored; it is not used.
inline constexpr std::string_view kDamagedNative = "its bytes in the origin were changed";

/// What an Origin says. Natives point into the history's texts and trees.
struct OriginData {
  Dialect document = Dialect::Bough;
  std::vector<Native> natives;  ///< Not normalized yet.
  std::vector<Frame> frames;
  Records records;
};

/// For a document of `target` that was written from `history`.
std::string writeOrigin(Dialect target, const History& history, const Records& records);

/// Reads an Origin; the aliases it knows go into `history`, which also keeps what the result points into.
Result<OriginData> readOrigin(const Origin& origin, History& history);

}  // namespace bough::message
