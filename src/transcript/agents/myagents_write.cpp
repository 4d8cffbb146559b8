// Writes sessions as lines of MyAgents (myagents.cpp describes them).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes/base64.h"
#include "base/bytes/sha256.h"
#include "base/json/json_write.h"
#include "transcript/agents/myagents.h"
#include "transcript/source/json_line.h"
#include "transcript/source/nearby_files.h"

namespace bough::transcript {
namespace {

// The bytes of an image in a message of Anthropic's dialect.
struct ImageBytes {
  std::string type;
  std::string bytes;
};

std::optional<ImageBytes> imageIn(std::string_view block) {
  if (json::findString(block, "type") != "image") return std::nullopt;
  const auto source = json::findMember(block, "source");
  if (!source || json::findString(*source, "type") != "base64") return std::nullopt;
  auto bytes = fromBase64(json::findString(*source, "data").value_or("="));
  auto type = json::findString(*source, "media_type");
  if (!bytes || bytes->empty() || !type) return std::nullopt;
  return ImageBytes{.type = std::move(*type), .bytes = std::move(*bytes)};
}

// Returns whether a part of a file name is safe. MyAgents allows the same characters in session ids.
bool isPlainName(std::string_view name) {
  constexpr std::size_t kLongest = 99;
  return !name.empty() && name.size() <= kLongest &&
         std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; });
}

// Writes a line for each message. Results are in the line of their calls, where MyAgents shows them; it would show
// blocks in a line of the user as the user's words.
class MyAgentsWriter : public Writer {
 public:
  void begin(const TranscriptFacts&, std::string&) override {}

  // The files that a line names may no longer exist; the entry has the bytes that were read from them.
  void copied(const Item& item, std::string_view line) override {
    if (!keepsBeside || !line.contains(R"("attachments")")) return;
    const std::string_view list = json::findMember(line, "attachments").value_or("");
    const auto message = json::findMember(item.entry->payload, "message");
    const auto content = message ? json::findMember(*message, "content") : std::nullopt;
    if (list.empty() || !content || json::kindOf(list) != json::Kind::Array) return;
    std::vector<std::string> names;
    json::ArrayReader attachments(list);
    while (const auto each = attachments.next()) names.push_back(json::findString(*each, "path").value_or(""));
    // The attached images are the last blocks, after those of the content.
    std::vector<std::string_view> blocks;
    json::ArrayReader elements(*content);
    while (const auto element = elements.next()) blocks.push_back(*element);
    for (std::size_t i = 0; i < names.size() && blocks.size() >= names.size(); ++i) {
      auto image = imageIn(blocks[blocks.size() - names.size() + i]);
      if (image && staysInFolder(names[i])) beside.push_back({.name = names[i], .bytes = std::move(image->bytes)});
    }
  }

  void item(const Item& item, std::string& out) override {
    std::uint32_t part = 0;
    for (std::size_t i = 0; i < item.messages.size(); ++i) {
      results_.clear();
      for (std::size_t k = i + 1; k < item.messages.size(); ++k) noteResults(item.messages[k]);
      for (const std::string& answer : item.answers) noteResults(answer);
      const auto rest = withoutJoined(item.messages[i]);
      if (rest) line(item, Members(*rest), part++, out);
    }
    isInEarlierLine = part == 0 && !item.messages.empty();
    addLossyType(item);
  }

 private:
  // Notes the results in a message, by the ids of their calls.
  void noteResults(std::string_view message) {
    const Members parts(message);
    if (parts.text("role") != "user" || !parts.isArray("content")) return;
    json::ArrayReader elements(parts.raw("content"));
    while (const auto element = elements.next()) {
      if (json::findString(*element, "type") != "tool_result") continue;
      results_.try_emplace(json::findString(*element, "tool_use_id").value_or(""), *element);
    }
  }

  // Returns a message without the results that are in the lines of their calls; std::nullopt when nothing is left.
  std::optional<std::string> withoutJoined(const std::string& message) {
    const Members parts(message);
    if (joined_.empty() || parts.text("role") != "user" || !parts.isArray("content")) return message;
    json::Writer writer;
    writer.beginObject().member("role", "user").key("content").beginArray();
    bool isLeft = false;
    json::ArrayReader elements(parts.raw("content"));
    while (const auto element = elements.next()) {
      const bool isResult = json::findString(*element, "type") == "tool_result";
      if (isResult && joined_.erase(json::findString(*element, "tool_use_id").value_or("")) > 0) continue;
      writer.raw(*element);
      isLeft = true;
    }
    if (!isLeft) return std::nullopt;
    return writer.endArray().endObject().take();
  }

  // Writes a result into the object of its call. MyAgents' results are texts.
  void joinResult(const std::string& callId, json::Writer& writer) {
    const auto found = results_.find(callId);
    if (found == results_.end()) return;
    const Members result(found->second);
    writer.key("result");
    if (result.isArray("content")) {
      std::string text;
      std::size_t texts = 0;
      json::ArrayReader parts(result.raw("content"));
      while (const auto part = parts.next()) {
        const std::string type = json::findString(*part, "type").value_or("");
        if (type != "text") {
          lossyFields.push_back(fmt::format("tool_result.{}", type));
          continue;
        }
        if (texts++ > 0) text += '\n';
        text += json::findString(*part, "text").value_or("");
      }
      if (texts > 1) lossyFields.emplace_back("tool_result.texts");
      writer.string(text);
    } else {
      writer.string(result.text("content"));
    }
    if (result.isTrue("is_error")) writer.member("isError", true);
    results_.erase(found);
    joined_.insert(callId);
  }

