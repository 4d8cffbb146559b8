#include "agent/chat/prompt_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "agent/parts/json_parts.h"
#include "base/bytes/base64.h"
#include "base/model/typed_text.h"
#include "base/text/counted.h"
#include "base/try.h"

namespace bough::agent {
namespace {

constexpr std::size_t kTextBytes = std::size_t{256} << 10;
constexpr std::size_t kMediaBytes = std::size_t{5} << 20;  // the smallest limit of all providers
constexpr std::size_t kMostFiles = 50;

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Returns the words that begin with `@`, without the `@`.
std::vector<std::string> filesNamedIn(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '@' || (i > 0 && !isBlank(text[i - 1]) && text[i - 1] != '(')) continue;
    const bool quoted = i + 1 < text.size() && text[i + 1] == '"';
    const std::size_t begin = i + (quoted ? 2 : 1);
    std::size_t end = begin;
    while (end < text.size() && (quoted ? text[end] != '"' : !isBlank(text[end]))) ++end;
    if (end > begin) names.emplace_back(text.substr(begin, end - begin));
    i = end;
  }
  return names;
}

std::string_view mediaTypeOf(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xFF\xD8\xFF")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  if (bytes.starts_with("%PDF-")) return "application/pdf";
  return {};
}

std::string mediaBlock(std::string_view type, std::string_view bytes, std::string_view name) {
  json::Writer writer;
  const bool image = type.starts_with("image/");  // no API takes a name for an image
  writer.beginObject().member("type", image ? "image" : "document");
  writer.member("mediaType", type).member("data", toBase64(bytes));
  if (!image) writer.member("name", name);
  return writer.endObject().take();
}

// Punctuation that may follow a name in a sentence.
constexpr std::string_view kPunctuation = ".,;:!?)'\"";

// Finds the file that a word names. `end.txt.` at the end of a sentence means `end.txt` if that file exists.
std::optional<Place> findFile(const WorkingFolder& folder, const std::string& home, std::string& name) {
  for (std::string tried = name;; tried.pop_back()) {
    const bool atHome = tried.starts_with("~/") && !home.empty();
    auto place = folder.resolve(atHome ? home + tried.substr(1) : tried);
    if (place && WorkingFolder::openFile(*place)) {
      name = tried;
      return std::move(*place);
    }
    if (tried.size() < 2 || kPunctuation.find(tried.back()) == std::string_view::npos) return std::nullopt;
  }
}

// Returns true when the word names a folder, and then removes the punctuation after the name.
bool isFolder(const WorkingFolder& folder, std::string& name) {
  for (std::string tried = name;; tried.pop_back()) {
    const auto place = folder.resolve(tried);
    if (place && WorkingFolder::openFolder(*place)) {
      name = tried;
      return true;
    }
    if (tried.size() < 2 || kPunctuation.find(tried.back()) == std::string_view::npos) return false;
  }
}

struct PromptFile {
  std::string block{};
  std::string description{};  ///< For people: its name, kind and size.
};

Result<PromptFile> readFile(const std::string& name, const Place& place) {
  BOUGH_TRY(const auto content, WorkingFolder::read(place, kMediaBytes + 1));
  const std::string_view media = mediaTypeOf(content.bytes);
  const std::size_t limit = media.empty() ? kTextBytes : kMediaBytes;
  if (content.sizeBytes > limit) {
    return fail(
        ErrorCode::InvalidArgument,
        fmt::format("{} has {} bytes; a prompt takes at most {} of such a file", name, content.sizeBytes, limit),
        media.empty() ? "nothing was sent; name the file without @, so that the model reads it in parts"
                      : "nothing was sent; make the file smaller");
  }
  const std::string size = counted(content.sizeBytes, "byte");
  if (!media.empty()) {
    const char* kind = media.starts_with("image/") ? "image" : "PDF";
    return PromptFile{mediaBlock(media, content.bytes, name), fmt::format("{} ({}, {})", name, kind, size)};
  }
  if (content.bytes.find('\0') != std::string::npos || !json::check(json::quoted(content.bytes))) {
    return fail(ErrorCode::InvalidArgument, fmt::format("{} is neither text in UTF-8 nor an image nor a PDF", name),
                "nothing was sent; name the file without @");
  }
  return PromptFile{textBlock(fileBlock(name, content.bytes)), fmt::format("{} ({})", name, size)};
}

}  // namespace

Result<ReadPrompt> readPromptFiles(const std::string& text, const WorkingFolder& folder, const std::string& home,
                                   bool allowOutside) {
  ReadPrompt read{.message = text};
  std::vector<std::string> taken;
  std::vector<std::string> sent;
  for (std::string& name : filesNamedIn(text)) {
    const auto place = findFile(folder, home, name);
    if (!place) {
      // People's names begin with @, too; only a word that looks like a path was meant as a file.
      if (isFolder(folder, name)) {
        read.notices.push_back(fmt::format("@{} is a folder; only its name is sent", name));
      } else if (name.find_first_of("/.") != std::string::npos) {
        read.notices.push_back(fmt::format("@{} names no file; it is sent as text", name));
      }
      continue;
    }
    if (std::ranges::find(taken, place->path) != taken.end()) continue;
    if (!place->inside && !allowOutside) {
      return fail(ErrorCode::InvalidArgument, fmt::format("@{} is outside of {}", name, folder.path()),
                  "nothing was sent; lines from a pipe may name files of the working folder only");
    }
    if (taken.size() == kMostFiles) {
      return fail(ErrorCode::InvalidArgument, fmt::format("the prompt names more than {} files", kMostFiles),
                  "nothing was sent; name fewer files with @");
    }
    BOUGH_TRY(PromptFile file, readFile(name, *place));
    read.message.blocks.push_back(std::move(file.block));
    sent.push_back(std::move(file.description));
    taken.push_back(place->path);
  }
  if (!sent.empty()) read.notices.push_back(fmt::format("sent with it: {}", fmt::join(sent, ", ")));
  return read;
}

}  // namespace bough::agent
