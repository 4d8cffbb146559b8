#include "message/request/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/text/utf8.h"
#include "message/json/content_hash.h"
#include "message/model/request_names.h"

namespace bough::message {
namespace {

constexpr std::size_t kDialects = 4;  // the dialects with their own form of request, which come first

enum class Form : std::uint8_t { Number, Sampling, Flag, Stop, Effort, Budget };

// The path of a setting in each dialect, in the order of Dialect; empty when the dialect does not have it.
struct Row {
  std::string_view unit;
  std::array<std::string_view, kDialects> paths;
  Form form;
};

constexpr Row kRows[] = {
    {"maxTokens",
     {"max_tokens", "max_completion_tokens", "max_output_tokens", "generationConfig.maxOutputTokens"},
     Form::Number},
    {"temperature", {"temperature", "temperature", "temperature", "generationConfig.temperature"}, Form::Sampling},
    {"topP", {"top_p", "top_p", "top_p", "generationConfig.topP"}, Form::Sampling},
    {"topK", {"top_k", "", "", "generationConfig.topK"}, Form::Sampling},
    {"seed", {"", "seed", "", "generationConfig.seed"}, Form::Number},
    {"presencePenalty", {"", "presence_penalty", "", "generationConfig.presencePenalty"}, Form::Number},
    {"frequencyPenalty", {"", "frequency_penalty", "", "generationConfig.frequencyPenalty"}, Form::Number},
    {"candidates", {"", "n", "", "generationConfig.candidateCount"}, Form::Number},
    {"stop", {"stop_sequences", "stop", "", "generationConfig.stopSequences"}, Form::Stop},
    {"stream", {"stream", "stream", "stream", ""}, Form::Flag},
    {"effort",
     {"output_config.effort", "reasoning_effort", "reasoning.effort", "generationConfig.thinkingConfig.thinkingLevel"},
     Form::Effort},
    {"thinkingBudget",
     {"thinking.budget_tokens", "", "", "generationConfig.thinkingConfig.thinkingBudget"},
     Form::Budget},
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

// Converts "maxOutputTokens" to "max_output_tokens"; Gemini accepts both.
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

// A single word becomes a list with one element; a target accepts a limited number.
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

// Returns the value in the target's form; std::nullopt when the target does not accept it.
std::optional<std::string> valueIn(Dialect target, Form form, std::string_view value) {
  switch (form) {
    case Form::Sampling:
    case Form::Number: return isKind(value, json::Kind::Number) ? std::optional(std::string(value)) : std::nullopt;
    case Form::Flag: return value == "true" || value == "false" ? std::optional(std::string(value)) : std::nullopt;
    case Form::Stop: return stopIn(target, value);
    case Form::Effort: return effortIn(target, value);
    case Form::Budget:
      // With a budget, Anthropic requires its own reasoning before open calls, which a converted history does not have.
      return target == Dialect::Gemini && isKind(value, json::Kind::Number) ? std::optional(std::string(value))
                                                                            : std::nullopt;
  }
  return std::nullopt;
}

// Returns the request around the sections, with empty sections.
std::string emptyRequest(const RequestFrame& requestFrame) {
  const FilledText text = fillRequest(requestFrame, {});
  std::string request = text.before + (requestFrame.stringInput ? "\"\"" : "") + text.after;
  if (request.starts_with(kByteOrderMark)) request.erase(0, kByteOrderMark.size());
  return json::check(request) ? request : std::string("{}");
}

// `known` is a request of the target that somebody wrote. The newest models of Anthropic refuse sampling settings; a
// request that contains them is for an older model.
void translateRows(SettingsSource& from, Dialect target, const SettingsSource* known, std::vector<Setting>& out) {
  for (const Row& row : kRows) {
    const std::string_view source = pathIn(row, from.dialect());
    const std::string_view place = pathIn(row, target);
    if (source.empty() || place.empty()) continue;
    const std::string_view value = from.at(source);
    const bool refused =
        row.form == Form::Sampling && target == Dialect::Anthropic && (known == nullptr || known->at(place).empty());
    if (refused) from.markRefused(source);
    // Anthropic's temperatures end at 1; a larger value has no defined equivalent.
    const bool tooHot = row.unit == "temperature" && target == Dialect::Anthropic &&
                        std::strtod(std::string(value).c_str(), nullptr) > 1;
    auto written = value.empty() || refused || tooHot ? std::nullopt : valueIn(target, row.form, value);
    if (!written) continue;
    out.push_back({.unit = std::string(row.unit), .path = std::string(place), .json = std::move(*written)});
    from.markUsed(source);
    if (row.form == Form::Budget) from.markUsed("thinking.type");
  }
}

std::vector<Setting> translate(SettingsSource& from, Dialect target, bool hasTools, const SettingsSource* known,
                               History& history) {
  std::vector<Setting> out;
  if (!hasRequest(target)) return out;
  translateRows(from, target, known, out);
  const std::size_t rows = out.size();
  if (hasTools) translateToolChoice(from, target, history, out);
  for (std::size_t i = rows; i < out.size(); ++i) out[i].unit = "toolChoice";
  const std::size_t choices = out.size();
  translateFormat(from, target, out);
  for (std::size_t i = choices; i < out.size(); ++i) out[i].unit = "format";
  return out;
}

// Returns the path where a dialect keeps a unit.
std::string_view placeOf(std::string_view unit, Dialect dialect) {
  for (const Row& row : kRows) {
    if (row.unit == unit) return pathIn(row, dialect);
  }
  if (unit == "toolChoice") return dialect == Dialect::Gemini ? "toolConfig" : "tool_choice";
  switch (dialect) {
    case Dialect::Anthropic: return "output_config.format";
    case Dialect::OpenaiChat: return "response_format";
    case Dialect::OpenaiResponses: return "text.format";
    default: return "generationConfig.responseMimeType";
  }
}

// Returns {"a.b":1,"a.c":2} as {"a":{"b":1,"c":2}}, without the outer braces.
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

// Replaces the value at a path of the text; returns false when there is none.
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
    const std::string_view why = source.isRefused(path) ? "the newest models of {} refuse it; it comes back"
                                                        : "{} has no equivalent; it comes back";
    reporter.note(Change::Carried, path, "settings", fmt::format(fmt::runtime(why), toString(target)));
  }
}

}  // namespace

