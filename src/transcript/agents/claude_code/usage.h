// Finds what the answers in Claude Code's files cost without reading the rest of the files.
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
  std::uint64_t id = 0;  ///< The same for all copies of an answer.
  std::uint64_t timeMs = 0;
  Usage tokens;
  std::uint32_t file = 0;   ///< Number of the file. Of several files with this answer, the first counts.
  std::uint32_t model = 0;  ///< Index in FoundUsage::models.
  bool certain = false;     ///< Whether `id` was made from an id that the agent wrote, and not from time and numbers.
};

/// Merges a copy of an answer into the known one. The copy in the first file counts, with the greatest value of each
/// number in that file, because an answer that is written block by block repeats them. Returns false when the copy must
/// replace the known one.
bool takeCopy(FoundAnswer& known, const FoundAnswer& copy);

/// What one thread has found. Copies of an answer are merged from time to time, so memory grows with the number of
/// answers, not with the number of lines or files.
class FoundUsage {
 public:
  FoundUsage() { answers.reserve(kFew); }  // untouched memory costs nothing
  void add(const FoundAnswer& answer);
  std::uint32_t modelOf(std::string_view name);
  void noteUnreadable(const std::string& what);

  std::vector<FoundAnswer, HugePageAllocator<FoundAnswer>> answers;
  std::vector<std::string> models;
  std::uint64_t unreadable = 0;
  std::string example;

 private:
  static constexpr std::size_t kFew = std::size_t{1} << 16;
  std::size_t most_ = kFew;  // at this many answers, copies are merged
  std::map<std::string, std::uint32_t, std::less<>> modelNumbers_;
};

/// Adds the answers of one file; `file` is its number. Memory is bounded by the longest line.
void scanUsage(const std::string& path, std::uint32_t file, FoundUsage& out);

}  // namespace bough::transcript::claude_code
