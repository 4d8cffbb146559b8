#include "cli/repl/tree_picker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/text/text.h"
#include "base/try.h"
#include "bough/tree.h"
#include "cli/names/when.h"
#include "cli/repl/preview.h"
#include "cli/terminal/picker.h"

namespace bough::cli {
namespace {

constexpr std::size_t kMostNodes = 10'000;  // only the newest ones are shown
constexpr std::size_t kGraphemes = 200;
constexpr std::size_t kMostIndent = 12;

struct PlaceRow {
  Sequence node = kNoSequence;
  std::size_t indent = 0;
  bool beginsBranch = false;
  EntrySummary summary{};
  std::string marks{};
};

// Returns the nodes from the root down. Where branches part, the older ones come first, indented.
std::vector<PlaceRow> rowsOf(const SessionTree& tree) {
  std::vector<PlaceRow> rows;
  std::vector<PlaceRow> waiting;
  const auto push = [&](const std::vector<Sequence>& children, std::size_t indent) {
    // The last child continues below its parent. The stack returns the node pushed last first.
    for (std::size_t i = children.size(); i-- > 0;) {
      const bool last = i + 1 == children.size();
      waiting.push_back({.node = children[i], .indent = indent + (last ? 0 : 1), .beginsBranch = !last});
    }
  };
  push(tree.roots(), 0);
  while (!waiting.empty()) {
    PlaceRow row = std::move(waiting.back());
    waiting.pop_back();
    push(tree.children(row.node), row.indent);
    rows.push_back(std::move(row));
  }
  return rows;
}

bool isSpoken(const EntrySummary& summary) {
  return summary.speaker == "user" || summary.speaker == "assistant";
}

// Returns true when an entry comes shortly after another one on its branch.
bool follows(const SessionTree& tree, Sequence node, Sequence earlier) {
  constexpr int kMost = 16;
  for (int step = 0; step < kMost && node != kNoSequence; ++step) {
    if (node == earlier) return true;
    node = tree.parent(node);
  }
  return false;
}

class PlaceRows final : public PickerSource {
 public:
  PlaceRows(SessionStore& store, std::string sessionId) : store_(store), sessionId_(std::move(sessionId)) {}

  Result<void> load(const std::string& headId) {
    BOUGH_TRY(const SessionTree tree, store_.loadTree(sessionId_));
    std::vector<PlaceRow> all = rowsOf(tree);
    const std::size_t least = tree.entryCount() > kMostNodes ? tree.entryCount() - kMostNodes : 0;
    std::erase_if(all, [&](const PlaceRow& row) { return row.node < least; });
    leftOut_ = least > 0;
    std::vector<Sequence> nodes;
    for (const PlaceRow& row : all) nodes.push_back(row.node);
    BOUGH_TRY(auto summaries, describeEntries(store_, sessionId_, kGraphemes)(nodes));
    Sequence headNode = kNoSequence;
    for (std::size_t i = 0; i < all.size() && i < summaries.size(); ++i) {
      all[i].summary = std::move(summaries[i]);
      if (all[i].summary.entryId == headId) headNode = all[i].node;
      const bool spoken = isSpoken(all[i].summary);
      std::string marks;
      for (const std::string_view label : tree.labelsOf(all[i].node)) marks += fmt::format("[{}] ", label);
      if (spoken) {
        all[i].marks += marks;
        rows_.push_back(std::move(all[i]));
      } else if (!rows_.empty() && follows(tree, all[i].node, rows_.back().node)) {
        rows_.back().marks += marks;  // a chat puts the label on the end of the turn
      }
    }
    if (rows_.empty()) return fail(ErrorCode::NotFound, "nothing has been said yet", "type a message first");
    findHead(tree, headNode);
    return {};
  }

  /// Returns the row where the picker begins.
  [[nodiscard]] std::size_t head() const { return head_.value_or(0); }
  [[nodiscard]] const PlaceRow& row(std::size_t number) const { return rows_[number]; }

