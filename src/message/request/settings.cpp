#include "message/request/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "message/json/content_hash.h"
#include "message/model/request_names.h"

namespace bough::message {
namespace {

constexpr std::size_t kDialects = 4;  // those with a request of their own: the first ones

enum class Form : std::uint8_t { Number, Temperature, Flag, Stop, Effort, Budget };

// Where each dialect keeps a setting, in the order of Dialect; empty: it has none.
struct Row {
  std::array<std::string_view, kDialects> paths;
  Form form;
};

constexpr Row kRows[] = {
    {{"max_tokens", "max_completion_tokens", "max_output_tokens", "generationConfig.maxOutputTokens"}, Form::Number},
    {{"temperature", "temperature", "temperature", "generationConfig.temperature"}, Form::Temperature},
    {{"top_p", "top_p", "top_p", "generationConfig.topP"}, Form::Number},
    {{"top_k", "", "", "generationConfig.topK"}, Form::Number},
    {{"", "seed", "", "generationConfig.seed"}, Form::Number},
    {{"", "presence_penalty", "", "generationConfig.presencePenalty"}, Form::Number},
    {{"", "frequency_penalty", "", "generationConfig.frequencyPenalty"}, Form::Number},
    {{"", "n", "", "generationConfig.candidateCount"}, Form::Number},
    {{"stop_sequences", "stop", "", "generationConfig.stopSequences"}, Form::Stop},
    {{"stream", "stream", "stream", ""}, Form::Flag},
    {{"output_config.effort", "reasoning_effort", "reasoning.effort", "generationConfig.thinkingConfig.thinkingLevel"},
     Form::Effort},
    {{"thinking.budget_tokens", "", "", "generationConfig.thinkingConfig.thinkingBudget"}, Form::Budget},
};

bool hasRequest(Dialect dialect) {
  return static_cast<std::size_t>(dialect) < kDialects;
}

std::string_view pathIn(const Row& row, Dialect dialect) {
  return hasRequest(dialect) ? row.paths[static_cast<std::size_t>(dialect)] : std::string_view();
}

bool isKind(std::string_view value, json::Kind kind) {
  return !value.empty() && json::kindOf(value) == kind;
}

// "maxOutputTokens" as "max_output_tokens": Gemini takes both.
std::string snakeCase(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital) out += '_';
    out += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string camelCase(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool raised = name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    if (raised) ++i;
    out += raised ? static_cast<char>(name[i] - 'a' + 'A') : name[i];
  }
  return out;
}

// One word may be a list of one; a target takes only so many.
std::optional<std::string> stopIn(Dialect target, std::string_view value) {
  const std::string list = isKind(value, json::Kind::String) ? fmt::format("[{}]", value) : std::string(value);
  if (!isKind(list, json::Kind::Array)) return std::nullopt;
  const std::size_t most = target == Dialect::OpenaiChat ? 4 : target == Dialect::Gemini ? 5 : SIZE_MAX;
  std::size_t count = 0;
  for (json::ArrayReader words(list); const auto word = words.next(); ++count) {
    if (!isKind(*word, json::Kind::String)) return std::nullopt;
  }
  return count > 0 && count <= most ? std::optional(list) : std::nullopt;
}

std::optional<std::string> effortIn(Dialect target, std::string_view value) {
  if (!isKind(value, json::Kind::String)) return std::nullopt;
  std::string level = json::decodeString(value).value_or("");
  std::ranges::transform(level, level.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  const auto isOneOf = [&](std::initializer_list<std::string_view> levels) {
    return std::ranges::find(levels, level) != levels.end();
  };
  const bool known = target == Dialect::Anthropic ? isOneOf({"low", "medium", "high", "xhigh", "max"})
                     : target == Dialect::Gemini
                         ? isOneOf({"minimal", "low", "medium", "high"})
                         : isOneOf({"none", "minimal", "low", "medium", "high", "xhigh", "max"});
  if (!known) return std::nullopt;
  if (target == Dialect::Gemini) {
    std::ranges::transform(level, level.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  }
  return json::quoted(level);
}

// The value as the target takes it; none when it does not.
std::optional<std::string> valueIn(Dialect target, Form form, std::string_view value) {
  switch (form) {
    case Form::Temperature:
      // Anthropic's scale ends at 1; what a larger value of the others would be there, nobody says.
      if (target == Dialect::Anthropic && std::strtod(std::string(value).c_str(), nullptr) > 1) return std::nullopt;
      [[fallthrough]];
    case Form::Number: return isKind(value, json::Kind::Number) ? std::optional(std::string(value)) : std::nullopt;
    case Form::Flag: return value == "true" || value == "false" ? std::optional(std::string(value)) : std::nullopt;
    case Form::Stop: return stopIn(target, value);
    case Form::Effort: return effortIn(target, value);
    case Form::Budget:
      // Anthropic wants reasoning of its own before open calls then, which a converted history does not have.
      return target == Dialect::Gemini && isKind(value, json::Kind::Number) ? std::optional(std::string(value))
                                                                            : std::nullopt;
  }
  return std::nullopt;
}

// The request around the sections, with nothing in them.
std::string emptyRequest(const RequestText& requestText) {
  const FilledText text = fillRequest(requestText, {});
  std::string request = text.before + (requestText.stringInput ? "\"\"" : "") + text.after;
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (request.starts_with(kBom)) request.erase(0, kBom.size());
  return json::check(request) ? request : std::string("{}");
}

// `newer`: the dialects of younger requests. Where one of them has a place for a setting, what it says there counts.
void translateRows(SettingsSource& from, Dialect target, const std::vector<Dialect>& newer, std::vector<Setting>& out) {
  for (const Row& row : kRows) {
    if (std::ranges::any_of(newer, [&](Dialect dialect) { return !pathIn(row, dialect).empty(); })) continue;
    const std::string_view source = pathIn(row, from.dialect());
    const std::string_view place = pathIn(row, target);
    if (source.empty() || place.empty()) continue;
    const std::string_view value = from.at(source);
    auto written = value.empty() ? std::nullopt : valueIn(target, row.form, value);
    if (!written) continue;
    out.push_back({.path = std::string(place), .json = std::move(*written)});
    from.use(source);
    if (row.form == Form::Budget) from.use("thinking.type");
  }
}

std::vector<Setting> translate(SettingsSource& from, Dialect target, bool hasTools, const std::vector<Dialect>& newer,
                               History& history) {
  std::vector<Setting> out;
  translateRows(from, target, newer, out);
  if (std::ranges::any_of(newer, hasRequest)) return out;
  if (hasTools) translateToolChoice(from, target, history, out);
  translateFormat(from, target, out);
  return out;
}

// {"a.b":1,"a.c":2} as {"a":{"b":1,"c":2}}, without the outer brackets.
std::string members(const std::vector<Setting>& settings, std::size_t skip = 0) {
  std::string out;
  std::vector<std::string_view> done;
  for (const Setting& setting : settings) {
    const std::string_view rest = std::string_view(setting.path).substr(skip);
    const std::size_t dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot);
    if (std::ranges::find(done, name) != done.end()) continue;
    done.push_back(name);
    if (!out.empty()) out += ',';
    out += json::quoted(name) + ":";
    if (dot == std::string_view::npos) {
      out += setting.json;
      continue;
    }
    const std::string prefix = setting.path.substr(0, skip + dot + 1);
    std::vector<Setting> below;
    std::ranges::copy_if(settings, std::back_inserter(below),
                         [&](const Setting& each) { return each.path.starts_with(prefix); });
    out += "{" + members(below, prefix.size()) + "}";
  }
  return out;
}

bool saysTheSame(std::string_view left, std::string_view right) {
  ContentHasher hasher;
  return hasher.hash(left) == hasher.hash(right);
}

const Setting* find(const std::vector<Setting>& settings, const std::string& path) {
  const auto found = std::ranges::find(settings, path, &Setting::path);
  return found == settings.end() ? nullptr : &*found;
}

// Puts a value in place of the one that stands at a path of the text; false when none does.
bool replaceIn(FilledText& text, Dialect dialect, const Setting& setting) {
  const SettingsSource whole(text.before + text.after, dialect);
  const std::string_view old = whole.at(setting.path);
  if (old.empty()) return false;
  const std::size_t begin = static_cast<std::size_t>(old.data() - whole.request().data());
  if (begin + old.size() <= text.before.size()) {
    text.before.replace(begin, old.size(), setting.json);
  } else if (begin >= text.before.size()) {
    text.after.replace(begin - text.before.size(), old.size(), setting.json);
  } else {
    return false;
  }
  return true;
}

void reportUnused(const SettingsSource& source, Dialect target, Reporter& reporter) {
  for (const std::string& path : source.unused()) {
    reporter.note(Change::Carried, path, "settings",
                  fmt::format("{} has no equivalent; it comes back with the origin", toString(target)));
  }
}

}  // namespace

std::string_view SettingsSource::at(std::string_view path) const {
  std::string_view value = request_;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t dot = rest.find('.');
    const std::string_view name = rest.substr(0, dot);
    rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    auto member = json::findMember(value, name);
    if (!member && dialect_ == Dialect::Gemini) member = json::findMember(value, snakeCase(name));
    if (!member && dialect_ == Dialect::OpenaiChat && name == "max_completion_tokens") {
      member = json::findMember(value, "max_tokens");
    }
    if (!member) return {};
    value = *member;
  }
  return value;
}

