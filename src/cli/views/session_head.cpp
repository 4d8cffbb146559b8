#include "cli/views/session_head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/model/usage_counts.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/names/catalog_view.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/terminal/terminal.h"
#include "cli/views/markdown/blocks.h"
#include "cli/views/price_file.h"

namespace bough::cli {
namespace {

std::vector<std::string> facts(const SessionHead& head) {
  std::vector<std::string> said = {shortId(head.sessionId)};
  if (!head.cwd.empty()) said.push_back(head.cwd);
  if (!head.models.empty()) said.push_back(head.models);
  if (!head.cost.empty()) said.push_back(head.cost);
  if (!head.branch.empty()) {
    said.push_back(head.branches > 1 ? fmt::format("branch {} of {}", head.branch, head.branches)
                                     : fmt::format("branch {}", head.branch));
  }
  return said;
}

// Colors for light and dark mode; the page loads nothing.
constexpr std::string_view kPage = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 50rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }}
section {{ border-left: 3px solid #8888; padding-left: 1rem; margin: 1.5rem 0; overflow-wrap: anywhere; }}
section.user {{ border-color: #2a8; }} section.assistant {{ border-color: #28c; }} section.tool {{ border-color: #b80; }}
h2 {{ font-size: 1rem; margin: 0; }} time {{ font-weight: normal; opacity: .6; }}
pre {{ overflow-x: auto; padding: .6rem; background: #8882; white-space: pre-wrap; }}
code {{ font-family: ui-monospace, monospace; }} blockquote {{ border-left: 3px solid #8888; margin-left: 0; padding-left: 1rem; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #8888; padding: .2rem .5rem; }}
.right {{ text-align: right; }} .center {{ text-align: center; }} .failed summary {{ color: #c33; }}
.k {{ color: #a3c; }} .s, .a {{ color: #283; }} .n {{ color: #07a; }} .c {{ opacity: .6; }} .r {{ color: #c33; }}
</style></head><body>
<h1>{0}</h1>
<p>{1}</p>
)";

}  // namespace

Result<SessionHead> readSessionHead(SessionStore& store, const std::string& sessionId, const std::string& leaf) {
  SessionHead head{.sessionId = sessionId};
  const auto prices = readPrices("");
  if (const auto row = SessionTitles(store).row(sessionId, prices ? &*prices : nullptr)) {
    head.title = displayTitle(*row);
    head.cwd = row->cwd;
    head.branches = row->branches;
    double cost = 0;
    bool known = true;
    for (const ModelUsage& each : row->models) {
      head.models += (head.models.empty() ? "" : ", ") + each.model;
      cost += each.costUsd.value_or(0);
      known = known && each.costUsd.has_value();
    }
    if (!isUsageUnknown(row->tokens)) head.cost = formatCost(cost, known);
  }
  if (leaf.empty()) return head;
  head.branch = shortId(leaf);
  BOUGH_TRY(const auto labels, store.labels(sessionId));
  for (const SessionLabel& label : labels) {
    if (label.entryId == leaf) head.branch = label.name;
  }
  return head;
}

std::string headForTerminal(const SessionHead& head, std::size_t width) {
  std::vector<Span> spans;
  for (const std::string& fact : facts(head)) {
    if (!spans.empty()) spans.push_back({" · ", kFaint});
    spans.push_back({text::printable(fact), kFaint});
  }
  std::string out;
  if (!head.title.empty()) {
    for (const std::string& line : wrapSpans({{text::printable(head.title), kBold}}, width, width)) out += line + "\n";
  }
  for (const std::string& line : wrapSpans(spans, width, width)) out += line + "\n";
  return out + "\n";
}

std::string headAsMarkdown(const SessionHead& head) {
  return fmt::format("# {}\n\n{}\n\n", text::printable(head.title.empty() ? "Session " + head.sessionId : head.title),
                     text::printable(fmt::format("{}", fmt::join(facts(head), " · "))));
}

std::string headAsHtml(const SessionHead& head) {
  const std::string title = text::printable(head.title.empty() ? "Session " + head.sessionId : head.title);
  return fmt::format(kPage, escapeHtml(title),
                     escapeHtml(text::printable(fmt::format("{}", fmt::join(facts(head), " · ")))));
}

std::string htmlEnd() {
  return "</body></html>\n";
}

}  // namespace bough::cli
