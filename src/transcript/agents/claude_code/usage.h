// What the answers in Claude Code's files cost, found without reading the rest of the files.
#pragma once

#include <bough/transcript.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/huge_pages.h"

namespace bough::transcript::claude_code {

struct FoundAnswer {
  std::uint64_t id = 0;  ///< The same for all copies of one answer.
  std::uint64_t timeMs = 0;
  Usage tokens;
  std::uint32_t file = 0;   ///< Its number; of several that hold the answer the first counts.
  std::uint32_t model = 0;  ///< Its place in FoundUsage::models.
  bool certain = false;     ///< `id` was made from an id that the agent wrote, not from time and numbers.
};

/// Takes in a copy of an answer: the one in the first file counts, and of each number in it the greatest, as an answer
/// that is written block by block repeats them. False when the copy is to replace the known one.
bool takeCopy(FoundAnswer& known, const FoundAnswer& copy);

/// What one thread has found. Copies of an answer are brought together now and then, so memory grows with the number of
/// answers, not with that of lines or files.
class FoundUsage {
 public:
  FoundUsage() { answers.reserve(kFew); }  // memory that is not touched costs nothing
  void add(const FoundAnswer& answer);
  std::uint32_t modelOf(std::string_view name);
  void noteUnreadable(const std::string& what);

  std::vector<FoundAnswer, HugePageAllocator<FoundAnswer>> answers;
  std::vector<std::string> models;
  std::uint64_t unreadable = 0;
  std::string example;

 private:
  static constexpr std::size_t kFew = std::size_t{1} << 16;
  std::size_t most_ = kFew;  // then copies are brought together
  std::map<std::string, std::uint32_t, std::less<>> modelNumbers_;
};

/// Adds the answers of one file; `file` is its number. Memory is bounded by the longest line that is read.
void scanUsage(const std::string& path, std::uint32_t file, FoundUsage& out);

}  // namespace bough::transcript::claude_code
