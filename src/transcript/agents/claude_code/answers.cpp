#include "transcript/agents/claude_code/answers.h"

#include "base/json/json_scan.h"

namespace bough::transcript::claude_code {
namespace {

std::vector<std::string> callsOf(std::string_view content) {
  std::vector<std::string> calls;
  json::ArrayReader blocks(content);
  while (const auto block = blocks.next()) calls.push_back(json::findString(*block, "tool_use_id").value_or(""));
  return calls;
}

}  // namespace

const Answers::Answer* Answers::answerOf(std::string_view uuid) const {
  const auto key = keyOf_.find(std::string(uuid));
  if (key == keyOf_.end()) return nullptr;
  const auto answer = answers_.find(key->second);
  return answer == answers_.end() ? nullptr : &answer->second;
}

std::string Answers::lastLineOf(std::string_view parent) const {
  const Answer* answer = answerOf(parent);
  return answer == nullptr ? std::string(parent) : answer->lines.back();
}

std::string Answers::parentOfBlock(std::string_view key, std::string_view parent) const {
  const auto found = keyOf_.find(std::string(parent));
  const Answer* answer = found != keyOf_.end() && found->second == key ? answerOf(parent) : nullptr;
  return answer == nullptr ? std::string(parent) : answer->lines.back();
}

std::string Answers::parentOfResults(std::string_view content, std::string_view parent) const {
  const Answer* answer = answerOf(parent);
  if (answer == nullptr) return std::string(parent);
  for (const std::string& call : callsOf(content)) {
    if (answer->answered.contains(call)) return std::string(parent);
  }
  return answer->lines.back();
}

void Answers::addBlock(const std::string& key, const std::string& uuid) {
  if (!answers_.contains(key)) {
    order_.push_back(key);
    answers_[key];
  }
  add(key, uuid);
  while (order_.size() > kMaxAnswers || (lineCount_ > kMaxLines && order_.size() > 1)) {
    const Answer& oldest = answers_[order_.front()];
    for (const std::string& line : oldest.lines) keyOf_.erase(line);
    lineCount_ -= oldest.lines.size();
    answers_.erase(order_.front());
    order_.pop_front();
  }
}

void Answers::addResults(std::string_view content, std::string_view parent, const std::string& uuid) {
  if (answerOf(parent) == nullptr) return;
  const std::string key = keyOf_.at(std::string(parent));
  Answer& answer = answers_[key];
  for (std::string& call : callsOf(content)) {
    if (!answer.answered.insert(std::move(call)).second) return;  // another branch
  }
  add(key, uuid);
}

void Answers::add(const std::string& key, const std::string& uuid) {
  Answer& answer = answers_[key];
  if (answer.lines.size() >= kMaxLines) return;
  ++lineCount_;
  answer.lines.push_back(uuid);
  keyOf_[uuid] = key;
}

}  // namespace bough::transcript::claude_code
