// normalize() reads one stored message, without the history around it.
#include <bough/message.h>
#include <fmt/format.h>

#include "message/dialect/reader.h"

namespace bough {

Result<Message> normalize(std::string_view stored, Dialect dialect) {
  json::Tree tree;
  if (const auto error = tree.parse(stored, message::kMaxMessageValues)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("this is not a message of {}: offset {}: {}", toString(dialect),
                                                        error->offset, error->reason));
  }
  Message message;
  const auto problem = message::readMessage(dialect, tree, 0, message);
  if (problem) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("this is not a message of {}: {}", toString(dialect), *problem));
  }
  message.raw = stored;
  return message;
}

}  // namespace bough
