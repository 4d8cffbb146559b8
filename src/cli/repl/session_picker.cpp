#include "cli/repl/session_picker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/counted.h"
#include "base/text/text.h"
#include "base/try.h"
#include "cli/names/catalog_view.h"
#include "cli/names/session_name.h"
#include "cli/names/session_titles.h"
#include "cli/names/when.h"
#include "cli/repl/preview.h"
#include "cli/terminal/fuzzy.h"
#include "cli/terminal/picker.h"
#include "cli/terminal/screen.h"
#include "cli/terminal/terminal.h"
#include "cli/views/next_turn.h"
#include "cli/views/price_file.h"

namespace bough::cli {
namespace {

constexpr std::size_t kFirstRows = 300;
constexpr std::size_t kMoreRows = 10'000;
constexpr std::size_t kPreviewMessages = 40;
constexpr std::size_t kPreviewsKept = 50;
constexpr std::size_t kTextHits = 200;

struct SessionRow {
  SessionSummary summary;
  std::string trashId{};  // its name in the trash, if it is there
};

std::string failureText(const Error& error) {
  return text::printable(error.hint.empty() ? error.message : fmt::format("{} → {}", error.message, error.hint));
}

// Adds an entry to the preview, with its speaker.
void addEntry(std::vector<PickerLine>& out, const Entry& entry, std::size_t width) {
  const EntryView view = viewEntry(entry);
  if (!view.isMessage) return;
  std::vector<PickerLine> said = previewOf(entry, width);
  if (said.empty()) return;
  out.push_back({.text = view.speaker, .style = view.speaker == "user" ? Style::Green : Style::Cyan});
  std::ranges::move(said, std::back_inserter(out));
}

class SessionRows final : public PickerSource {
 public:
  SessionRows(SessionStore& store, Catalog& catalog) : store_(store), catalog_(catalog) {}

  Result<void> begin() { return load(kFirstRows); }

  [[nodiscard]] const SessionRow& row(std::size_t number) const { return rows_[number]; }

  static constexpr std::size_t kAskedColumns = 24;  // so that the question fits into 50 columns

  [[nodiscard]] std::string title() const override { return "Sessions"; }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }

  [[nodiscard]] std::string searchText(std::size_t number) const override {
    const SessionSummary& each = rows_[number].summary;
    return fmt::format("{}\n{}\n{}{}{}{}", displayTitle(each), each.cwd, each.key,
                       rows_[number].trashId.empty() ? "" : "\ntrash", FuzzyFilter::kIds, each.sessionId);
  }

  // Returns the session's title, or its id if nothing was said in it.
  [[nodiscard]] std::string nameAt(std::size_t number) const {
    const std::string title = text::printable(displayTitle(rows_[number].summary));
    return title.empty() ? shortId(rows_[number].summary.sessionId) : title;
  }

  [[nodiscard]] PickerLine line(std::size_t number) const override {
    const SessionRow& each = rows_[number];
    const std::string title = nameAt(number);
    if (!each.trashId.empty()) return {.text = fmt::format("{:<10} {}", "in trash", title), .style = Style::Dim};
    return {.text = fmt::format("{:<10} {}", formatAge(each.summary.activeMs, now_), title)};
  }

  std::vector<PickerLine> preview(std::size_t number, std::size_t width, std::size_t height) override {
    const SessionRow& each = rows_[number];
    std::vector<PickerLine> lines = {{.text = text::printable(displayTitle(each.summary)), .style = Style::Bold}};
    const SessionSummary& about = each.summary;
    lines.push_back(
        {.text = fmt::format("{}  {}{}  {}", shortId(about.sessionId),
                             counted(about.userMessages + about.assistantMessages + about.toolMessages, "message"),
                             about.origin ? " since the fork" : "", text::printable(about.key)),
         .style = Style::Dim});
    if (!about.cwd.empty()) lines.push_back({.text = text::printable(about.cwd), .style = Style::Dim});
    const auto& conversation = conversationOf(each, width);
    if (const auto price = prices_.find(about.sessionId); price != prices_.end()) {
      for (std::string& line : linesThatFit(price->second, width)) {
        lines.push_back({.text = std::move(line), .style = Style::Dim});
      }
    }
    const std::size_t head = lines.size();
    // Show the end of the conversation, because that is where it continues.
    const std::size_t room = height > head ? height - head : 0;
    const std::size_t from = conversation.size() - std::min(room, conversation.size());
    lines.insert(lines.end(), conversation.begin() + static_cast<std::ptrdiff_t>(from), conversation.end());
    return lines;
  }

