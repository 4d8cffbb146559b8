#include "transcript/agents/codex/displayed_words.h"

#include <algorithm>
#include <iterator>

#include "transcript/agents/codex/items.h"

namespace bough::transcript::codex {
namespace {

// Limit for all remembered words together, because each event is searched in all of them.
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::string withoutBlanks(std::string_view text) {
  std::string plain;
  std::ranges::copy_if(text, std::back_inserter(plain),
                       [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; });
  return plain;
}

std::string joined(std::string_view list) {
  std::string text;
  if (list.empty() || json::kindOf(list) != json::Kind::Array) return text;
  json::ArrayReader texts(list);
  while (const auto each = texts.next()) text += (text.empty() ? "" : "\n") + json::decodeString(*each).value_or("");
  return text;
}

struct Said {
  std::string_view role = {};
  std::string text = {};
};

Said saidBy(const Members& event) {
  const std::string type = event.text("type");
  if (type == "user_message") return {"user", event.text("message")};
  if (type == "agent_message") return {"assistant", event.text("message")};
  if (type == "agent_reasoning" || type == "agent_reasoning_raw_content") return {"assistant", event.text("text")};
  if (type == "task_complete") return {"assistant", event.text("last_agent_message")};
  if (type != "item_completed" || !event.isObject("item")) return {};
  const Members item(event.raw("item"));
  const std::string kind = item.text("type");
  if (kind == "UserMessage") return {"user", itemText(item.raw("content"))};
  if (kind == "AgentMessage") return {"assistant", itemText(item.raw("content"))};
  if (kind == "Reasoning") return {"assistant", joined(item.raw("summary_text"))};
  return {};
}

}  // namespace

void DisplayedWords::remember(std::string plain) {
  if (plain.empty() || plain.size() > kMostBytes) return;
  knownBytes_ += plain.size();
  known_.push_back(std::move(plain));
  for (; knownBytes_ > kMostBytes; known_.pop_front()) knownBytes_ -= known_.front().size();
}

void DisplayedWords::addEvent(std::uint64_t offset, const std::string& timestamp, const Members& event) {
  auto [role, text] = saidBy(event);
  std::string plain = withoutBlanks(text);
  if (plain.empty() || text.size() > kMostBytes) return;
  const auto holds = [&](const std::string& each) { return each.contains(plain); };
  if (std::ranges::any_of(known_, holds) || std::ranges::any_of(waiting_, holds, &DisplayedText::plain)) return;
  waitingBytes_ += text.size();
  waiting_.push_back({offset, timestamp, std::string(role), std::move(text), std::move(plain)});
  for (; waitingBytes_ > kMostBytes; waiting_.pop_front()) waitingBytes_ -= waiting_.front().text.size();
}

bool DisplayedWords::isSaid(const Members& event, std::string_view text) {
  const Said said = saidBy(event);
  return said.role == "user" && withoutBlanks(said.text) == withoutBlanks(text);
}

bool DisplayedWords::awaitsItem(std::string_view text) const {
  const std::string plain = withoutBlanks(text);
  return std::ranges::any_of(waiting_,
                             [&](const DisplayedText& words) { return words.role == "user" && words.plain == plain; });
}

void DisplayedWords::addItem(std::string_view text) {
  std::string plain = withoutBlanks(text);
  std::erase_if(waiting_, [&](const DisplayedText& words) {
    const bool isKnown = plain.contains(words.plain);
    waitingBytes_ -= isKnown ? words.text.size() : 0;
    return isKnown;
  });
  remember(std::move(plain));
}

std::vector<DisplayedText> DisplayedWords::endTurn() {
  std::vector<DisplayedText> words(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  waitingBytes_ = 0;
  for (const DisplayedText& each : words) remember(each.plain);
  return words;
}

}  // namespace bough::transcript::codex
