#include "support/rule_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "message/json/json_tree.h"
#include "message/request/request_frame.h"

namespace bough::test {
namespace {

using json::Tree;

bool matches(std::string_view text, std::string_view extra, std::size_t most) {
  return !text.empty() && text.size() <= most && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || extra.contains(c);
  });
}

class Checker {
 public:
  Checker(const Tree& tree, std::vector<Tree::Index> list) : tree_(tree), list_(std::move(list)) {}

  std::vector<std::string> run(Dialect dialect) {
    surrogates();
    switch (dialect) {
      case Dialect::Anthropic: anthropic(); break;
      case Dialect::OpenaiChat: chat(); break;
      case Dialect::OpenaiResponses: responses(); break;
      case Dialect::Gemini: gemini(); break;
      default: break;
    }
    return std::move(broken_);
  }

 private:
  void broke(std::string_view rule, std::size_t at, std::string_view why) {
    broken_.push_back(fmt::format("{} [{}]: {}", rule, at, why));
  }
  [[nodiscard]] Tree::Index get(Tree::Index object, std::string_view name) const {
    return object == Tree::kNone ? Tree::kNone : tree_.find(object, name);
  }
  [[nodiscard]] std::string str(Tree::Index object, std::string_view name) const {
    const Tree::Index found = get(object, name);
    std::string out;
    if (tree_.isString(found)) json::appendDecoded(out, tree_.body(found));
    return out;
  }
  [[nodiscard]] std::vector<Tree::Index> elements(Tree::Index list) const {
    std::vector<Tree::Index> out;
    for (const Tree::Index each : tree_.elements(list)) out.push_back(each);
    return out;
  }
  static bool blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

  // X01
  void surrogates() {
    for (Tree::Index i = 0; i < tree_.size(); ++i) {
      if (!tree_.hasSurrogates(i)) continue;
      std::string decoded;
      json::appendDecoded(decoded, tree_.body(i));
      if (decoded.contains("\uFFFD")) broke("X01", i, "a lone surrogate");
    }
  }

  struct Turn {
    std::string role;
    std::vector<Tree::Index> blocks;
    std::size_t at;
  };

  void anthropicBlock(std::size_t i, const std::string& role, Tree::Index block, bool last) {
    const std::string type = str(block, "type");
    if (type == "tool_use") {
      if (role != "assistant") broke("A17", i, "tool_use in a user message");
      if (!matches(str(block, "id"), "_-", 64)) broke("A09", i, str(block, "id"));
      if (!matches(str(block, "name"), "_-", 64)) broke("A10", i, str(block, "name"));
      if (!tree_.isObject(get(block, "input"))) broke("A12", i, "input is no object");
      if (!ids_.insert(str(block, "id")).second) broke("A08", i, "an id twice");
    }
    if (type == "tool_result") {
      if (role != "user") broke("A17", i, "tool_result outside user");
      const bool failed = get(block, "is_error") != Tree::kNone && tree_.raw(get(block, "is_error")) == "true";
      for (const Tree::Index each : elements(get(block, "content"))) {
        if (failed && str(each, "type") != "text") broke("A22", i, "an error with more than text");
      }
    }
    if (type == "thinking" || type == "redacted_thinking") {
      if (last) broke("A13", i, "the last block is thinking");
      if (type == "thinking" && str(block, "signature").empty()) broke("A13", i, "no signature");
    }
    if (role == "assistant" && (type == "image" || type == "document")) broke("A19", i, type);
  }

  void anthropicContent(std::size_t i, Tree::Index message, const std::string& role, std::vector<Tree::Index>& blocks) {
    const Tree::Index content = get(message, "content");
    if (tree_.isString(content)) {
      if (role == "user" && blank(tree_.body(content))) broke("A11", i, "an empty user message");
      return;
    }
    blocks = elements(content);
    if (role == "user" && blocks.empty()) broke("A11", i, "an empty user message");
    bool other = false;
    bool onlyBlank = !blocks.empty();
    for (const Tree::Index block : blocks) {
      anthropicBlock(i, role, block, block == blocks.back());
      const std::string type = str(block, "type");
      if (type == "tool_result" && other) broke("A07", i, "a result behind other content");
      other |= type != "tool_result";
      if (type == "text" && str(block, "text").empty()) broke("A11", i, "an empty text block");
      onlyBlank &= type == "text" && blank(str(block, "text"));
    }
    if (onlyBlank) broke("A11", i, "nothing but blanks");
  }