  [[nodiscard]] std::string title() const override { return leftOut_ ? "Tree (newest part)" : "Tree"; }
  [[nodiscard]] std::size_t size() const override { return rows_.size(); }
  [[nodiscard]] std::string searchText(std::size_t number) const override {
    return rows_[number].summary.text + "\n" + rows_[number].marks + "\n" + rows_[number].summary.entryId;
  }

  [[nodiscard]] PickerLine line(std::size_t number) const override {
    const PlaceRow& each = rows_[number];
    std::string lines;
    for (std::size_t i = 1; i < std::min(each.indent, kMostIndent); ++i) lines += "│ ";
    if (each.indent > 0) lines += each.beginsBranch ? "├ " : "│ ";
    const bool user = each.summary.speaker == "user";
    return {.text = fmt::format("{}{} {}{}{}", lines, user ? "›" : "·", number == head_ ? "(head) " : "",
                                text::printable(each.marks), each.summary.text),
            .style = user ? std::optional<Style>(Style::Green) : std::nullopt};
  }

  std::vector<PickerLine> preview(std::size_t number, std::size_t width, std::size_t height) override {
    const auto entry = store_.loadEntry(sessionId_, rows_[number].summary.entryId);
    if (!entry) return {{.text = text::printable(entry.error().message), .style = Style::Red}};
    std::vector<PickerLine> lines = {
        {.text = fmt::format("{}  {}", rows_[number].summary.speaker, formatLocalTime(rows_[number].summary.timestamp)),
         .style = Style::Bold}};
    for (PickerLine& each : previewOf(*entry, width)) {
      if (lines.size() < height) lines.push_back(std::move(each));
    }
    return lines;
  }

  [[nodiscard]] std::vector<PickerAction> actions() const override {
    return {{.key = 'f', .name = "fork", .question = "Continue from here in a new session? [y/N]", .ends = true},
            {.key = 'l', .name = "label", .question = "Label:", .takesText = true}};
  }

  std::string act(char /*key*/, std::size_t number, const std::string& text) override {
    const auto done = store_.labelEntry(sessionId_, rows_[number].summary.entryId, text);
    if (!done) return text::printable(done.error().message);
    rows_[number].marks += fmt::format("[{}] ", text);
    return fmt::format("Labelled {}", text::printable(text));
  }

 private:
  // Finds the row of the head. The head is usually after the last answer, at an entry without text. It has no row when
  // everything was said after it.
  void findHead(const SessionTree& tree, Sequence node) {
    std::unordered_map<Sequence, std::size_t> places;
    for (std::size_t i = 0; i < rows_.size(); ++i) places.emplace(rows_[i].node, i);
    while (node != kNoSequence && !places.contains(node)) node = tree.parent(node);
    if (node != kNoSequence) head_ = places[node];
  }

  SessionStore& store_;
  std::string sessionId_;
  std::vector<PlaceRow> rows_;
  std::optional<std::size_t> head_;  // the row of the head
  bool leftOut_ = false;
};

// Returns what the user said in an entry; empty for other speakers.
std::string saidIn(const Entry& entry) {
  const EntryView view = viewEntry(entry);
  if (!view.isMessage || view.speaker != "user") return {};
  for (const EntryPart& part : view.parts) {
    if (part.kind == BlockKind::Text) return part.text;
  }
  return {};
}

}  // namespace

Result<std::optional<PickedPlace>> pickPlace(SessionStore& store, const std::string& sessionId,
                                             const std::string& headId) {
  PlaceRows rows(store, sessionId);
  BOUGH_TRY(rows.load(headId));
  const auto chosen = pickRow(rows, rows.head());
  if (!chosen) return std::nullopt;
  BOUGH_TRY(const Entry entry, store.loadEntry(sessionId, rows.row(chosen->row).summary.entryId));
  PickedPlace place{.headId = entry.id, .text = saidIn(entry), .fork = chosen->action == 'f'};
  // A message of the user is to be sent again, perhaps edited, so continue before it.
  if (!place.text.empty()) place.headId = entry.parentId.value_or("");
  return place;
}

}  // namespace bough::cli
