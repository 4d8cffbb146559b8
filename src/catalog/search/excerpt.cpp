#include "catalog/search/excerpt.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bough/catalog.h"
#include "catalog/database/database.h"

namespace bough::catalog {
namespace {

constexpr std::string_view kEllipsis = "…";
// A word, or the text between two words, that is longer than twice this is shown with only this much of each end.
constexpr std::size_t kShownEnd = 200;

// A match of a phrase of the query. Positions count words; `end` is the word after the match.
struct Hit {
  int phrase = 0;
  int begin = 0;
  int end = 0;
};

// The text of the excerpt, in words.
struct Subject {
  std::vector<Hit> hits;  // Ordered by `begin`.
  std::vector<int> sentences;
  int phrases = 0;
  int words = 0;
};

// A window of `length` words that only moves forward, so each hit enters and leaves it once.
class Window {
 public:
  Window(const Subject& subject, int length)
      : hits_(subject.hits), length_(length), held_(static_cast<std::size_t>(subject.phrases)) {}

  void moveTo(int start) {
    for (; last_ < hits_.size() && hits_[last_].begin < start + length_; ++last_) {
      if (heldOf(hits_[last_])++ == 0) ++different_;
    }
    for (; first_ < last_ && hits_[first_].begin < start; ++first_) {
      if (--heldOf(hits_[first_]) == 0) --different_;
    }
  }
  /// Prefers many different phrases, then many hits.
  [[nodiscard]] int score() const { return static_cast<int>(last_ - first_) + 999 * different_; }
  /// Returns the end of the last hit in the window; there must be one.
  [[nodiscard]] int end() const { return hits_[last_ - 1].end; }

 private:
  int& heldOf(const Hit& hit) { return held_[static_cast<std::size_t>(hit.phrase)]; }

