#include "bough/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>
#include <utility>

#include "agent/providers/model_table.h"
#include "base/check.h"
#include "base/json/json_write.h"
#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/commands/commands.h"
#include "cli/names/entry_name.h"
#include "cli/names/session_name.h"
#include "cli/terminal/output.h"
#include "cli/terminal/table.h"
#include "cli/terminal/wrapped_text.h"
#include "cli/views/entry_view.h"
#include "cli/views/prefix_steps.h"
#include "cli/views/price_file.h"

namespace bough::cli::context_command {
namespace {

constexpr std::uint64_t kWhatModelsRead = UINT64_MAX;  // the budget when none is given; 0 means no limit

struct Options {
  std::string session;
  std::string as;
  std::string at;
  std::uint64_t budget = kWhatModelsRead;
  bool explain = false;
};

// Prints the JSON that contains a context's request, without copying its messages. `write` returns that JSON for a
// request without messages.
void printWithMessages(bough::Context& built, const std::function<std::string(const std::string& request)>& write) {
  const std::string messages = std::exchange(built.messages, "[]");
  const std::string request = built.requestJson();
  constexpr std::string_view kEnd = "[]}";
  BOUGH_CHECK(request.ends_with(kEnd));
  const std::string out = write(request);
  const std::size_t end = out.find(request) + request.size();
  printJsonPart(std::string_view(out).substr(0, end - kEnd.size()));
  printJsonPart(messages);
  printJsonLine(std::string_view(out).substr(end - 1));
}

std::string asJson(const bough::Context& built, const std::string& request) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("sessionId", built.sessionId).memberOrNull("headId", built.headId);
  writer.member("dialect", toString(built.dialect));
  if (!built.model.empty()) writer.member("model", built.model);
  if (!built.provider.empty()) writer.member("provider", built.provider);
  if (!built.thinkingLevel.empty()) writer.member("thinkingLevel", built.thinkingLevel);
  writer.member("tokens", built.tokens).member("countedTokens", built.countedTokens);
  writer.member("turnsLeftOut", built.turnsLeftOut).member("messagesLeftOut", built.messagesLeftOut);
  writer.memberOrNull("firstEntryId", built.firstEntryId).memberOrNull("summaryEntryId", built.summaryEntryId);
  return writer.key("request").raw(request).key("report").raw(built.report.toJson()).endObject().take();
}

void printFindings(const bough::Context& built) {
  printMessage(
      fmt::format("{} for {}, about {}{}", counted(built.parts.size(), "message"), toString(built.dialect),
                  counted(built.tokens, "token"),
                  built.turnsLeftOut > 0 ? fmt::format("; {} left out", counted(built.turnsLeftOut, "turn")) : ""));
  for (const Finding& finding : built.report.findings) {
    printMessage(fmt::format("  {} {} {}: {}", toString(finding.change), text::printable(finding.entryId),
                             text::printable(finding.field), text::printable(finding.reason)));
  }
}

void printStepJson(const PrefixStep& step) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).member("entryId", step.at);
  writer.member("messages", step.messages).member("sameMessages", step.sameMessages);
  writer.member("tokens", step.tokens).member("newTokens", step.newTokens).member("extends", step.extendsPrevious);
  step.extendsPrevious ? writer.key("reason").null() : writer.member("reason", step.reason);
  printJsonLine(writer.endObject().text());
}

// Prints one row per request: what it repeats unchanged, and what is new.
void printSteps(const std::vector<PrefixStep>& steps) {
  using enum Table::Align;
  Table table({{.title = "request"},
               {.title = "messages", .align = Right},
               {.title = "same", .align = Right},
               {.title = "tokens", .align = Right, .spare = 1},
               {.title = "new tokens", .align = Right},
               {.title = "", .spare = 2}});
  for (const PrefixStep& step : steps) {
    const bool isNext = &step == &steps.back();
    const std::string remark = std::string(isNext ? "next" : "") + (step.extendsPrevious ? ""
                                                                    : isNext             ? ", differs"
                                                                                         : "differs");
    table.add({shortId(step.at), fmt::format("{}", step.messages), fmt::format("{}", step.sameMessages),
               grouped(step.tokens), grouped(step.newTokens), remark});
  }
  table.print();
}

std::string reasonText(const PrefixStep& step) {
  std::string reason = step.reason;
  if (const std::size_t at = step.reasonEntry.empty() ? std::string::npos : reason.find(step.reasonEntry);
      at != std::string::npos) {
    reason.replace(at, step.reasonEntry.size(), shortId(step.reasonEntry));
  }
  return text::printable(reason);
}

ExitCode explain(const Context& context, const std::vector<PrefixStep>& steps) {
  const auto breaks = std::ranges::count_if(steps, [](const PrefixStep& step) { return !step.extendsPrevious; });
  if (context.json) {
    std::ranges::for_each(steps, printStepJson);
  } else if (steps.empty()) {
    printMessage("there is only one request: nothing to compare");
  } else {
    printSteps(steps);
    for (const PrefixStep& step : steps) {
      if (!step.extendsPrevious) printWrapped(fmt::format("{}: {}", shortId(step.at), reasonText(step)), 2);
    }
    printWrapped(breaks == 0
                     ? "each request begins with the one before it, byte for byte; new tokens are what the "
                       "provider's cache does not hold"
                     : fmt::format("{}; the provider reads new tokens at full price",
                                   breaks == 1
                                       ? "1 request does not begin with the one before it"
                                       : fmt::format("{} requests do not begin with the ones before them", breaks)));
  }
  return breaks == 0 ? kDone : kProblem;
}

