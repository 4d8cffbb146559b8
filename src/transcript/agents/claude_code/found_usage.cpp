#include <algorithm>
#include <iterator>
#include <tuple>

#include "transcript/agents/claude_code/usage.h"

namespace bough::transcript::claude_code {
namespace {

auto answerOrder(const FoundAnswer& answer) {
  return std::tuple(answer.id, answer.file, answer.place);
}

}  // namespace

void FoundUsage::add(const FoundAnswer& answer) {
  if (answers.size() >= most_) {
    bringTogether();
    most_ = std::max(kFew, answers.size() * 2);
  }
  answers.push_back(answer);
}

std::uint32_t FoundUsage::modelOf(const std::string& name) {
  const auto [found, isNew] = modelNumbers_.try_emplace(name, static_cast<std::uint32_t>(models.size()));
  if (isNew) models.push_back(name);
  return found->second;
}

void FoundUsage::noteUnreadable(const std::string& what) {
  if (++unreadable == 1) example = what;
}

void FoundUsage::bringTogether() {
  if (!std::ranges::is_sorted(answers, {}, answerOrder)) std::ranges::sort(answers, {}, answerOrder);
  std::size_t kept = 0;
  for (const FoundAnswer& each : answers) {
    FoundAnswer& last = answers[kept == 0 ? 0 : kept - 1];
    if (kept == 0 || last.id != each.id) {
      answers[kept++] = each;
    } else if (last.file == each.file) {
      Usage& most = last.tokens;
      most.inputTokens = std::max(most.inputTokens, each.tokens.inputTokens);
      most.outputTokens = std::max(most.outputTokens, each.tokens.outputTokens);
      most.cacheReadTokens = std::max(most.cacheReadTokens, each.tokens.cacheReadTokens);
      most.cacheWriteTokens = std::max(most.cacheWriteTokens, each.tokens.cacheWriteTokens);
    }
  }
  answers.resize(kept);
}

void FoundUsage::take(FoundUsage&& other) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : other.models) numbers.push_back(modelOf(name));
  for (FoundAnswer& each : other.answers) each.model = numbers[each.model];
  std::vector<FoundAnswer> both;
  both.reserve(answers.size() + other.answers.size());
  std::ranges::merge(answers, other.answers, std::back_inserter(both), {}, answerOrder, answerOrder);
  answers = std::move(both);
  unreadable += other.unreadable;
  if (example.empty()) example = std::move(other.example);
}

}  // namespace bough::transcript::claude_code
