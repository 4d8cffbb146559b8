#include "cli/definition/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>

#include "agent/providers/offline.h"
#include "agent/rules/command_rules.h"
#include "agent/rules/git_files.h"
#include "base/json/json_scan.h"
#include "base/json/json_write.h"
#include "base/system/named_file.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "bough/agent/tools.h"
#include "cli/definition/help.h"
#include "cli/terminal/output_file.h"

namespace bough::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

// Reads a settings file and keeps track of the line of each value.
class SettingsReader {
 public:
  SettingsReader(std::string_view text, std::string path) : text_(text), path_(std::move(path)) {}

  Result<Settings> read() {
    if (const auto sound = json::check(text_); !sound) {
      return wrong(text_.substr(std::min(sound.error().offset, text_.size())),
                   fmt::format("this is not JSON: {}", sound.error().reason));
    }
    const std::string_view all = text_.substr(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
    std::string_view model;
    BOUGH_TRY(
        members(all, "the settings",
                {{"model",
                  [&](auto value) {
                    model = value;
                    return string(value, settings_.model);
                  }},
                 {"thinking", [&](auto value) { return thinking(value); }},
                 {"system", [&](auto value) { return string(value, settings_.system); }},
                 {"providers", [&](auto value) { return eachMember(value, "providers", &SettingsReader::provider); }},
                 {"permissions", [&](auto value) { return permissions(value); }},
                 {"prices", [&](auto value) { return eachMember(value, "prices", &SettingsReader::price); }}}));
    BOUGH_TRY(checkModel(model));  // checked last: its provider may be defined after it
    return std::move(settings_);
  }

 private:
  using Read = std::function<Result<void>(std::string_view value)>;
  using Readers = std::vector<std::pair<std::string, Read>>;

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view where, const std::string& what,
                                             std::string hint = {}) const {
    const auto offset = static_cast<std::size_t>(where.data() - text_.data());
    const auto line = 1 + std::ranges::count(text_.substr(0, offset), '\n');
    if (hint.empty()) hint = fmt::format("correct line {} of {}; docs/settings.md explains every setting", line, path_);
    return fail(ErrorCode::InvalidArgument, fmt::format("{}, line {}: {}", path_, line, what), std::move(hint));
  }

  // Refuses repeated names, because it would be unclear which one counts.
  [[nodiscard]] Result<void> checkNoneTwice(std::string_view object) const {
    std::set<std::string> names;
    json::ObjectReader reader(object);
    while (const auto member = reader.next()) {
      std::string key;
      json::appendDecoded(key, member->key);
      if (!names.insert(key).second) return wrong(member->key, fmt::format("{} is given twice", text::printable(key)));
    }
    return {};
  }

  // Reads an object that may have only these members.
  Result<void> members(std::string_view object, const std::string& name, const Readers& known) {
    if (json::kindOf(object) != json::Kind::Object) return wrong(object, fmt::format("{} must be an object", name));
    BOUGH_TRY(checkNoneTwice(object));
    json::ObjectReader reader(object);
    while (const auto member = reader.next()) {
      const auto found = std::ranges::find_if(known, [&](const auto& each) { return member->keyIs(each.first); });
      if (found == known.end()) {
        std::vector<std::string> names;
        for (const auto& each : known) names.push_back(each.first);
        const std::string key = text::printable(member->key);
        const std::string meant = nearest(key, names);
        return wrong(member->key, fmt::format("there is no setting {} in {}", key, name),
                     meant.empty() ? fmt::format("the settings there are {}", fmt::join(names, ", "))
                                   : fmt::format("did you mean {}?", meant));
      }
      setting_ = found->first;
      BOUGH_TRY(found->second(member->value));
    }
    return {};
  }

  // Reads an object whose names the user has chosen.
  Result<void> eachMember(std::string_view object, const std::string& name,
                          Result<void> (SettingsReader::*take)(const std::string& key, std::string_view value)) {
    if (json::kindOf(object) != json::Kind::Object) return wrong(object, fmt::format("{} must be an object", name));
    BOUGH_TRY(checkNoneTwice(object));
    json::ObjectReader reader(object);
    while (const auto member = reader.next()) {
      std::string key;
      json::appendDecoded(key, member->key);
      BOUGH_TRY((this->*take)(key, member->value));
    }
    return {};
  }