  std::span<const Hit> hits_;
  int length_;
  std::vector<int> held_;  // Number of hits of each phrase in the window.
  int different_ = 0;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

// Returns the first word of the best excerpt: around hits, and preferably at the start of a sentence.
int bestStart(const Subject& subject, int length) {
  Window around(subject, length);
  Window fromSentence(subject, length);
  int best = 0;
  int start = 0;
  const auto consider = [&](int score, int at) {
    if (score <= best) return;
    best = score;
    start = at;
  };
  std::size_t sentence = 0;
  for (const Hit& hit : subject.hits) {
    around.moveTo(hit.begin);
    const int centred = hit.begin - (length - (around.end() - hit.begin)) / 2;
    consider(around.score(), std::max(0, std::min(centred, subject.words - length)));
    if (subject.words <= length || subject.sentences.empty()) continue;
    while (sentence + 1 < subject.sentences.size() && subject.sentences[sentence + 1] <= hit.begin) ++sentence;
    const int begin = subject.sentences[sentence];
    if (begin >= hit.begin) continue;
    fromSentence.moveTo(begin);
    consider(fromSentence.score() + (begin == 0 ? 120 : 100), begin);
  }
  return start;
}

// A range of bytes of the text.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Calls `use(stretch)` for each word until it returns something other than SQLITE_OK.
template <typename Use>
int forEachWord(const Fts5ExtensionApi* api, Fts5Context* row, std::string_view text, Use use) {
  return api->xTokenize(
      row, text.data(), static_cast<int>(text.size()), &use,
      [](void* context, int, const char*, int, int begin, int end) {
        return runCallback([&] {
          return (*static_cast<Use*>(context))(Stretch{static_cast<std::size_t>(begin), static_cast<std::size_t>(end)});
        });
      });
}

bool beginsSentence(std::string_view text, std::size_t begin) {
  const std::size_t before = text.find_last_not_of(" \t\n\r", begin - 1);
  return before != std::string_view::npos && before + 1 != begin && (text[before] == '.' || text[before] == ':');
}

int readHits(const Fts5ExtensionApi* api, Fts5Context* row, Subject& subject) {
  subject.phrases = api->xPhraseCount(row);
  int count = 0;
  int status = api->xColumnSize(row, 0, &subject.words);
  if (status == SQLITE_OK) status = api->xInstCount(row, &count);
  for (int i = 0; i < count && status == SQLITE_OK; ++i) {
    Hit hit;
    int column = 0;
    status = api->xInst(row, i, &hit.phrase, &column, &hit.begin);
    if (status == SQLITE_OK && hit.begin > subject.words) status = SQLITE_CORRUPT_VTAB;
    hit.end = hit.begin + api->xPhraseSize(row, hit.phrase);
    subject.hits.push_back(hit);
  }
  return status;
}

int readSentences(const Fts5ExtensionApi* api, Fts5Context* row, std::string_view text, Subject& subject) {
  int word = 0;
  return forEachWord(api, row, text, [&](Stretch bytes) {
    if (word == 0 || beginsSentence(text, bytes.begin)) subject.sentences.push_back(word);
    ++word;
    return SQLITE_OK;
  });
}

// Reads the words of the excerpt that begins with the word `start`.
int readWords(const Fts5ExtensionApi* api, Fts5Context* row, std::string_view text, int start, int length,
              std::vector<Stretch>& words) {
  int word = 0;
  const int status = forEachWord(api, row, text, [&](Stretch bytes) {
    if (word++ >= start) words.push_back(bytes);
    return word < start + length ? SQLITE_OK : SQLITE_DONE;
  });
  return status == SQLITE_DONE ? SQLITE_OK : status;
}

void appendShortened(std::string& out, std::string_view text) {
  if (text.size() <= 2 * kShownEnd) {
    out += text;
    return;
  }
  const auto isInside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  std::size_t first = kShownEnd;
  while (first > 0 && isInside(first)) --first;
  std::size_t rest = text.size() - kShownEnd;
  while (rest + 1 < text.size() && isInside(rest)) ++rest;
  out.append(text.substr(0, first)).append(kEllipsis).append(text.substr(rest));
}

// Formats the excerpt with these words. A hit that begins before it and reaches into it is not marked.
std::string written(const Subject& subject, std::string_view text, int start, std::span<const Stretch> words) {
  if (words.empty()) return {};
  const int end = start + static_cast<int>(words.size());
  const auto wordAt = [&](int word) { return words[static_cast<std::size_t>(word - start)]; };
  std::string out(start > 0 ? kEllipsis : "");
  std::size_t copied = start > 0 ? words.front().begin : 0;
  const auto copyTo = [&](std::size_t to) {
    if (to <= copied) return;
    appendShortened(out, text.substr(copied, to - copied));
    copied = to;
  };
  auto hit = std::ranges::lower_bound(subject.hits, start, {}, &Hit::begin);
  while (hit != subject.hits.end() && hit->begin < end) {
    copyTo(wordAt(hit->begin).begin);
    // Hits that share words are marked as one.
    int last = hit->end;
    for (++hit; hit != subject.hits.end() && hit->begin < last; ++hit) last = std::max(last, hit->end);
    out += kMarkBegin;
    copyTo(wordAt(std::min(last, end) - 1).end);
    out += kMarkEnd;
  }
  const bool toTheEnd = end >= subject.words;
  copyTo(toTheEnd ? text.size() : words.back().end);
  if (!toTheEnd) out += kEllipsis;
  return out;
}

int makeExcerpt(const Fts5ExtensionApi* api, Fts5Context* row, int length, std::string& excerpt) {
  const char* bytes = nullptr;
  int size = 0;
  Subject subject;
  int status = api->xColumnText(row, 0, &bytes, &size);
  const std::string_view text(bytes == nullptr ? "" : bytes, static_cast<std::size_t>(size));
  if (status == SQLITE_OK) status = readHits(api, row, subject);
  if (status == SQLITE_OK) status = readSentences(api, row, text, subject);
  if (status != SQLITE_OK) return status;
  const int start = bestStart(subject, length);
  std::vector<Stretch> words;
  status = readWords(api, row, text, start, length, words);
  if (status == SQLITE_OK) excerpt = written(subject, text, start, words);
  return status;
}

}  // namespace

void excerptFunction(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* result, int count,
                     sqlite3_value** values) {
  if (count != 1) return sqlite3_result_error(result, "excerpt() takes a number of words", -1);
  std::string excerpt;
  const int status =
      runCallback([&] { return makeExcerpt(api, row, std::max(1, sqlite3_value_int(values[0])), excerpt); });
  if (status != SQLITE_OK) return sqlite3_result_error_code(result, status);
  sqlite3_result_text64(result, excerpt.data(), excerpt.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

bool registerExcerpt(fts5_api& api) {
  return api.xCreateFunction(&api, "excerpt", nullptr, excerptFunction, nullptr) == SQLITE_OK;
}

}  // namespace bough::catalog
