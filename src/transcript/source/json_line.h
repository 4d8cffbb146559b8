// Small helpers for readers and writers of JSON lines.
#pragma once

#include <string>
#include <string_view>

#include "base/json/json_scan.h"

namespace bough::transcript {

/// The members of an object, found by name. Values are slices of the object.
class Members {
 public:
  explicit Members(std::string_view object) : object_(object) {}

  /// Returns the raw value; empty when the member is absent.
  [[nodiscard]] std::string_view raw(std::string_view name) const {
    return json::findMember(object_, name).value_or(std::string_view());
  }
  /// Returns the text of a string member; empty when it is absent or not a string.
  [[nodiscard]] std::string text(std::string_view name) const { return json::findString(object_, name).value_or(""); }
  [[nodiscard]] bool has(std::string_view name) const { return json::findMember(object_, name).has_value(); }
  [[nodiscard]] bool isTrue(std::string_view name) const { return raw(name) == "true"; }
  [[nodiscard]] bool isString(std::string_view name) const { return kindIs(name, json::Kind::String); }
  [[nodiscard]] bool isArray(std::string_view name) const { return kindIs(name, json::Kind::Array); }
  [[nodiscard]] bool isObject(std::string_view name) const { return kindIs(name, json::Kind::Object); }

 private:
  [[nodiscard]] bool kindIs(std::string_view name, json::Kind kind) const {
    const std::string_view value = raw(name);
    return !value.empty() && json::kindOf(value) == kind;
  }

  std::string_view object_;
};

/// Returns a JSON value that is a time as RFC 3339. The value is a string of that form, or a number of seconds or (from
/// 10^11 on) milliseconds since 1970. Returns an empty string for any other value.
std::string timeText(std::string_view value);

}  // namespace bough::transcript