  Result<void> string(std::string_view value, std::string& out) {
    auto text = json::decodeString(value);
    if (!text || text->empty()) return wrong(value, setting_ + " must be a text that is not empty, in quotes");
    out = std::move(*text);
    return {};
  }

  // `problem` returns why a text has no effect; empty when it may have one.
  Result<void> strings(std::string_view value, std::vector<std::string>& out,
                       const std::function<std::string(const std::string& text)>& problem) {
    if (json::kindOf(value) != json::Kind::Array)
      return wrong(value, setting_ + " must be a list of texts: [\"…\", …]");
    json::ArrayReader reader(value);
    while (const auto each = reader.next()) {
      BOUGH_TRY(string(*each, out.emplace_back()));
      const std::string why = problem(out.back());
      if (why.empty()) continue;
      return wrong(*each, fmt::format("{}: \"{}\" allows nothing", setting_, text::excerpt(out.back(), 60)), why);
    }
    return {};
  }

  Result<void> number(std::string_view value, double& out) {
    if (json::kindOf(value) != json::Kind::Number) return wrong(value, setting_ + " must be a number");
    out = std::strtod(std::string(value).c_str(), nullptr);
    if (out < 0 || out > 1e9) return wrong(value, setting_ + " must be a number of dollars per million tokens");
    return {};
  }

  Result<void> thinking(std::string_view value) {
    BOUGH_TRY(string(value, settings_.thinking));
    const std::vector<std::string> levels = {"off", "low", "medium", "high"};
    if (std::ranges::find(levels, settings_.thinking) != levels.end()) return {};
    return wrong(value, fmt::format("thinking must be one of {}", fmt::join(levels, ", ")));
  }

  [[nodiscard]] Result<void> checkModel(std::string_view value) const {
    if (settings_.model.empty()) return {};
    std::vector<std::string> names = agent::providerNames();
    for (const agent::OwnProvider& each : settings_.providers) names.push_back(each.name);
    const std::size_t slash = settings_.model.find('/');
    const std::string provider = settings_.model.substr(0, slash);
    if (std::ranges::find(names, provider) == names.end()) {
      const std::string meant = nearest(provider, names);
      return wrong(value, fmt::format("model: there is no provider {}", text::excerpt(provider, 60)),
                   meant.empty() ? fmt::format("write PROVIDER/MODEL; the providers are {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean {}?", meant));
    }
    if (provider == "offline" && slash != std::string::npos && settings_.model != agent::kOfflineModel) {
      return wrong(value, fmt::format("model: {} is the only offline model", agent::kOfflineModel));
    }
    if (slash != std::string::npos && slash + 1 < settings_.model.size()) return {};
    return wrong(value, "model must be PROVIDER/MODEL, such as anthropic/claude-sonnet-5-5");
  }

  // Reads the name of a variable. A key written there by mistake is refused, and the message does not show it.
  Result<void> variable(std::string_view value, std::string& out) {
    BOUGH_TRY(string(value, out));
    const auto isOfName = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (std::ranges::all_of(out, isOfName) && !(out.front() >= '0' && out.front() <= '9')) return {};
    return wrong(value, setting_ + " must be the name of an environment variable, such as WORK_API_KEY, not a key",
                 "put the key into a variable, for example `export WORK_API_KEY=…`, and its name here");
  }

  // Reads commands in the form that --allow takes.
  Result<void> commands(std::string_view value, std::vector<std::string>& out) {
    BOUGH_TRY(strings(value, out, [](const std::string& each) { return agent::whyAllowsNothing(each); }));
    return {};
  }