  bool loadMore() override {
    if (!complete_ && !load(kMoreRows)) complete_ = true;
    if (!complete_) return true;
    if (!trashLoaded_) loadTrash();
    return false;
  }

  // Searches the index, and brings it up to date as long as the user types nothing.
  std::vector<std::size_t> findInText(const std::string& typed) override {
    (void)catalog_.catchUp({.search = true, .progress = [](const CatchUpProgress&) { return !Screen::hasInput(); }});
    std::string query;
    for (const char c : typed) query += c == '"' || c == '*' ? ' ' : c;
    const std::size_t last = query.find_last_not_of(' ');
    if (last == std::string::npos) return {};
    query.resize(last + 1);
    const auto hits = catalog_.search(query + "*", {.limit = kTextHits});
    if (!hits) return {};
    std::vector<std::size_t> found;
    for (const SearchHit& hit : *hits) {
      const auto at = numbers_.find(hit.sessionId);
      if (at != numbers_.end() && std::ranges::find(found, at->second) == found.end()) found.push_back(at->second);
    }
    return found;
  }

  [[nodiscard]] std::vector<PickerAction> actions() const override {
    return {{.key = 'f', .name = "fork"},
            {.key = 'l', .name = "label", .question = "Label for the last message:", .takesText = true},
            {.key = 'd', .name = "delete", .question = "Move it to the trash? [y/N]"},
            {.key = 'r', .name = "restore"}};
  }

  [[nodiscard]] std::string question(const PickerAction& action, std::size_t number) const override {
    if (action.key != 'd') return action.question;
    return fmt::format("Move \"{}\" to the trash? [y/N]", text::excerptToWidth(nameAt(number), kAskedColumns));
  }

  [[nodiscard]] std::string refusal(std::size_t number) const override {
    return rows_[number].trashId.empty() ? "" : "It is in the trash; Alt-r restores it";
  }

  std::string act(char key, std::size_t number, const std::string& text) override {
    SessionRow& each = rows_[number];
    const bool trashed = !each.trashId.empty();
    if (key != 'r' && trashed) return refusal(number);
    if (key == 'r' && !trashed) return "It is not in the trash";
    if (key == 'f') return fork(number);
    if (key == 'l') return label(each, text);
    return key == 'd' ? remove(each) : restore(each);
  }

 private:
  Result<void> load(std::size_t count) {
    BOUGH_TRY(auto rows, catalog_.list({.filter = {}, .limit = count, .after = last_, .models = false}));
    complete_ = rows.size() < count;
    if (!rows.empty()) last_ = {.activeMs = rows.back().activeMs, .sessionId = rows.back().sessionId};
    titleForks(catalog_, rows);
    for (SessionSummary& each : rows) {
      // Rows move when another process appends between two reads.
      if (!numbers_.emplace(each.sessionId, rows_.size()).second) continue;
      rows_.push_back({.summary = std::move(each)});
    }
    return {};
  }

  void loadTrash() {
    trashLoaded_ = true;
    const auto trash = store_.listTrash();
    if (!trash) return;
    for (const TrashedSession& each : *trash) {
      SessionSummary summary{.sessionId = each.sessionId};
      if (auto title = trashedTitle(store_, each.trashId)) summary.title = std::move(*title);
      rows_.push_back({.summary = std::move(summary), .trashId = each.trashId});
    }
  }

