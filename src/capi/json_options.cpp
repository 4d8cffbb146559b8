#include "capi/json_options.h"

#include <fmt/format.h>

#include "base/json/json_scan.h"

namespace bough::capi {

JsonOptions::JsonOptions(std::string_view text) {
  if (text.empty()) return;
  if (const auto checked = json::check(text); !checked) {
    problem_ =
        fmt::format("the options are not valid JSON at byte {}: {}", checked.error().offset, checked.error().reason);
    return;
  }
  json::ObjectReader reader(text);
  while (const auto member = reader.next()) {
    std::string name;
    json::appendDecoded(name, member->key);
    // Null counts as absent.
    if (json::kindOf(member->value) != json::Kind::Null) members_.push_back({std::move(name), member->value});
  }
  if (reader.error()) problem_ = "the options are not a JSON object";
}

JsonOptions::Member* JsonOptions::find(std::string_view name) {
  for (Member& member : members_) {
    if (member.name != name || member.isKnown) continue;
    member.isKnown = true;
    return &member;
  }
  return nullptr;
}

void JsonOptions::setProblem(std::string_view name, std::string_view what) {
  if (problem_.empty()) problem_ = fmt::format("the option \"{}\" is not {}", name, what);
}

void JsonOptions::read(std::string_view name, std::optional<std::string>& value) {
  const Member* member = find(name);
  if (member == nullptr) return;
  value = json::decodeString(member->value);
  if (!value) setProblem(name, "a text");
}

void JsonOptions::read(std::string_view name, std::string& value) {
  std::optional<std::string> parsed;
  read(name, parsed);
  if (parsed) value = std::move(*parsed);
}

void JsonOptions::read(std::string_view name, bool& value) {
  const Member* member = find(name);
  if (member == nullptr) return;
  const json::Kind kind = json::kindOf(member->value);
  if (kind != json::Kind::True && kind != json::Kind::False) return setProblem(name, "true or false");
  value = kind == json::Kind::True;
}

void JsonOptions::read(std::string_view name, std::optional<std::uint64_t>& value) {
  const Member* member = find(name);
  if (member == nullptr) return;
  // The number readers look up members by name, so wrap the value in an object.
  value = json::findUnsigned(fmt::format("{{\"n\":{}}}", member->value), "n");
  if (!value) setProblem(name, "a whole number");
}

void JsonOptions::read(std::string_view name, std::uint64_t& value) {
  std::optional<std::uint64_t> parsed;
  read(name, parsed);
  if (parsed) value = *parsed;
}

void JsonOptions::read(std::string_view name, std::vector<std::string>& values) {
  const Member* member = find(name);
  if (member == nullptr) return;
  json::ArrayReader reader(member->value);
  while (const auto element = reader.next()) {
    auto text = json::decodeString(*element);
    if (!text) return setProblem(name, "a list of texts");
    values.push_back(std::move(*text));
  }
  if (reader.error()) setProblem(name, "a list of texts");
}

void JsonOptions::readRaw(std::string_view name, std::optional<std::string>& value) {
  if (const Member* member = find(name)) value = std::string(member->value);
}

Outcome JsonOptions::outcome() const {
  if (!problem_.empty()) return refuse(problem_);
  for (const Member& member : members_) {
    if (!member.isKnown) return refuse(fmt::format("there is no option \"{}\", or it is given twice", member.name));
  }
  return {};
}

}  // namespace bough::capi
