#include "transcript/model/origin.h"

#include <algorithm>
#include <charconv>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/text/utf8.h"

namespace bough::transcript {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string toHex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHexDigits[byte >> 4U];
    out += kHexDigits[byte & 15U];
  }
  return out;
}

std::optional<std::string> fromHex(std::string_view hex) {
  std::string out;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    const std::size_t high = kHexDigits.find(hex[at]);
    const std::size_t low = kHexDigits.find(hex[at + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return hex.size() % 2 == 0 ? std::optional(out) : std::nullopt;
}

void writePiece(json::Writer& writer, std::string_view piece) {
  if (isUtf8(piece)) {
    writer.string(piece);
  } else {
    writer.beginObject().member("hex", toHex(piece)).endObject();
  }
}

// Returns the holes that can be cut out, in the order of the line: inside the line, without overlap, and without line
// breaks, which are not stored verbatim.
std::vector<Hole> usable(std::string_view raw, std::vector<Hole> holes) {
  const auto isUsable = [&](const Hole& hole) {
    return hole.slice.data() >= raw.data() && hole.slice.data() + hole.slice.size() <= raw.data() + raw.size() &&
           !hole.slice.empty() && !hole.slice.contains('\n') && !hole.slice.contains('\r');
  };
  std::erase_if(holes, [&](const Hole& hole) { return !isUsable(hole); });
  std::ranges::sort(holes, {}, [](const Hole& hole) { return hole.slice.data(); });
  std::vector<Hole> apart;
  for (Hole& hole : holes) {
    if (!apart.empty() && hole.slice.data() < apart.back().slice.data() + apart.back().slice.size()) continue;
    apart.push_back(std::move(hole));
  }
  return apart;
}

}  // namespace

void appendOrigin(std::string& payload, const Origin& origin, std::string_view raw, std::vector<Hole> holes) {
  payload += payload.size() > 1 ? ",\"transcript\":" : "\"transcript\":";
  json::Writer writer(payload);
  writer.beginObject().member("agent", origin.agent).member("at", origin.offset);
  if (!origin.lineKind.empty()) writer.member("what", origin.lineKind);
  if (origin.torn) writer.member("torn", true);
  if (origin.differsFromLine) writer.member("fixed", true);
  if (!raw.empty()) {
    holes = usable(raw, std::move(holes));
    writer.key("line").beginArray();
    const char* at = raw.data();
    for (const Hole& hole : holes) {
      writePiece(writer, {at, hole.slice.data()});
      at = hole.slice.data() + hole.slice.size();
    }
    writePiece(writer, {at, raw.data() + raw.size()});
    writer.endArray();
    if (!holes.empty()) {
      writer.key("holes").beginArray();
      for (const Hole& hole : holes) writer.string(hole.path);
      writer.endArray();
    }
  }
  if (origin.sizeBytes > 0) writer.member("size", origin.sizeBytes);
  if (origin.carries) {
    writer.list("carries", origin.carries->ids);
    if (origin.carries->own != CarriedIds::kNone) writer.member("own", origin.carries->own);
  }
  writer.endObject();
}

namespace {

// Finds values by their paths, as valueAt() does. The elements of a list are usually requested in order; then the list
// is scanned once.
class ValueFinder {
 public:
  explicit ValueFinder(std::string_view json) : json_(json) {}

  std::string_view at(std::string_view path) {
    // The last path component that is a number.
    std::size_t begin = 0;
    std::size_t end = std::string_view::npos;
    for (std::size_t from = 0; from < path.size();) {
      const std::size_t slash = std::min(path.find('/', from), path.size());
      const bool isNumber =
          slash > from && path.substr(from, slash - from).find_first_not_of("0123456789") == std::string_view::npos;
      if (isNumber && from > 0) {
        begin = from;
        end = slash;
      }
      from = slash + 1;
    }
    if (end == std::string_view::npos) return valueAt(json_, path);
    std::size_t place = 0;
    std::from_chars(path.data() + begin, path.data() + end, place);
    const std::string_view element = elementAt(path.substr(0, begin - 1), place);
    return end == path.size() ? element : valueAt(element, path.substr(end + 1));
  }

 private:
  std::string_view elementAt(std::string_view list, std::size_t place) {
    if (!elements_ || list != list_ || place + 1 < next_) {
      const std::string_view value = valueAt(json_, list);
      // Members of an object can also be named by numbers.
      if (value.empty() || json::kindOf(value) != json::Kind::Array) return valueAt(value, std::to_string(place));
      list_ = list;
      elements_.emplace(value);
      next_ = 0;
      element_ = {};
    }
    for (; next_ <= place; ++next_) {
      const auto element = elements_->next();
      element_ = element.value_or("");
      if (!element) return {};
    }
    return element_;
  }

  std::string_view json_;
  std::string list_;
  std::optional<json::ArrayReader> elements_;
  std::size_t next_ = 0;
  std::string_view element_;
};

std::optional<CarriedIds> carriedIdsIn(std::string_view origin) {
  const auto list = json::findMember(origin, "carries");
  if (!list || json::kindOf(*list) != json::Kind::Array) return std::nullopt;
  CarriedIds carried;
  json::ArrayReader elements(*list);
  while (const auto element = elements.next()) carried.ids.push_back(json::decodeString(*element).value_or(""));
  if (const auto own = json::findUnsigned(origin, "own"); own && *own < carried.ids.size()) carried.own = *own;
  return carried;
}

}  // namespace

std::optional<Origin> originOf(const Entry& entry) {
  const auto member = json::findMember(entry.payload, "transcript");
  if (!member || json::kindOf(*member) != json::Kind::Object) return std::nullopt;
  auto agent = json::findString(*member, "agent");
  const auto at = json::findUnsigned(*member, "at");
  if (!agent || !at) return std::nullopt;
  Origin origin;
  origin.agent = std::move(*agent);
  origin.offset = *at;
  origin.sizeBytes = json::findUnsigned(*member, "size").value_or(0);
  origin.lineKind = json::findString(*member, "what").value_or("");
  origin.hasLine = json::findMember(*member, "line").has_value();
  origin.torn = json::findMember(*member, "torn") == "true";
  origin.differsFromLine = json::findMember(*member, "fixed") == "true";
  if (entry.type == entry_type::kSessionInfo) origin.carries = carriedIdsIn(*member);
  return origin;
}

std::optional<std::string> lineOf(const Entry& entry) {
  const auto member = json::findMember(entry.payload, "transcript");
  const auto line = member ? json::findMember(*member, "line") : std::nullopt;
  if (!line || json::kindOf(*line) != json::Kind::Array) return std::nullopt;
  const auto list = json::findMember(*member, "holes");
  json::ArrayReader holes(list.value_or("[]"));
  ValueFinder values(entry.payload);
  std::string out;
  json::ArrayReader pieces(*line);
  bool first = true;
  while (const auto piece = pieces.next()) {
    if (!first) {
      const auto path = holes.next();
      const auto text = path ? json::decodeString(*path) : std::nullopt;
      const std::string_view value = text ? values.at(*text) : std::string_view();
      if (value.empty()) return std::nullopt;
      out += value;
    }
    first = false;
    auto text = json::kindOf(*piece) == json::Kind::String ? json::decodeString(*piece)
                                                           : fromHex(json::findString(*piece, "hex").value_or("x"));
    if (!text) return std::nullopt;
    out += *text;
  }
  return out;
}

std::string_view valueAt(std::string_view json, std::string_view path) {
  while (!path.empty() && !json.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view step = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (json::kindOf(json) == json::Kind::Object) {
      json = json::findMember(json, step).value_or("");
    } else if (json::kindOf(json) == json::Kind::Array) {
      std::size_t place = 0;
      std::from_chars(step.data(), step.data() + step.size(), place);
      json::ArrayReader elements(json);
      std::optional<std::string_view> element = elements.next();
      for (; element && place > 0; --place) element = elements.next();
      json = element.value_or("");
    } else {
      json = {};
    }
  }
  return json;
}

}  // namespace bough::transcript
