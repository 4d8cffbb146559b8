#include <algorithm>

#include "base/model/merge_by_id.h"
#include "base/model/usage_counts.h"
#include "transcript/agents/claude_code/usage.h"

namespace bough::transcript::claude_code {

bool takeCopy(FoundAnswer& known, const FoundAnswer& copy) {
  if (copy.file != known.file) return copy.file > known.file;
  raiseTo(known.tokens, copy.tokens);
  return true;
}

void FoundUsage::add(const FoundAnswer& answer) {
  if (answers.size() >= most_) {
    mergeById(answers, [](FoundAnswer& known, const FoundAnswer& copy) {
      if (!takeCopy(known, copy)) known = copy;
    });
    most_ = std::max(kFew, answers.size() * 2);
  }
  answers.push_back(answer);
}

std::uint32_t FoundUsage::modelOf(std::string_view name) {
  const auto known = modelNumbers_.find(name);
  if (known != modelNumbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(models.size());
  models.emplace_back(name);
  modelNumbers_.emplace(name, number);
  return number;
}

void FoundUsage::noteUnreadable(const std::string& what) {
  if (++unreadable == 1) example = what;
}

}  // namespace bough::transcript::claude_code