  const std::vector<PickerLine>& conversationOf(const SessionRow& each, std::size_t width) {
    const auto name = std::pair(each.trashId.empty() ? each.summary.sessionId : each.trashId, width);
    if (const auto known = previews_.find(name); known != previews_.end()) return known->second;
    if (previews_.size() >= kPreviewsKept) previews_.clear();
    std::vector<PickerLine>& lines = previews_[name];
    if (!each.trashId.empty()) {
      lines = {{.text = "In the trash; Alt-r restores it.", .style = Style::Dim}};
      return lines;
    }
    LoadOptions query{.last = kPreviewMessages, .type = std::string(entry_type::kMessage)};
    if (!each.summary.headId.empty()) query.branch = each.summary.headId;
    const auto entries = store_.loadSessionEntries(each.summary.sessionId, query);
    if (!entries) {
      lines = {{.text = failureText(entries.error()), .style = Style::Red}};
      return lines;
    }
    for (const Entry& entry : *entries) addEntry(lines, entry, width);
    if (const auto next = nextTurnOf(store_, each.summary.sessionId, each.summary.headId, table_, now_)) {
      prices_[each.summary.sessionId] = "next turn: " + nextTurnText(*next);
    }
    if (lines.empty()) lines = {{.text = "Nothing has been said yet.", .style = Style::Dim}};
    return lines;
  }

  // Returns the current head of the session.
  Result<std::string> headOf(const std::string& sessionId) {
    BOUGH_TRY(const auto state, store_.sessionState(sessionId));
    if (!state.headId.empty()) return state.headId;
    return fail(ErrorCode::NotFound, "nothing has been said in it yet");
  }

  // The fork takes the row of its session, which is selected; the session follows it.
  std::string fork(std::size_t number) {
    SessionRow row = rows_[number];
    const auto head = headOf(row.summary.sessionId);
    if (!head) return failureText(head.error());
    auto cwd = folderOf(store_, row.summary.sessionId);
    if (!cwd) return failureText(cwd.error());
    const auto made =
        store_.branchFromEntry(row.summary.sessionId, *head, {.key = row.summary.key, .cwd = std::move(*cwd)});
    if (!made) return failureText(made.error());
    row.summary.title = "fork of " + displayTitle(row.summary);
    row.summary.origin = ForkOrigin{.sessionId = std::move(row.summary.sessionId), .entryId = *head};
    row.summary.userMessages = row.summary.assistantMessages = row.summary.toolMessages = 0;
    row.summary.sessionId = made->sessionId;
    row.summary.activeMs = now_;
    for (auto& [id, at] : numbers_) at += at >= number ? 1 : 0;
    numbers_[made->sessionId] = number;
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(number), std::move(row));
    return fmt::format("Forked: {} is selected; Enter opens it", shortId(made->sessionId));
  }

  std::string label(const SessionRow& each, const std::string& name) {
    const auto head = headOf(each.summary.sessionId);
    if (!head) return failureText(head.error());
    const auto done = store_.labelEntry(each.summary.sessionId, *head, name);
    return done ? fmt::format("Labelled {}", text::printable(name)) : failureText(done.error());
  }

  std::string remove(SessionRow& each) {
    const auto gone = store_.trashSession(each.summary.sessionId);
    if (!gone) return failureText(withForksNamed(store_, each.summary.sessionId, gone.error()));
    each.trashId = gone->trashId;
    return "Moved to the trash; Alt-r restores it";
  }

  std::string restore(SessionRow& each) {
    const auto back = store_.restoreSession(each.trashId);
    if (!back) return failureText(back.error());
    each.trashId.clear();
    if (each.summary.activeMs == 0) each.summary.activeMs = now_;
    return "Restored";
  }

  SessionStore& store_;
  Catalog& catalog_;
  std::uint64_t now_ = nowMs();
  PriceTable table_ = readPrices("").value_or(PriceTable::builtIn());
  std::map<std::string, std::string> prices_;  ///< Texts about the cost of the next turn.
  std::vector<SessionRow> rows_;
  std::map<std::string, std::size_t> numbers_;  ///< Row numbers, by session.
  std::map<std::pair<std::string, std::size_t>, std::vector<PickerLine>> previews_;
  bool complete_ = false;
  std::optional<ListPlace> last_ = {};  // the last row so far
  bool trashLoaded_ = false;
};

}  // namespace

Result<std::optional<std::string>> pickSession(SessionStore& store, Catalog& catalog, const std::string& selected) {
  SessionRows rows(store, catalog);
  BOUGH_TRY(rows.begin());
  std::size_t first = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.row(i).summary.sessionId == selected) first = i;
  }
  const auto chosen = pickRow(rows, first);
  if (!chosen) return std::nullopt;
  return rows.row(chosen->row).summary.sessionId;
}

}  // namespace bough::cli