std::string SettingsSource::textAt(std::string_view path) const {
  const std::string_view value = at(path);
  return value.empty() ? std::string() : json::decodeString(value).value_or("");
}

std::vector<std::string> SettingsSource::unused() const {
  const RequestNames names = requestNames(dialect_);
  std::vector<std::string> out;
  const auto isUsed = [&](const std::string& path) { return std::ranges::find(used_, path) != used_.end(); };
  struct Level {
    std::string prefix;
    std::string_view object;
  };
  std::vector<Level> left = {{"", request_}};
  while (!left.empty()) {
    const Level level = left.back();
    left.pop_back();
    json::ObjectReader reader(level.object);
    while (const auto member = reader.next()) {
      std::string name(member->key);
      if (dialect_ == Dialect::Gemini) name = camelCase(name);
      if (dialect_ == Dialect::OpenaiChat && name == "max_tokens") name = "max_completion_tokens";
      const std::string path = level.prefix + name;
      if (path == names.messages || path == names.system || path == names.tools || isUsed(path)) continue;
      const bool partly = std::ranges::any_of(used_, [&](const std::string& u) { return u.starts_with(path + "."); });
      if (partly && isKind(member->value, json::Kind::Object)) {
        left.push_back({path + ".", member->value});
      } else {
        out.push_back(level.prefix + std::string(member->key));
      }
    }
  }
  return out;
}

