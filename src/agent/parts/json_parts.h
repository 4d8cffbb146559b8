// Helpers for JSON text that the readers of all providers share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "bough/error.h"

namespace bough::agent {

/// The part of a raw string between its quotes; empty when it is not a string.
inline std::string_view stringBody(std::string_view raw) {
  return raw.size() >= 2 && raw.front() == '"' ? raw.substr(1, raw.size() - 2) : std::string_view();
}

inline std::string_view memberOr(std::string_view object, std::string_view name, std::string_view otherwise = {}) {
  return json::findMember(object, name).value_or(otherwise);
}

inline std::string decoded(std::string_view body) {
  std::string out;
  json::appendDecoded(out, body);
  return out;
}

/// Decodes a string that arrives in pieces. A piece may end between the two halves of a surrogate pair; the first half
/// is then held for the next piece of the same text. Drops a half whose other half never arrives.
class PieceDecoder {
 public:
  /// `text` numbers the texts of one answer (thinking, answer, ...), so that their pieces are not mixed.
  std::string decode(std::string_view body, std::uint64_t text = 0) {
    std::string whole = std::exchange(held_, {});
    if (std::exchange(text_, text) != text) whole.clear();
    whole += body;
    if (endsInHalf(whole)) {
      held_ = whole.substr(whole.size() - kEscapeBytes);
      whole.resize(whole.size() - kEscapeBytes);
    }
    return decoded(whole);
  }

 private:
  static constexpr std::size_t kEscapeBytes = 6;  // \uD83D

  static bool endsInHalf(std::string_view body) {
    if (body.size() < kEscapeBytes) return false;
    const std::size_t at = body.size() - kEscapeBytes;
    const std::string_view escape = body.substr(at);
    if (!escape.starts_with("\\u") || (escape[2] | 0x20) != 'd' || !std::string_view("89abAB").contains(escape[3])) {
      return false;
    }
    const std::size_t before = body.substr(0, at).find_last_not_of('\\');
    const std::size_t backslashes = before == std::string_view::npos ? at : at - before - 1;
    return backslashes % 2 == 0;
  }

  std::string held_;
  std::uint64_t text_ = 0;
};

/// Makes a raw string from a body that is already escaped.
inline std::string requoted(std::string_view body) {
  return '"' + std::string(body) + '"';
}

inline bool isObject(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && json::check(text).has_value();
}

/// An object whose members can be replaced; all others keep their bytes and their order.
class JsonObjectEditor {
 public:
  explicit JsonObjectEditor(std::string_view object = "{}") {
    json::ObjectReader reader(object);
    while (const auto member = reader.next()) members_.emplace_back(member->key, member->value);
  }

  /// Replaces a member, or adds it at the end. `key` must need no escapes.
  void set(std::string_view key, std::string value) {
    for (auto& [name, old] : members_) {
      if (name == key) {
        old = std::move(value);
        return;
      }
    }
    members_.emplace_back(key, std::move(value));
  }

  void remove(std::string_view key) {
    std::erase_if(members_, [&](const auto& member) { return member.first == key; });
  }

  [[nodiscard]] const std::string* find(std::string_view key) const {
    for (const auto& [name, value] : members_) {
      if (name == key) return &value;
    }
    return nullptr;
  }

  /// Appends to a string member, creating it if it is missing. `body` is already escaped.
  void appendToString(std::string_view key, std::string_view body) {
    for (auto& [name, value] : members_) {
      if (name != key) continue;
      if (value.size() >= 2 && value.back() == '"') {
        value.pop_back();
        value.append(body).push_back('"');
      } else {
        value = requoted(body);
      }
      return;
    }
    members_.emplace_back(key, requoted(body));
  }

  /// Copies every member of another object into this one.
  void merge(std::string_view object) {
    json::ObjectReader reader(object);
    while (const auto member = reader.next()) set(member->key, std::string(member->value));
  }

  [[nodiscard]] std::string text() const {
    std::string out = "{";
    for (const auto& [name, value] : members_) {
      if (out.size() > 1) out += ',';
      out.append("\"").append(name).append("\":").append(value);
    }
    return out + "}";
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

/// The parts of an answer that never became part of a message: unsigned reasoning, and calls that never ran.
class PartialParts {
 public:
  void addThinking(std::string_view body) { thinking_ += body; }
  void addCall(std::string_view name, std::string_view arguments) {
    json::Writer writer(calls_.emplace_back());
    writer.beginObject().member("name", name).member("arguments", arguments).endObject();
  }
  /// Returns JSON, or an empty string when there are no such parts.
  [[nodiscard]] std::string text() const {
    if (thinking_.empty() && calls_.empty()) return {};
    json::Writer writer;
    writer.beginObject();
    if (!thinking_.empty()) writer.key("thinking").raw(requoted(thinking_));
    if (!calls_.empty()) {
      writer.key("toolCalls").beginArray();
      for (const std::string& call : calls_) writer.raw(call);
      writer.endArray();
    }
    return writer.endObject().take();
  }

 private:
  std::string thinking_;  // escaped
  std::vector<std::string> calls_;
};

/// Returns arguments as an object; wraps any other value in one, as conversion does.
inline std::string argumentsObject(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "{}";
  if (isObject(text)) return std::string(text);
  return "{\"arguments\":" + json::quoted(text) + "}";
}

/// Returns the error that a provider reports as {"error":{"message":…,"type" or "code" or "status":…}}, if `text` holds
/// one.
std::optional<Error> providerError(std::string_view text);

/// Joins an endpoint's base URL and a path with one slash.
std::string joinUrl(std::string_view base, std::string_view path);

}  // namespace bough::agent