// Returns the dialect of the branch's last answer, because the next request goes there; Anthropic's when there is no
// answer.
Result<Dialect> dialectOf(SessionStore& store, const std::string& session, const std::string& at) {
  for (const std::size_t last : {std::size_t{8}, std::size_t{200}}) {  // entries may be long, so begin with a few
    BOUGH_TRY(const auto entries, store.loadSessionEntries(session, {.last = last, .branch = at}));
    for (const Entry& entry : std::views::reverse(entries)) {
      const auto message = holdsMessage(entry) ? normalizeEntry(entry) : std::unexpected(Error{});
      if (!message || message->role != Role::Assistant) continue;
      return message->dialect == Dialect::Plain ? Dialect::Anthropic : message->dialect;
    }
  }
  return Dialect::Anthropic;
}

// Returns the largest window of all models in the table; no model reads more.
Result<std::uint64_t> largestWindow() {
  BOUGH_TRY(const auto table, agent::ModelTable::read(environmentVariable("BOUGH_MODELS")));
  const auto largest = std::ranges::max_element(table.rows(), {}, &agent::ModelFacts::windowTokens);
  return largest == table.rows().end() ? agent::ModelFacts().windowTokens : largest->windowTokens;
}

// Builds only the end of a branch that exceeds every model's window, but never less than the whole newest turn. `build`
// makes the result from these options.
template <typename Build>
auto within(ContextOptions wanted, std::uint64_t budget, const Build& build) -> decltype(build(wanted)) {
  if (budget != kWhatModelsRead) {
    if (budget > 0) wanted.budgetTokens = budget;
    return build(wanted);
  }
  const bool strict = wanted.strict;
  BOUGH_TRY(wanted.budgetTokens, largestWindow());
  auto built = build(wanted);
  if (built || built.error().code != ErrorCode::InvalidArgument) return built;
  // A message that --strict refuses is an error, whatever the budget is.
  if (std::exchange(wanted.strict, false) && build(wanted)) return built;
  wanted.strict = strict;
  wanted.budgetTokens.reset();
  return build(wanted);
}

Result<ExitCode> run(const Context& context, const Options& options) {
  BOUGH_TRY(auto named, openForReading(context, options.session));
  SessionStore& store = *named.store;
  const std::string& session = named.sessionId;
  ContextOptions wanted{.strict = context.strict};
  if (!options.at.empty()) {
    BOUGH_TRY(auto entry, resolveEntry(store, session, options.at));
    wanted.at = entry;
  }
  if (options.as.empty()) {
    BOUGH_TRY(const auto state, store.sessionState(session));
    BOUGH_TRY(wanted.dialect, dialectOf(store, session, wanted.at.empty() ? state.headId : wanted.at));
  } else {
    BOUGH_TRY(wanted.dialect, parseDialect(options.as));
  }
  if (options.explain) {
    constexpr std::size_t kMost = 10;
    const auto compare = [&](const ContextOptions& how) { return prefixSteps(store, session, how, kMost); };
    BOUGH_TRY(const auto steps, within(wanted, options.budget, compare));
    return explain(context, steps);
  }
  const auto build = [&](const ContextOptions& how) { return buildContext(store, session, how); };
  BOUGH_TRY(auto built, within(wanted, options.budget, build));
  if (context.json) {
    printWithMessages(built, [&](const std::string& request) { return asJson(built, request); });
  } else {
    printWithMessages(built, std::identity());
    printFindings(built);
    if (built.turnsLeftOut > 0 && options.budget == kWhatModelsRead) {
      printMessage("  → no model reads more at once; --budget 0 keeps every turn");
    }
  }
  for (const Finding& finding : built.report.findings) {
    if (finding.change == Change::Invalid) return kProblem;
  }
  return kDone;
}

}  // namespace

Command define() {
  auto options = std::make_shared<Options>();
  return {
      .name = "context",
      .summary = "Print what a model gets: one branch, in the form that a provider accepts",
      .details =
          "Prints the messages, system prompt and tools of the request, and reports what was changed and why. "
          "Every tool call is followed by its result, and the latest summary replaces the messages that it sums "
          "up. With --budget, or when the branch is longer than any model can read (`bough chat --model-table`), only "
          "the newest turns that fit are kept. --explain compares the last requests of the branch: the cache of a "
          "provider helps only when each request begins with the request before it, byte for byte. It says where and "
          "why a request does not; the exit code is then 1.",
      .examples =
          "  bough context SESSION --to anthropic\n"
          "  bough context SESSION --to gemini --budget 100000\n"
          "  bough context SESSION --to openai-chat --at ENTRY --json\n"
          "  bough context SESSION --explain",
      .options = {{.name = "SESSION", .help = kSessionHelp, .target = &options->session, .required = true},
                  {.name = "--to,--as",
                   .help = "The dialect of the API; default: that of the last answer",
                   .target = &options->as,
                   .choices = {"anthropic", "openai-chat", "openai-responses", "gemini", "bough"}},
                  {.name = "--budget",
                   .help = "Keep at most N tokens; default: what the largest model reads; 0: no limit",
                   .target = &options->budget,
                   .value = "N",
                   .least = 0},
                  {.name = "--at",
                   .help = "Use the branch that ends in this entry; default: @head",
                   .target = &options->at,
                   .value = "ENTRY"},
                  {.name = "--explain",
                   .help = "Say where and why consecutive requests differ",
                   .target = &options->explain}},
      .run = [options](const Context& context) { return run(context, *options); },
  };
}

}  // namespace bough::cli::context_command