  // Reads the permissions saved by "always here": the questions that tools ask in that folder.
  Result<void> exactly(std::string_view value, const std::string& folder, std::vector<std::string>& out) {
    const std::string outside = ", which is outside of " + folder;
    return strings(value, out, [&](const std::string& each) -> std::string {
      const auto begins = [&](std::string_view verb) { return each.starts_with(verb) && each.size() > verb.size(); };
      const bool isOfPlace = each.ends_with(outside) || each.ends_with(agent::kMayObey);
      const bool isOfFile =
          isOfPlace && std::ranges::any_of(std::array{"read ", "write to ", "change ", "list ", "search "}, begins);
      if (begins("run ") || each == agent::kChangeFiles || isOfFile) return {};
      return "write \"run COMMAND\" or \"change files\"";
    });
  }

  Result<void> provider(const std::string& name, std::string_view value) {
    const auto isPlain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (name.empty() || !std::ranges::all_of(name, isPlain)) {
      return wrong(value, "the name of a provider may hold letters, digits, - and _");
    }
    if (name == "offline") return wrong(value, "offline is the name of the built-in model; choose another one");
    agent::OwnProvider own{.name = name};
    std::string api;
    BOUGH_TRY(members(value, "a provider",
                      {{"api", [&](auto each) { return string(each, api); }},
                       {"baseUrl", [&](auto each) { return string(each, own.baseUrl); }},
                       {"keyVariable", [&](auto each) { return variable(each, own.keyVariable); }}}));
    const auto dialect = parseDialect(api);
    if (!dialect || *dialect == Dialect::Plain || *dialect == Dialect::Bough) {
      return wrong(
          value,
          fmt::format("the provider {} needs \"api\": anthropic, openai-chat, openai-responses or gemini", name));
    }
    const std::size_t scheme = own.baseUrl.starts_with("https://") ? 8 : own.baseUrl.starts_with("http://") ? 7 : 0;
    if (scheme == 0 || own.baseUrl.size() == scheme || own.baseUrl[scheme] == '/') {
      return wrong(value, fmt::format("the provider {} needs \"baseUrl\", such as https://llm.example.org/v1", name));
    }
    own.dialect = *dialect;
    settings_.providers.push_back(std::move(own));
    return {};
  }

  Result<void> permissions(std::string_view value) {
    return members(value, "permissions",
                   {{"commands", [&](auto each) { return commands(each, settings_.commands); }},
                    {"folders", [&](auto each) { return eachMember(each, "folders", &SettingsReader::folder); }}});
  }

  Result<void> folder(const std::string& path, std::string_view value) {
    if (!path.starts_with('/')) return wrong(value, fmt::format("the folder {} must be an absolute path", path));
    std::string plain = std::filesystem::path(path).lexically_normal();  // in the form that the chat uses
    if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
    FolderPermissions& here = settings_.folders[plain];
    return members(value, "a folder",
                   {{"commands", [&](auto each) { return commands(each, here.commands); }},
                    {"exactly", [&](auto each) { return exactly(each, plain, here.exactly); }}});
  }

  Result<void> price(const std::string& model, std::string_view value) {
    if (model.empty() || model.find_first_of(" \t\r\n#") != std::string::npos) {
      return wrong(value, "the name of a model holds no blanks");
    }
    if (model.find('*') < model.size() - 1) {
      return wrong(value, fmt::format("{}: a * must be at the end of the name", text::excerpt(model, 60)));
    }
    double input = -1;
    double output = -1;
    double cacheRead = -1;
    double cacheWrite = -1;
    BOUGH_TRY(members(value, "a price",
                      {{"input", [&](auto each) { return number(each, input); }},
                       {"output", [&](auto each) { return number(each, output); }},
                       {"cacheRead", [&](auto each) { return number(each, cacheRead); }},
                       {"cacheWrite", [&](auto each) { return number(each, cacheWrite); }}}));
    if (input < 0 || output < 0) {
      return wrong(value, fmt::format("the price of {} needs \"input\" and \"output\"", text::excerpt(model, 60)));
    }
    // Without a cache price, cached tokens cost the same as other input.
    if (cacheRead < 0) cacheRead = input;
    if (cacheWrite < 0) cacheWrite = input;
    settings_.prices += fmt::format("{} {:.6f} {:.6f} {:.6f} {:.6f}\n", model, input, output, cacheRead, cacheWrite);
    return {};
  }

