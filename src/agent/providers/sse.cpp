#include "agent/providers/sse.h"

#include <fmt/format.h>

#include "base/text/utf8.h"

namespace bough::agent {
namespace {

std::unexpected<Error> tooLong(std::string_view what, std::size_t limitBytes) {
  return fail(ErrorCode::Damaged, fmt::format("the answer {} more than {} MB", what, limitBytes >> 20),
              "check that the base URL leads to a model API");
}

std::unexpected<Error> eventTooLong() {
  return tooLong("holds a line or an event of", SseParser::kMaxEventBytes);
}

}  // namespace

Result<void> SseParser::feed(std::string_view bytes, const OnEvent& onEvent) {
  streamBytes_ += bytes.size();
  if (streamBytes_ > kMaxStreamBytes) return tooLong("has", kMaxStreamBytes);
  while (!bytes.empty() && !stopped_) {
    if (afterCr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    afterCr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > kMaxEventBytes) return eventTooLong();
    if (end == std::string_view::npos) {
      line_.append(part);
      return {};
    }
    afterCr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    Result<void> taken;
    if (line_.empty()) {
      taken = takeLine(part, onEvent);
    } else {
      line_.append(part);
      const std::string whole = std::exchange(line_, {});
      taken = takeLine(whole, onEvent);
    }
    if (!taken) return taken;
  }
  return {};
}

Result<void> SseParser::end(const OnEvent& onEvent) {
  if (!line_.empty() && !stopped_) {
    const std::string last = std::exchange(line_, {});
    if (auto taken = takeLine(last, onEvent); !taken) return taken;
  }
  if (!stopped_) dispatch(onEvent);
  return {};
}

Result<void> SseParser::takeLine(std::string_view line, const OnEvent& onEvent) {
  if (std::exchange(first_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    dispatch(onEvent);
    return {};
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (data_.size() + value.size() + 1 > kMaxEventBytes) return eventTooLong();
    if (hasData_) data_ += '\n';
    data_ += value;
    hasData_ = true;
  }
  return {};
}

void SseParser::dispatch(const OnEvent& onEvent) {
  if (hasData_) stopped_ = !onEvent({.name = name_, .data = data_});
  name_.clear();
  data_.clear();
  hasData_ = false;
}

}  // namespace bough::agent
