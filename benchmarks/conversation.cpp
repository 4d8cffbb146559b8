#include "conversation.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/text/timestamp.h"
#include "bough/entry.h"
#include "bough/store.h"
#include "harness.h"
#include "log/format/line.h"

namespace bough::bench {
namespace {

constexpr std::uint64_t kBegin = 1'790'000'000'000;

class Words {
 public:
  explicit Words(std::uint64_t seed) : state_(seed * 2 + 1) {
    constexpr std::array<const char*, 16> kSyllables = {"ka",  "lo",  "mi",  "ter", "ver", "sto", "re", "en",
                                                        "try", "bra", "nch", "log", "ses", "si",  "on", "ix"};
    for (std::uint64_t i = 0; i < 30'000; ++i) {
      std::string word;
      for (std::uint64_t rest = i + 17; rest > 0; rest /= 16) word += kSyllables[rest % 16];
      words_.push_back(std::move(word));
    }
  }
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  // A few words are frequent, and most are rare.
  const std::string& word() {
    const double place = std::pow(static_cast<double>(next() % 1'000'000) / 1e6, 3.0);
    return words_[static_cast<std::size_t>(place * static_cast<double>(words_.size() - 1))];
  }
  std::string text(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      const std::uint64_t kind = next() % 40;
      text += kind == 0   ? "会话在崩溃之后可以完整恢复 "
              : kind == 1 ? "return " + word() + "(" + word() + ");\\n"
                          : word() + " ";
    }
    return text;
  }

 private:
  std::uint64_t state_;
  std::vector<std::string> words_;
};

// The log of one session, written without a sync, because it is only read here.
class Log {
 public:
  Log(const std::string& folder, const std::string& sessionId)
      : file_(folder + "/sessions/" + sessionId + ".jsonl", std::ios::binary) {
    Entry header;
    header.id = sessionId + "-h";
    header.type = entry_type::kSessionHeader;
    header.timestamp = formatTimestamp(kBegin);
    header.payload = fmt::format(R"({{"format":1,"sessionId":"{}","key":"main:cli:me","cwd":"/home/me"}})", sessionId);
    add(header);
  }
  void add(const Entry& entry) {
    text_.clear();
    line_.clear();
    require(jsonEntrySerializer().encode(entry, text_).has_value(), "encoding an entry");
    seal_ = appendSealedLine(line_, text_, seal_, 1, 1);
    file_ << line_;
  }

 private:
  std::ofstream file_;
  SealDigits seal_;
  std::string text_;
  std::string line_;
};

Entry makeEntry(const std::string& id, const std::string& parent, std::uint64_t timeMs, const std::string& message) {
  Entry entry;
  entry.id = id;
  entry.parentId = parent;
  entry.type = entry_type::kMessage;
  entry.timestamp = formatTimestamp(timeMs);
  entry.payload = R"({"dialect":"anthropic","message":)" + message + "}";
  return entry;
}

std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n';
    plain += escape ? '\n' : text[i];
    if (escape) ++i;
  }
  return plain;
}

}  // namespace

Conversations writeConversations(const std::string& folder, std::uint64_t bytes) {
  constexpr std::uint64_t kSessions = 100;
  Conversations made{.store = folder + "/store",
                     .claude = folder + "/claude",
                     .texts = folder + "/texts",
                     .rareWord = "zanzibarometer",
                     .entries = 0};
  require(SessionStore::open(made.store).has_value(), "making a store");
  const std::string project = made.claude + "/projects/-home-me";
  std::filesystem::create_directories(project);
  std::ofstream texts(made.texts, std::ios::binary);
  Words words(1);
  for (std::uint64_t s = 0; s < kSessions; ++s) {
    const std::string session = fmt::format("{:08x}-0000-7000-8000-{:012x}", s, s * 7919);
    Log log(made.store, session);
    std::ofstream claude(project + "/" + session + ".jsonl", std::ios::binary);
    std::string parent;
    std::uint64_t written = 0;
    for (std::uint64_t i = 0; written < bytes / kSessions; ++i) {
      const std::uint64_t kind = words.next() % 10;
      std::string text = words.text(kind < 5 ? 200 + words.next() % 1500 : 1500 + words.next() % 14'000);
      if (i == 7 && s % 5 == 0) text += made.rareWord;
      const bool answer = i % 2 == 1;
      const std::string id = fmt::format("{:08x}-{:04x}-7000-8000-{:012x}", i, s, i * 7919);
      const std::uint64_t timeMs = kBegin + s * 86'400'000 + i * 3000;
      const std::string message =
          answer ? fmt::format(R"({{"id":"msg_{}_{}","type":"message","role":"assistant","model":"claude-sonnet-4-5",)"
                               R"("content":[{{"type":"text","text":"{}"}}],"stop_reason":"end_turn","usage":{{)"
                               R"("input_tokens":{},"output_tokens":{},"cache_read_input_tokens":{},)"
                               R"("cache_creation_input_tokens":{}}}}})",
                               s, i, text, words.next() % 3000, words.next() % 2000, words.next() % 50'000,
                               words.next() % 4000)
                 : fmt::format(R"({{"role":"user","content":[{{"type":"text","text":"{}"}}]}})", text);
      log.add(makeEntry(id, parent, timeMs, message));
      const std::string above = parent.empty() ? "null" : '"' + parent + '"';
      claude << fmt::format(
          R"({{"parentUuid":{},"isSidechain":false,"type":"{}","message":{},"requestId":"req_{}_{}","uuid":"{}",)"
          R"("timestamp":"{}","sessionId":"{}","cwd":"/home/me","version":"2.1.325","userType":"external"}})"
          "\n",
          above, answer ? "assistant" : "user", message, s, i, id, formatTimestamp(timeMs), session);
      const std::string plain = unescaped(text);
      const std::uint64_t size = plain.size();
      texts.write(reinterpret_cast<const char*>(&size), sizeof size);
      texts << plain;
      parent = id;
      written += message.size() + 200;
      ++made.entries;
    }
  }
  return made;
}

void writeManySessions(const std::string& folder, std::uint64_t count) {
  require(SessionStore::open(folder).has_value(), "making a store");
  Words words(2);
  for (std::uint64_t s = 0; s < count; ++s) {
    const std::string session = fmt::format("{:08x}-0000-7000-8000-{:012x}", s, s * 7919);
    Log log(folder, session);
    log.add(makeEntry(session + "-m", "", kBegin + s * 1000,
                      fmt::format(R"({{"role":"user","content":[{{"type":"text","text":"{}"}}]}})", words.text(80))));
  }
}

}  // namespace bough::bench