  std::string_view text_;
  std::string path_;
  std::string setting_;  ///< The name of the setting that is being read.
  Settings settings_;
};

// Returns the object with one member replaced or added; the others keep their bytes.
std::string withMember(std::string_view object, const std::string& name, const std::string& value, int depth) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  std::string out = "{";
  bool replaced = false;
  const auto put = [&](std::string_view key, std::string_view each) {
    out += fmt::format("{}\n{}  \"{}\": {}", out.size() > 1 ? "," : "", indent, key, each);
  };
  json::ObjectReader reader(object);
  while (const auto member = reader.next()) {
    const bool same = member->keyIs(name) && !replaced;
    put(member->key, same ? std::string_view(value) : member->value);
    replaced = replaced || same;
  }
  const std::string quoted = json::quoted(name);
  if (!replaced) put(std::string_view(quoted).substr(1, quoted.size() - 2), value);
  return out + "\n" + indent + "}";
}

// Returns an empty text when the file does not exist.
Result<std::string> readSettingsFile(const std::string& path) {
  auto text = readNamedFile(path, kMostBytes);
  if (!text && text.error().code == ErrorCode::NotFound) return std::string();
  if (!text) {
    text.error().hint = text.error().code == ErrorCode::Io
                            ? "these are your settings: check the rights of the file"
                            : "these are your settings; docs/settings.md says what belongs there";
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors begin a file with it
  if (text && text->starts_with(kByteOrderMark)) text->erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace

std::string settingsPath() {
  const std::string config = userFolder(UserFolder::Config);
  return config.empty() ? config : config + "/bough/config.json";
}

Result<Settings> parseSettings(std::string_view text, const std::string& path) {
  return SettingsReader(text, path).read();
}

std::vector<std::string> userInstructions() {
  std::vector<std::string> files;
  if (const auto config = userFolder(UserFolder::Config); !config.empty()) files.push_back(config + "/bough/AGENTS.md");
  if (const auto home = homeFolder(); !home.empty()) files.push_back(home + "/.claude/CLAUDE.md");
  return files;
}

Result<Settings> readSettings() {
  const std::string path = settingsPath();
  if (path.empty()) return Settings{};
  BOUGH_TRY(const std::string text, readSettingsFile(path));
  if (isBlank(text)) return Settings{};
  return parseSettings(text, path);
}

// When two chats save at the same moment, the later one wins, and the other question is asked again.
Result<void> allowInFolder(const std::string& folder, const std::string& permission) {
  const std::string path = settingsPath();
  if (path.empty())
    return fail(ErrorCode::InvalidArgument, "cannot save settings: HOME is not set", "set HOME or XDG_CONFIG_HOME");
  BOUGH_TRY(std::string text, readSettingsFile(path));
  if (isBlank(text)) text = "{}";
  BOUGH_TRY(Settings settings, parseSettings(text, path));
  std::vector<std::string>& exactly = settings.folders[folder].exactly;
  if (std::ranges::find(exactly, permission) != exactly.end()) return {};
  exactly.push_back(permission);
  json::Writer writer;
  writer.beginArray();
  for (const std::string& each : exactly) writer.string(each);
  writer.endArray();
  const std::string permissions(json::findMember(text, "permissions").value_or("{}"));
  const std::string folders(json::findMember(permissions, "folders").value_or("{}"));
  const std::string here(json::findMember(folders, folder).value_or("{}"));
  const std::string changed =
      withMember(text, "permissions",
                 withMember(permissions, "folders",
                            withMember(folders, folder, withMember(here, "exactly", writer.text(), 3), 2), 1),
                 0) +
      "\n";
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  // If the path is a link, change the file that it leads to.
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, problem);
  return writeOutputFile(problem ? path : real.string(), changed, Existing::Replaced);
}

}  // namespace bough::cli
