#include "base/json/json_checked.h"

#include "base/json/json_brackets.h"
#include "base/json/json_grammar.h"
#include "base/json/json_string.h"

namespace bough::json {
namespace {

void skipBlanks(std::string_view text, std::size_t& at) {
  while (at < text.size() && isBlank(text[at])) ++at;
}

// Returns the position after the string that begins at `at`; npos when the string does not end.
std::size_t stringEnd(std::string_view text, std::size_t at) {
  const char* end = text.data() + text.size();
  if (const char* near = shortStringEnd(text.data() + at + 1, end)) return static_cast<std::size_t>(near - text.data());
  const SkippedString skipped = skipString(text.data() + at + 1, end);
  return skipped.reason.empty() ? static_cast<std::size_t>(skipped.at - text.data()) : std::string_view::npos;
}

}  // namespace

std::optional<std::size_t> skipChecked(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.front() == '{' || text.front() == '[') return skipBrackets(text);
  if (text.front() == '"') {
    const std::size_t end = stringEnd(text, 0);
    return end == std::string_view::npos ? std::nullopt : std::optional(end);
  }
  std::size_t end = 0;
  while (end < text.size() && !isBlank(text[end]) && text[end] != ',' && text[end] != '}' && text[end] != ']') ++end;
  return end == 0 ? std::nullopt : std::optional(end);
}

CheckedObject::CheckedObject(std::string_view text, Text whole) : text_(text), whole_(whole) {
  skipBlanks(text_, at_);
  broken_ = at_ == text_.size() || text_[at_] != '{';
}

std::nullopt_t CheckedObject::broken() {
  broken_ = true;
  return std::nullopt;
}

std::optional<std::string_view> CheckedObject::findKey() {
  // at_ is at the opening brace, a comma, or the closing brace.
  if (broken_ || ended_) return std::nullopt;
  if (text_[at_] != '}') {
    ++at_;
    skipBlanks(text_, at_);
  }
  if (at_ == text_.size()) return broken();
  if (text_[at_] == '}') {
    ++at_;
    ended_ = true;
    if (whole_ == Text::Beginning) return std::nullopt;
    skipBlanks(text_, at_);
    if (at_ != text_.size()) return broken();
    return std::nullopt;
  }
  if (text_[at_] != '"') return broken();
  const std::size_t begin = at_ + 1;
  const std::size_t end = stringEnd(text_, at_);
  if (end == std::string_view::npos) return broken();
  at_ = end;
  skipBlanks(text_, at_);
  if (at_ == text_.size() || text_[at_] != ':') return broken();
  ++at_;
  skipBlanks(text_, at_);
  return text_.substr(begin, end - 1 - begin);
}

std::string_view CheckedObject::skipValue() {
  const std::size_t begin = at_;
  const auto size = skipChecked(rest());
  if (!size) {
    broken_ = true;
    return {};
  }
  skip(*size);
  return text_.substr(begin, *size);
}

std::optional<ObjectReader::Member> CheckedObject::next() {
  const auto key = nextKey();
  if (!key) return std::nullopt;
  const std::string_view value = takeValue();
  if (broken_) return std::nullopt;
  return ObjectReader::Member{.key = *key, .value = value};
}

std::optional<std::string_view> findChecked(std::string_view object, std::string_view name) {
  CheckedObject reader(object);
  while (auto member = reader.next()) {
    if (member->keyIs(name)) return member->value;
  }
  return std::nullopt;
}

}  // namespace bough::json