  void anthropic() {
    std::vector<Turn> turns;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const std::string role = str(list_[i], "role");
      if (role != "user" && role != "assistant" && role != "system") broke("A03", i, role);
      std::vector<Tree::Index> blocks;
      anthropicContent(i, list_[i], role, blocks);
      if (role == "system") continue;
      if (turns.empty() || turns.back().role != role) turns.push_back({role, {}, i});
      turns.back().blocks.insert(turns.back().blocks.end(), blocks.begin(), blocks.end());
    }
    for (std::size_t t = 0; t < turns.size(); ++t) {
      std::set<std::string> calls;
      std::multiset<std::string> results;
      for (const Tree::Index block : turns[t].blocks) {
        if (str(block, "type") == "tool_use") calls.insert(str(block, "id"));
      }
      if (turns[t].role == "user") {
        const bool answers = t > 0;
        for (const Tree::Index block : turns[t].blocks) {
          if (str(block, "type") != "tool_result") continue;
          bool found = false;
          for (const Tree::Index before : answers ? turns[t - 1].blocks : std::vector<Tree::Index>()) {
            found |= str(before, "type") == "tool_use" && str(before, "id") == str(block, "tool_use_id");
          }
          if (!found) broke("A06", turns[t].at, "a result without its call before it");
        }
      }
      if (calls.empty()) continue;
      if (t + 1 < turns.size()) {
        for (const Tree::Index block : turns[t + 1].blocks) {
          if (str(block, "type") == "tool_result") results.insert(str(block, "tool_use_id"));
        }
      }
      for (const std::string& call : calls) {
        if (results.count(call) != 1)
          broke("A05", turns[t].at, fmt::format("{} results for {}", results.count(call), call));
      }
    }
    if (!list_.empty() && str(list_.back(), "role") == "assistant") {
      const Tree::Index content = get(list_.back(), "content");
      std::string text = tree_.isString(content) ? str(list_.back(), "content") : "";
      const auto blocks = elements(content);
      if (!blocks.empty() && str(blocks.back(), "type") == "text") text = str(blocks.back(), "text");
      if (!text.empty() && blank(text.substr(text.size() - 1))) broke("A16", list_.size() - 1, "blanks at the end");
    }
  }

  void chatCalls(std::size_t i, Tree::Index calls, std::set<std::string>& open) {
    if (calls == Tree::kNone) return;
    if (elements(calls).empty()) broke("C08", i, "empty tool_calls");
    for (const Tree::Index call : elements(calls)) {
      const bool custom = str(call, "type") == "custom";
      const Tree::Index function = get(call, custom ? "custom" : "function");
      if (!open.insert(str(call, "id")).second) broke("C13", i, "an id twice");
      if (str(call, "id").empty() || str(call, "id").size() > 40) broke("C04", i, str(call, "id"));
      if (!matches(str(function, "name"), "_-", 64)) broke("C05", i, str(function, "name"));
      if (!tree_.isString(get(function, custom ? "input" : "arguments"))) broke("C06", i, "arguments");
    }
  }

  void chat() {
    std::set<std::string> open;
    std::set<std::string> all;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const std::string role = str(list_[i], "role");
      const Tree::Index content = get(list_[i], "content");
      const bool missing = content == Tree::kNone || tree_.kind(content) == json::Kind::Null;
      if (tree_.isArray(content) && elements(content).empty()) broke("C11", i, "empty content");
      for (const Tree::Index part : elements(content)) {
        const std::string type = str(part, "type");
        const bool user = type == "image_url" || type == "input_audio" || type == "file";
        if (type != "text" && !(role == "user" && user) && !(role == "assistant" && type == "refusal")) {
          broke("C12", i, type);
        }
      }
      if (role == "tool") {
        if (!all.contains(str(list_[i], "tool_call_id"))) broke("C03", i, "a result without its call");
        open.erase(str(list_[i], "tool_call_id"));
        if (missing) broke("C07", i, "a result without content");
        continue;
      }
      if (!open.empty()) broke("C02", i, "calls without results");
      open.clear();
      all.clear();
      if (role == "assistant") {
        chatCalls(i, get(list_[i], "tool_calls"), open);
        all = open;
        if (missing && open.empty() && str(list_[i], "refusal").empty()) broke("C07", i, "no content");
      } else if (missing || (role != "user" && role != "system" && role != "developer")) {
        broke("C01", i, role);
      }
    }
    if (!open.empty()) broke("C02", list_.size(), "calls without results");
  }

  void responses() {
    std::map<std::string, int> calls;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const Tree::Index item = list_[i];
      const std::string type = get(item, "type") == Tree::kNone ? "message" : str(item, "type");
      const std::string id = str(item, "id");
      if (id.size() > 64) broke("R04", i, "a long id");
      if (!id.empty() && !ids.insert(id).second) broke("R10", i, "an item id twice");
      if (type == "message") {
        const bool assistant = str(item, "role") == "assistant";
        for (const Tree::Index part : elements(get(item, "content"))) {
          const std::string kind = str(part, "type");
          const bool good = assistant ? kind == "output_text" || kind == "refusal" : kind.starts_with("input_");
          if (!good) broke("R08", i, kind);
        }
      }
      if (type == "function_call" || type == "custom_tool_call") {
        if (!calls.emplace(str(item, "call_id"), 0).second) broke("R10", i, "a call id twice");
        if (str(item, "call_id").empty() || str(item, "call_id").size() > 64) broke("R01", i, str(item, "call_id"));
        if (!matches(str(item, "name"), "_-", 128)) broke("R12", i, str(item, "name"));
      }
      if (type == "function_call_output" || type == "custom_tool_call_output") {
        const auto call = calls.find(str(item, "call_id"));
        if (call == calls.end()) broke("R03", i, "an output without its call");
        if (call != calls.end() && call->second++ > 0) broke("R10", i, "two outputs");
      }
      if (type == "reasoning") {
        const bool last = i + 1 == list_.size();
        const std::string next = last                                       ? ""
                                 : get(list_[i + 1], "type") == Tree::kNone ? "message"
                                                                            : str(list_[i + 1], "type");
        const bool user = !last && next == "message" && str(list_[i + 1], "role") != "assistant";
        if (last || user || next.ends_with("_output")) broke("R05", i, "reasoning without its item");
      }
    }
    for (const auto& [id, count] : calls) {
      if (count == 0) broke("R02", list_.size(), "no output for " + id);
    }
  }

  void geminiPart(std::size_t i, const std::string& role, Tree::Index part) {
    static constexpr std::string_view kData[] = {"text",         "inlineData",       "fileData",
                                                 "functionCall", "functionResponse", "executableCode",
                                                 "toolCall",     "toolResponse",     "codeExecutionResult"};
    const auto fields =
        std::ranges::count_if(kData, [&](std::string_view name) { return get(part, name) != Tree::kNone; });
    if (fields != 1) broke("G02", i, "not one data field");
    if (tree_.isString(get(part, "text")) && str(part, "text").empty() && str(part, "thoughtSignature").empty()) {
      broke("G02", i, "empty text");
    }
    const Tree::Index call = get(part, "functionCall");
    const Tree::Index response = get(part, "functionResponse");
    for (const Tree::Index each : {call, response}) {
      if (each == Tree::kNone) continue;
      const std::string name = str(each, "name");
      if (!matches(name, "_.:-", 64) || (name[0] >= '0' && name[0] <= '9') || name[0] == '-') broke("G05", i, name);
    }
    if (call != Tree::kNone && get(call, "args") != Tree::kNone && !tree_.isObject(get(call, "args")))
      broke("G06", i, "args");
    if (response != Tree::kNone && !tree_.isObject(get(response, "response"))) broke("G06", i, "response");
    if (call != Tree::kNone && role != "model") broke("G03", i, "a call outside a model turn");
    if (response != Tree::kNone && role == "model") broke("G04", i, "a response in a model turn");
  }

  std::vector<Tree::Index> having(Tree::Index content, std::string_view field) const {
    std::vector<Tree::Index> out;
    for (const Tree::Index part : elements(get(content, "parts"))) {
      if (get(part, field) != Tree::kNone) out.push_back(get(part, field));
    }
    return out;
  }

  void gemini() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const std::string role = get(list_[i], "role") == Tree::kNone ? "user" : str(list_[i], "role");
      if (role != "user" && role != "model" && role != "function") broke("G01", i, role);
      if (elements(get(list_[i], "parts")).empty()) broke("G02", i, "no parts");
      for (const Tree::Index part : elements(get(list_[i], "parts"))) geminiPart(i, role, part);
      const auto calls = having(list_[i], "functionCall");
      const auto responses = having(list_[i], "functionResponse");
      if (!responses.empty() && (i == 0 || having(list_[i - 1], "functionCall").empty())) {
        broke("G04", i, "responses without calls before them");
      }
      if (calls.empty()) continue;
      if (i == 0 || str(list_[i - 1], "role") == "model") broke("G03", i, "calls must follow a user turn");
      const auto answers = i + 1 < list_.size() ? having(list_[i + 1], "functionResponse") : std::vector<Tree::Index>();
      if (answers.size() != calls.size()) broke("G04", i, "another number of responses");
      std::multiset<std::string> asked;
      std::multiset<std::string> answered;
      for (const Tree::Index call : calls) asked.insert(str(call, "name"));
      for (const Tree::Index answer : answers) answered.insert(str(answer, "name"));
      if (answers.size() == calls.size() && asked != answered) broke("G12", i, "names differ");
    }
  }

  const Tree& tree_;
  std::vector<Tree::Index> list_;
  std::set<std::string> ids_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> brokenRules(Dialect dialect, std::string_view document) {
  Tree tree;
  if (const auto error = tree.parse(document)) return {fmt::format("no JSON at {}: {}", error->offset, error->reason)};
  const auto parts = message::splitDocument(tree, dialect);
  if (!parts) return {"no history"};
  if (parts->requestFrame.stringInput) return {};
  return Checker(tree, parts->elements).run(dialect);
}

}  // namespace bough::test