void addSettings(History& history, Dialect from, bool hasTools, RequestText& requestText, Reporter& reporter) {
  const RequestText* own = history.requestTextOf(from);
  if (own == nullptr || own->bare) return;
  SettingsSource source(emptyRequest(*own), from);
  std::vector<Setting> settings = translate(source, requestText.dialect, hasTools, {}, history);
  std::vector<Dialect> newer = {from};
  for (auto older = history.requestTexts.rbegin(); older != history.requestTexts.rend(); ++older) {
    if (older->dialect == from || older->dialect == requestText.dialect || older->bare) continue;
    SettingsSource before(emptyRequest(*older), older->dialect);
    std::ranges::move(translate(before, requestText.dialect, hasTools, newer, history), std::back_inserter(settings));
    newer.push_back(older->dialect);
  }
  if (!settings.empty() && !requestText.bare) {
    std::string& last = requestText.parts.back().text;
    last.insert(0, "," + members(settings));
  }
  reportUnused(source, requestText.dialect, reporter);
}

void updateSettings(History& history, Dialect from, bool hasTools, const RequestText& requestText, FilledText& text,
                    Reporter& reporter) {
  const RequestText* own = history.requestTextOf(from);
  if (own == nullptr || own->bare || requestText.bare || !json::check(text.before + text.after)) return;
  // What the document would say, and would be here, if nobody had touched it.
  SettingsSource first(emptyRequest(requestText), requestText.dialect);
  SettingsSource there("{" + members(translate(first, from, hasTools, {}, history)) + "}", from);
  const std::vector<Setting> before = translate(there, requestText.dialect, hasTools, {}, history);
  SettingsSource source(emptyRequest(*own), from);
  const std::vector<Setting> now = translate(source, requestText.dialect, hasTools, {}, history);
  for (const Setting& setting : now) {
    const Setting* old = find(before, setting.path);
    if (old != nullptr && saysTheSame(old->json, setting.json)) continue;
    const SettingsSource standing(text.before + text.after, requestText.dialect);
    const std::string_view value = standing.at(setting.path);
    if (!value.empty() && saysTheSame(value, setting.json)) continue;
    const bool replaced = replaceIn(text, requestText.dialect, setting);
    reporter.note(replaced ? Change::Edited : Change::Added, setting.path, "settings",
                  replaced ? fmt::format("changed while the request was {}'s", toString(from))
                           : fmt::format("set while the request was {}'s; it is not in this one", toString(from)));
  }
  for (const Setting& setting : before) {
    if (find(now, setting.path) != nullptr) continue;
    reporter.note(Change::Removed, setting.path, "settings",
                  fmt::format("taken away while the request was {}'s; it came back", toString(from)));
  }
  reportUnused(source, requestText.dialect, reporter);
}

}  // namespace bough::message
