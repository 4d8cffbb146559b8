#include "cli/commands/about/completion_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/text.h"
#include "bough/agent/provider.h"
#include "cli/commands/commands.h"
#include "cli/definition/settings.h"
#include "cli/names/catalog_view.h"
#include "cli/names/session_name.h"
#include "cli/names/when.h"
#include "cli/views/transcript_file.h"

namespace bough::cli::completion_command {
namespace {

constexpr std::size_t kMostSessions = 1'000;

// What a shell shows beside a session, and the session's rank among the most recent ones.
struct SessionNote {
  std::size_t place = SIZE_MAX;
  std::string text = {};
};

// Returns when sessions were used, and their titles. Leaves out sessions that the catalog does not know yet, because
// the user is waiting for a key.
std::map<std::string, SessionNote> sessionNotes(const Context& context) {
  std::map<std::string, SessionNote> notes;
  auto view = openCatalogView(context, false, WhenOutOfDate::Leave);
  if (!view || view->isOutOfDate) return notes;
  auto rows = view->catalog->list({.filter = {}, .limit = kMostSessions, .models = false});
  if (!rows) return notes;
  titleForks(*view->catalog, *rows);
  const std::uint64_t now = nowMs();
  for (const SessionSummary& row : *rows) {
    const std::string title = text::excerptToWidth(displayTitle(row), 50);
    const std::string age = formatAge(row.activeMs, now);
    notes[row.sessionId] = {.place = notes.size(), .text = title.empty() ? age : fmt::format("{:<9} {}", age, title)};
  }
  return notes;
}

// Returns short ids, as lists show them. Returns whole ids if the beginning of an id was typed, or if two short ids are
// equal. A note follows after a tab if the shell shows notes.
Words sessionNames(const Context& context, const Typed& typed) {
  auto store = context.openStore();
  if (!store) return {};
  auto sessions = (*store)->listSessions();
  if (!sessions) return {};
  auto notes = typed.notes ? sessionNotes(context) : std::map<std::string, SessionNote>();
  if (!notes.empty()) std::ranges::stable_sort(*sessions, {}, [&](const auto& id) { return notes[id].place; });
  std::map<std::string, std::size_t> alike;
  for (const std::string& id : *sessions) ++alike[exactName(id)];
  Words names;
  for (const std::string& id : *sessions) {
    const std::string name = exactName(id);
    const bool whole =
        alike[name] > 1 || (!typed.word.empty() && !name.starts_with(typed.word) && id.starts_with(typed.word));
    const auto note = notes.find(id);
    names.push_back(noted(whole ? id : name, note == notes.end() ? "" : note->second.text));
  }
  names.push_back(noted("@last", helpNote("the most recent session", typed.notes)));
  return names;
}

Words labelNames(const Context& context, const std::string& sessionName) {
  auto session = openForReading(context, sessionName);
  auto labels = session ? session->store->labels(session->sessionId) : std::unexpected(session.error());
  Words names;
  if (!labels) return names;
  for (SessionLabel& label : *labels) names.push_back(std::move(label.name));
  return names;
}

Words entryNames(const Context& context, const std::string& sessionName) {
  Words names{"@head", "@root"};
  std::ranges::move(labelNames(context, sessionName), std::back_inserter(names));
  return names;
}

// Returns one property of all sessions (key, agent, models), without repetition, in the order of the sessions.
template <typename Take>
Words ofSessions(const Context& context, bool models, Take take) {
  auto view = openCatalogView(context, false, WhenOutOfDate::Leave);
  auto rows = view ? view->catalog->list({.filter = {}, .limit = kMostSessions, .models = models})
                   : Result<std::vector<SessionSummary>>(std::unexpected(view.error()));
  Words found;
  if (!rows) return found;
  const auto add = [&](const std::string& value) {
    if (!value.empty() && std::ranges::find(found, value) == found.end()) found.push_back(value);
  };
  for (const SessionSummary& row : *rows) take(row, add);
  return found;
}

// Returns the models of providers that can be used now.
Words modelNames() {
  const auto settings = readSettings();
  Words names;
  for (const agent::UsableProvider& each :
       agent::usableProviders(settings ? settings->providers : std::vector<agent::OwnProvider>())) {
    if (!each.needs.empty()) continue;
    if (each.models.empty()) names.push_back(each.name + "/");
    for (const std::string& model : each.models) names.push_back(each.name + "/" + model.substr(0, model.find('*')));
  }
  return names;
}

// Completes the last element of a list with commas.
Words agentLists(const Typed& typed) {
  const std::string before = typed.word.substr(0, typed.word.rfind(',') + 1);
  Words names = writableAgents();
  if (before.empty()) names.emplace_back("all");
  for (std::string& name : names) name.insert(0, before);
  return names;
}

Words trashNames(const Context& context) {
  auto store = context.openStore();
  auto trash = store ? (*store)->listTrash() : std::unexpected(store.error());
  Words names;
  if (!trash) return names;
  for (const TrashedSession& each : *trash) names.push_back(each.sessionId);
  return names;
}

Words timesFor(const Option& option) {
  if (option.value == "WHEN") return {"today", "yesterday", "7d", "30d"};
  Words ages{"1d", "7d", "30d", "90d"};
  if (option.name.ends_with("ttl")) ages.emplace_back("off");
  return ages;
}

// Returns values for options that take neither choices nor sessions nor entries.
Words optionValues(const Option& option, const Context& context, const Typed& typed) {
  const bool makes = typed.command == "new" || typed.command == "fork";
  if (option.name == "--key" && !makes)
    return ofSessions(context, false, [](const SessionSummary& row, auto& add) { add(row.key); });
  if (option.name == "--agent")
    return ofSessions(context, false, [](const SessionSummary& row, auto& add) { add(row.agent); });
  if (option.name == "--model" && typed.command == "usage")
    return ofSessions(context, true, [](const SessionSummary& row, auto& add) {
      for (const ModelUsage& each : row.models) add(each.model);
    });
  if (option.name == "--model") return modelNames();
  if (option.name == "--agents") return agentLists(typed);
  return option.value == "WHEN" || option.value == "AGE" ? timesFor(option) : Words();
}

}  // namespace

std::string noted(const std::string& word, std::string_view note) {
  return note.empty() ? word : fmt::format("{}\t{}", word, note);
}

std::string helpNote(std::string_view help, bool notes) {
  constexpr std::size_t kColumns = 55;
  return notes ? text::excerptToWidth(help, kColumns) : std::string();
}

Words commandNames(bool notes) {
  Words names;
  for (const CommandGroup& group : commandGroups()) {
    for (const Command& command : group.commands)
      names.push_back(noted(command.name, helpNote(command.summary, notes)));
  }
  return names;
}

Words valuesOf(const Option& option, const Context& context, const Typed& typed) {
  if (!option.choices.empty()) return option.choices;
  if (option.name == "--restore") return trashNames(context);
  if (option.name == "SESSION" || option.value == "SESSION") return sessionNames(context, typed);
  const bool other = option.name == "OTHER" || option.name == "--branch";
  const std::string& session = other && !typed.given.empty() ? typed.given : typed.session;
  if (option.name == "ENTRY" || other || option.value == "ENTRY") {
    Words names = entryNames(context, session);
    if (option.name == "--from") names.emplace_back("@start");
    return names;
  }
  if (option.name == "LABEL" || (option.name == "NAME" && typed.command == "label"))
    return labelNames(context, session);
  return option.name == "COMMAND" ? commandNames(typed.notes) : optionValues(option, context, typed);
}

}  // namespace bough::cli::completion_command