SettingsSource::SettingsSource(std::string request, Dialect dialect, const std::vector<Setting>& written)
    : request_(std::move(request)), dialect_(dialect) {
  std::vector<std::string> changed;
  std::vector<std::string> hidden;
  for (const Setting& setting : written) {
    const std::string_view value = at(setting.path);
    if (value.empty() || !saysTheSame(value, setting.json)) changed.push_back(setting.unit);
  }
  const auto isChanged = [&](const Setting& setting) {
    return std::ranges::find(changed, setting.unit) != changed.end();
  };
  for (const Setting& setting : written) {
    if (!isChanged(setting)) hidden.push_back(setting.path);
    const bool gone = isChanged(setting) && at(placeOf(setting.unit, dialect)).empty();
    if (gone && std::ranges::find(removed_, setting.unit) == removed_.end()) removed_.push_back(setting.unit);
  }
  unchanged_ = std::move(hidden);
  used_ = unchanged_;
}

bool SettingsSource::isRefused(const std::string& path) const {
  return std::ranges::any_of(refused_, [&](const std::string& each) {
    return dialect_ == Dialect::Gemini ? camelCase(path) == each : path == each;
  });
}

std::string_view SettingsSource::at(std::string_view path) const {
  const bool isHidden = std::ranges::any_of(unchanged_, [&](const std::string& each) {
    return path.starts_with(each) && (path.size() == each.size() || path[each.size()] == '.');
  });
  if (isHidden) return {};
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
  std::vector<std::string> out = partlyUsed_;
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

namespace {

// Returns the settings that somebody set, translated for the target. A newer request takes precedence. `newest` is the
// newest request; `older` are the others, newest first.
std::vector<Setting> authored(SettingsSource& newest, const std::vector<const RequestFrame*>& older, Dialect target,
                              bool hasTools, const SettingsSource* known, History& history,
                              std::vector<std::string>& removed) {
  std::vector<std::string> decided;
  std::vector<Setting> out;
  const auto isDecided = [&](const std::string& unit) { return std::ranges::find(decided, unit) != decided.end(); };
  const auto take = [&](SettingsSource& source) {
    std::vector<std::string> units = source.removedUnits();
    for (const std::string& unit : units) {
      if (!isDecided(unit)) removed.push_back(unit);
    }
    for (Setting& setting : translate(source, target, hasTools, known, history)) {
      if (isDecided(setting.unit)) continue;
      units.push_back(setting.unit);
      out.push_back(std::move(setting));
    }
    std::ranges::move(units, std::back_inserter(decided));
  };
  take(newest);
  for (const RequestFrame* text : older) {
    SettingsSource source(emptyRequest(*text), text->dialect, text->written);
    take(source);
  }
  return out;
}

// Returns the requests before the document's own, newest first, back to the latest one of the target.
std::vector<const RequestFrame*> olderTexts(const History& history, Dialect from, Dialect target) {
  std::vector<const RequestFrame*> older;
  for (auto text = history.requestFrames.rbegin(); text != history.requestFrames.rend(); ++text) {
    if (text->dialect == target) break;
    if (text->dialect != from && !text->bare) older.push_back(&*text);
  }
  return older;
}

}  // namespace

void addSettings(History& history, Dialect from, bool hasTools, RequestFrame& requestFrame, Reporter& reporter) {
  if (requestFrame.bare) return;
  const RequestFrame* own = history.requestFrameOf(from);
  const Dialect target = requestFrame.dialect;
  const bool hasSettings = own != nullptr && !own->bare;
  SettingsSource source(hasSettings ? emptyRequest(*own) : "{}", from,
                        hasSettings ? own->written : std::vector<Setting>());
  std::vector<std::string> removed;
  std::vector<Setting> settings;
  if (hasSettings)
    settings = authored(source, olderTexts(history, from, target), target, hasTools, nullptr, history, removed);
  const bool limited = std::ranges::find(settings, "max_tokens", &Setting::path) != settings.end();
  if (target == Dialect::Anthropic && !limited) {
    settings.push_back({.unit = "maxTokens", .path = "max_tokens", .json = std::to_string(kDefaultMaxTokens)});
    reporter.note(Change::Synthetic, "max_tokens", "settings",
                  fmt::format("anthropic requires it; {} was added", kDefaultMaxTokens));
  }
  if (!settings.empty()) {
    requestFrame.parts.back().text.insert(0, "," + members(settings));
    requestFrame.written = settings;
  }
  reportUnused(source, target, reporter);
}

void updateSettings(History& history, Dialect from, bool hasTools, const RequestFrame& requestFrame, FilledText& text,
                    Reporter& reporter) {
  const RequestFrame* own = history.requestFrameOf(from);
  if (own == nullptr || own->bare || requestFrame.bare || !json::check(text.before + text.after)) return;
  const Dialect target = requestFrame.dialect;
  SettingsSource source(emptyRequest(*own), from, own->written);
  const SettingsSource known(text.before + text.after, target);
  std::vector<std::string> removed;
  for (const Setting& setting :
       authored(source, olderTexts(history, from, target), target, hasTools, &known, history, removed)) {
    const SettingsSource standing(text.before + text.after, target);
    const std::string_view value = standing.at(setting.path);
    if (!value.empty() && saysTheSame(value, setting.json)) continue;
    const bool replaced = replaceIn(text, target, setting);
    reporter.note(replaced ? Change::Edited : Change::Added, setting.path, "settings",
                  replaced ? fmt::format("changed while the request was {}'s", toString(from))
                           : fmt::format("set while the request was {}'s; it is not in this one", toString(from)));
  }
  const SettingsSource standing(text.before + text.after, target);
  for (const std::string& unit : removed) {
    const std::string_view path = placeOf(unit, target);
    if (path.empty() || standing.at(path).empty()) continue;
    reporter.note(Change::Removed, std::string(path), "settings",
                  fmt::format("taken away while the request was {}'s; it came back", toString(from)));
  }
  reportUnused(source, target, reporter);
}

}  // namespace bough::message
