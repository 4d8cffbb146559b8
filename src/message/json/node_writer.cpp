#include "message/json/node_writer.h"

#include <charconv>

#include "base/check.h"
#include "base/json/json_string.h"
#include "base/json/json_write.h"
#include "base/json/surrogates.h"

namespace bough::message {

void NodeWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

void NodeWriter::done(std::uint64_t hash) {
  last_ = hash;
  if (open_.empty()) {
    comma_ = false;
    return;
  }
  Open& parent = open_.back();
  parent.soFar =
      parent.object ? parent.soFar + content_hash::member(parent.key, hash) : content_hash::element(parent.soFar, hash);
  ++parent.count;
}

NodeWriter& NodeWriter::open(char bracket, bool object) {
  separate();
  out_ += bracket;
  comma_ = false;
  open_.push_back({.object = object});
  return *this;
}

NodeWriter& NodeWriter::close(char bracket) {
  BOUGH_CHECK(!open_.empty());
  out_ += bracket;
  comma_ = true;
  const Open closed = open_.back();
  open_.pop_back();
  done(closed.object ? content_hash::object(closed.soFar, closed.count)
                     : content_hash::array(closed.soFar, closed.count));
  return *this;
}

NodeWriter& NodeWriter::key(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  comma_ = false;
  open_.back().key = hashOfString(name);
  return *this;
}

NodeWriter& NodeWriter::texts(std::span<const TextView> parts) {
  separate();
  out_ += '"';
  const std::size_t begin = out_.size();
  for (const TextView& part : parts) {
    if (!part.oddEscapes) {
      out_ += part.escaped;
      continue;
    }
    const std::string quoted = json::quoted(part.decode());
    out_.append(quoted, 1, quoted.size() - 2);
  }
  const std::uint64_t hash = hashOfString(std::string_view(out_).substr(begin));
  out_ += '"';
  done(hash);
  return *this;
}

NodeWriter& NodeWriter::plain(std::string_view text) {
  separate();
  const std::size_t begin = out_.size() + 1;
  json::appendQuoted(out_, text);
  done(hashOfString(std::string_view(out_).substr(begin, out_.size() - begin - 1)));
  return *this;
}

NodeWriter& NodeWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  done(content_hash::word(value ? json::Kind::True : json::Kind::False));
  return *this;
}

NodeWriter& NodeWriter::null() {
  separate();
  out_ += "null";
  done(content_hash::word(json::Kind::Null));
  return *this;
}

NodeWriter& NodeWriter::number(std::uint64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return raw({digits, static_cast<std::size_t>(end - digits)});
}

NodeWriter& NodeWriter::raw(std::string_view json, bool stored) {
  const bool none = stored && inStored_ == Surrogates::None;
  if (hashing_ == Hashing::No && (none || !json::mayHoldSurrogates(json))) {
    separate();
    out_ += json;
    done(0);
    return *this;
  }
  const auto error = tree_.parse(json);
  BOUGH_CHECK(!error);
  separate();
  bool surrogates = false;
  for (json::Tree::Index i = 0; i < tree_.size(); ++i) surrogates |= isBroken(i);
  if (surrogates) {
    spliceSanitized(json);
  } else {
    out_ += json;
  }
  done(hasher_.hash(tree_, 0));
  return *this;
}

bool NodeWriter::isBroken(json::Tree::Index node) const {
  return tree_.hasSurrogates(node) && json::hasLoneSurrogate(tree_.body(node));
}

void NodeWriter::spliceSanitized(std::string_view json) {
  std::size_t copied = 0;
  for (json::Tree::Index i = 0; i < tree_.size(); ++i) {
    if (!isBroken(i)) continue;
    std::string decoded;
    json::appendDecoded(decoded, tree_.body(i));
    out_ += json.substr(copied, tree_.begin(i) - copied);
    json::appendQuoted(out_, decoded);
    copied = tree_.end(i);
  }
  out_ += json.substr(copied);
}

}  // namespace bough::message