  void line(const Item& item, const Members& message, std::uint32_t part, std::string& out) {
    json::Writer writer(out);
    const std::string id = part == 0 ? item.entry->id : fmt::format("{}.{}", item.entry->id, part);
    writer.beginObject().member("id", id).member("role", message.text("role")).key("content");
    auto typed = message.text("role") == "user" ? typedIn(message.raw("content")) : std::nullopt;
    if (typed) {
      writer.string(typed->words);
    } else if (message.isString("content") && blocksIn(message.text("content")).empty()) {
      writer.raw(message.raw("content"));
    } else if (message.isString("content")) {
      writer.string(textBlocks(message.raw("content")));
    } else {
      // An empty list would be read as the words "[]".
      const std::string content = blocks(message.raw("content"));
      writer.string(content == "[]" ? std::string_view() : std::string_view(content));
    }
    writer.member("timestamp", item.entry->timestamp);
    if (typed && !typed->images.empty()) attach(typed->images, writer);
    if (message.isObject("usage") && !item.isMoreOfAnswer) usage(writer, message);
    writer.endObject();
    out += '\n';
  }

  // What a person said. MyAgents shows the words of a user's message only when its content is a string, and shows
  // pictures only from files and before the words.
  struct Typed {
    std::string words;
    std::vector<ImageBytes> images;
  };

  [[nodiscard]] std::optional<Typed> typedIn(std::string_view content) const {
    if (json::kindOf(content) != json::Kind::Array) return std::nullopt;
    Typed typed;
    json::ArrayReader elements(content);
    while (const auto element = elements.next()) {
      const auto text =
          json::findString(*element, "type") == "text" ? json::findString(*element, "text") : std::nullopt;
      auto image = text || !keepsBeside ? std::nullopt : imageIn(*element);
      // In a file that is not for MyAgents' own folder, each text stays a block of its own.
      if (text && !text->empty() && (typed.words.empty() || keepsBeside)) {
        typed.words += (typed.words.empty() ? "" : "\n\n") + *text;
      } else if (image && !fileOf(*image).empty()) {
        typed.images.push_back(std::move(*image));
      } else {
        return std::nullopt;
      }
    }
    const bool isEmptyMessage = typed.words.empty() && typed.images.empty();
    return isEmptyMessage || !blocksIn(typed.words).empty() ? std::nullopt : std::optional(std::move(typed));
  }

  // Returns the name that MyAgents gives such a file; empty when the image cannot have one.
  [[nodiscard]] std::string fileOf(const ImageBytes& image) const {
    constexpr std::size_t kIdDigits = 32;
    const std::string ending = image.type.substr(image.type.find('/') + 1);
    if (!image.type.starts_with("image/") || !isPlainName(ending) || !isPlainName(sessionId)) return {};
    return fmt::format("{}/{}.{}", sessionId, Sha256::of(image.bytes).substr(0, kIdDigits), ending);
  }

  void attach(std::vector<ImageBytes>& images, json::Writer& writer) {
    writer.key("attachments").beginArray();
    for (ImageBytes& image : images) {
      const std::string path = fileOf(image);
      const std::string name = nameOf(path);
      writer.beginObject().member("id", name.substr(0, name.find('.'))).member("name", name);
      writer.member("mimeType", image.type).member("path", path).endObject();
      beside.push_back({.name = path, .bytes = std::move(image.bytes)});
    }
    writer.endArray();
  }

  // Wraps words that would otherwise be read as blocks.
  static std::string textBlocks(std::string_view words) {
    std::string out;
    json::Writer writer(out);
    writer.beginArray().beginObject().member("type", "text").key("text").raw(words).endObject().endArray();
    return out;
  }

  static void usage(json::Writer& writer, const Members& message) {
    const auto count = [&](std::string_view name) {
      return json::findUnsigned(message.raw("usage"), name).value_or(0);
    };
    writer.key("usage").beginObject();
    writer.member("inputTokens", count("input_tokens")).member("outputTokens", count("output_tokens"));
    writer.member("cacheReadTokens", count("cache_read_input_tokens"));
    writer.member("cacheCreationTokens", count("cache_creation_input_tokens"));
    if (message.isString("model")) writer.member("model", message.text("model"));
    writer.endObject();
  }

  // Returns the blocks in the form of MyAgents: a tool use has an object of its own, which also holds its result.
  std::string blocks(std::string_view content) {
    json::Writer writer;
    writer.beginArray();
    json::ArrayReader elements(content);
    while (const auto element = elements.next()) {
      if (json::findString(*element, "type") != "tool_use") {
        writer.raw(*element);
        continue;
      }
      const Members use(*element);
      writer.beginObject().member("type", "tool_use").key("tool").beginObject().member("id", use.text("id"));
      writer.member("name", use.text("name")).key("input").raw(use.isObject("input") ? use.raw("input") : "{}");
      joinResult(use.text("id"), writer);
      writer.endObject().endObject();
    }
    return writer.endArray().take();
  }

  std::unordered_map<std::string, std::string> results_;  // by id of the call: results that follow the current message
  std::unordered_set<std::string> joined_;                // calls whose results are in their lines
};

}  // namespace

std::string blocksIn(const std::string& content) {
  if (!content.starts_with('[') || !json::check(content)) return {};
  json::ArrayReader elements(content);
  std::size_t count = 0;
  while (const auto element = elements.next()) {
    if (json::kindOf(*element) != json::Kind::Object || !json::findMember(*element, "type")) return {};
    ++count;
  }
  return count > 0 ? content : std::string();
}

std::unique_ptr<Writer> makeMyAgentsWriter() {
  return std::make_unique<MyAgentsWriter>();
}

}  // namespace bough::transcript
