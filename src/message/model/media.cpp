#include "message/model/media.h"

#include <algorithm>
#include <array>

#include "base/json/json_scan.h"
#include "message/model/dialects.h"

namespace bough::message {
namespace {

bool isBase64(std::string_view data) {
  static constexpr auto kTable = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")) {
      table[static_cast<unsigned char>(c)] = true;
    }
    return table;
  }();
  if (data.empty() || data.size() % 4 != 0) return false;
  for (int i = 0; i < 2 && data.ends_with('='); ++i) data.remove_suffix(1);
  return std::ranges::all_of(data, [](char c) { return kTable[static_cast<unsigned char>(c)]; });
}

bool isWebAddress(std::string_view address) {
  return address.starts_with("https:") || address.starts_with("http:");
}

bool isSoundOrFilm(std::string_view type) {
  return type.starts_with("audio/") || type.starts_with("video/");
}

struct Extension {
  std::string_view ending;
  std::string_view type;
};
constexpr Extension kExtensions[] = {
    {".png", "image/png"},   {".gif", "image/gif"},       {".webp", "image/webp"},       {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"}, {".pdf", "application/pdf"}, {".txt", "text/plain"},        {".html", "text/html"},
    {".csv", "text/csv"},    {".md", "text/markdown"},    {".json", "application/json"}, {".mp4", "video/mp4"},
    {".mp3", "audio/mp3"},   {".wav", "audio/wav"}};

}  // namespace

std::string_view mediaTypeOf(const Block& block) {
  if (!block.type.empty() && !block.type.escaped.contains('\\')) return block.type.escaped;
  if (block.type.escaped.contains("\\/")) {
    for (const Extension& extension : kExtensions) {
      if (block.type.decode() == extension.type) return extension.type;
    }
  }
  std::string_view address = block.source == MediaSource::Url ? block.text.escaped : block.name.escaped;
  address = address.substr(0, address.find_first_of("?#"));
  for (const Extension& extension : kExtensions) {
    if (address.ends_with(extension.ending)) return extension.type;
  }
  return block.kind == BlockKind::Image ? "image/jpeg" : "application/pdf";
}

std::string_view fileNameOf(std::string_view type) {
  static constexpr Extension kNames[] = {{"document.txt", "text/plain"},
                                         {"document.html", "text/html"},
                                         {"document.csv", "text/csv"},
                                         {"document.md", "text/markdown"},
                                         {"document.json", "application/json"}};
  const auto* const found = std::ranges::find(kNames, type, &Extension::type);
  return found == std::end(kNames) ? "document.pdf" : found->ending;
}

std::string_view titleName(Dialect dialect) {
  switch (dialect) {
    case Dialect::Anthropic: return "title";
    case Dialect::Gemini: return "displayName";
    case Dialect::Bough: return "name";
    default: return "filename";
  }
}

// OpenAI has the title in the file name; Gemini has no title.
bool canHoldTitle(Dialect target, const Block& block, bool asMedia) {
  if (target == Dialect::Bough) return true;
  if (block.kind != BlockKind::Document || !asMedia) return false;
  const bool isFile = block.source == MediaSource::Base64 && !mediaTypeOf(block).starts_with("audio/");
  return target == Dialect::Anthropic || (isOpenai(target) && isFile);
}

bool canHoldMedia(Dialect target, Role role, const Block& block, Dialect from) {
  if (target == Dialect::Bough) return true;
  if (role == Role::Assistant && target != Dialect::Gemini) return false;
  if (role == Role::System) return false;
  const std::string_view type = mediaTypeOf(block);
  const bool image = block.kind == BlockKind::Image;
  switch (block.source) {
    case MediaSource::Base64:
      if (!isBase64(block.text.escaped)) return false;
      if (target == Dialect::Anthropic) {
        return image ? type == "image/png" || type == "image/jpeg" || type == "image/gif" || type == "image/webp"
                     : type == "application/pdf";
      }
      if (target == Dialect::OpenaiChat && type.starts_with("audio/"))
        return type == "audio/wav" || type == "audio/mp3";
      return target == Dialect::Gemini || !isSoundOrFilm(type);
    case MediaSource::Url:
      if (!isWebAddress(block.text.escaped)) return false;
      if (image) return true;
      if (target == Dialect::Anthropic) return type == "application/pdf";
      return target == Dialect::Gemini || (target == Dialect::OpenaiResponses && !isSoundOrFilm(type));
    case MediaSource::FileId:
      if (!isOpenai(target) || !isOpenai(from)) return false;
      return !image || target == Dialect::OpenaiResponses;
    case MediaSource::Text:
      return target == Dialect::Anthropic && !image && (block.type.empty() || type == "text/plain");
    case MediaSource::None: break;
  }
  return false;
}

std::string_view detailOf(const Block& block) {
  if (block.kind != BlockKind::Image) return {};
  const auto inner = json::findMember(block.raw, "image_url");  // In Chat this is an object, in Responses a string.
  const bool isChat = inner && inner->starts_with('{');
  if (!isChat && json::findString(block.raw, "type") != "input_image") return {};
  const auto detail = json::findMember(isChat ? *inner : block.raw, "detail");
  return detail && detail->starts_with('"') ? *detail : std::string_view();
}

}  // namespace bough::message
