#include "bough/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/text.h"
#include "base/try.h"
#include "tree/rows.h"

namespace bough {
namespace {

constexpr std::size_t kMaxPrefixColumns = 200;  // for the tree lines before a row, when no width is set

constexpr std::size_t kShortIdColumns = 8;  // short ids are padded to this width, so that what follows is aligned

std::string foldText(std::size_t entries) {
  return fmt::format("… {} messages", entries);
}

std::string marksBesidesHead(const SessionTree& tree, const tree::Row& row) {
  const Sequence node = row.node;
  std::string marks;
  const auto add = [&](std::string_view what) { marks.append(marks.empty() ? "" : ", ").append(what); };
  for (const auto& [labelled, name] : tree::labelsOf(tree, row)) {
    add(fmt::format("{} {}", tree.isLeaf(labelled) ? "branch" : "label", text::printable(name)));
  }
  if (tree.isOrphan(node)) {
    const auto found = std::ranges::lower_bound(tree.problems(), node, {}, &TreeProblem::node);
    add(found->kind == TreeProblemKind::Cycle ? "cycle: its parent comes from itself"
                                              : "orphan: its parent is missing");
  }
  return marks;
}

std::string marksOf(const SessionTree& tree, const tree::Row& row) {
  const std::string marks = marksBesidesHead(tree, row);
  if (!row.isHead) return marks;
  return marks.empty() ? "head" : "head, " + marks;
}

class LineFormatter {
 public:
  LineFormatter(const SessionTree& tree, const DrawOptions& options) : tree_(tree), options_(options) {}

  [[nodiscard]] std::string format(const tree::Row& row, const EntrySummary& summary) const {
    if (row.folded > 0) return paint(TreePart::Lines, row.prefix) + paint(TreePart::Fold, foldText(row.folded));
    const std::size_t width = options_.width == 0 ? SIZE_MAX : options_.width;
    const std::size_t speakerColumns = width < 32 ? 4 : width < 60 ? 10 : 24;
    const std::string speaker = fmt::format("[{}]", text::excerptToWidth(summary.speaker, speakerColumns));
    Parts parts{.time = options_.time ? options_.time(summary.timestamp) : "", .text = summary.text};
    if (row.isHead) parts.mark = "← head";
    parts.mark += moreMarks(row, summary, parts.mark.empty());
    if (options_.ids) parts.id = options_.shortId ? options_.shortId(summary.entryId) : summary.entryId;
    const bool idFirst = options_.ids && options_.shortId;
    if (idFirst) parts.id.append(kShortIdColumns - std::min(kShortIdColumns, text::displayWidth(parts.id)), ' ');
    if (options_.width > 0) {
      fit(parts, text::displayWidth(row.prefix) + text::displayWidth(speaker), row.isHead);
    }
    std::string line = paint(TreePart::Lines, row.prefix);
    if (idFirst) line += paint(TreePart::Id, parts.id) + " ";
    line += paint(TreePart::Speaker, speaker);
    if (!parts.time.empty()) line += " " + paint(TreePart::Fold, parts.time) + " ";
    if (!parts.text.empty()) line += " " + paint(TreePart::Text, parts.text);
    if (!parts.mark.empty()) line += std::string(gap(), ' ') + paint(TreePart::Mark, parts.mark);
    if (!parts.id.empty() && !idFirst) line += std::string(gap(), ' ') + paint(TreePart::Id, parts.id);
    return line;
  }

 private:
  struct Parts {
    std::string time = {};
    std::string text = {};
    std::string mark = {};
    std::string id = {};
  };

  [[nodiscard]] std::size_t gap() const { return options_.width > 0 && options_.width < 60 ? 1 : 3; }

  [[nodiscard]] std::string moreMarks(const tree::Row& row, const EntrySummary& summary, bool first) const {
    std::string marks = marksBesidesHead(tree_, row);
    if (summary.failed) marks += marks.empty() ? "failed" : ", failed";
    return marks.empty() ? marks : (first ? "← " : ", ") + marks;
  }

  // Fits the parts into the width: cuts the marks first, then the text, and drops the time when too little of the text
  // would be left. The mark of the head is never cut.
  void fit(Parts& parts, std::size_t taken, bool isHead) const {
    constexpr std::size_t kMinTextColumns = 12;
    const std::size_t headColumns = isHead ? text::displayWidth("← head") : 0;
    if (!parts.id.empty()) taken += text::displayWidth(parts.id) + (options_.shortId ? 1 : gap());
    std::size_t room = options_.width > taken ? options_.width - taken : 0;
    if (!parts.mark.empty()) {
      const std::size_t wanted = kMinTextColumns + 1 + gap();
      const std::size_t maxColumns =
          std::max(room > wanted ? room - wanted : 0, room / 2 > gap() ? room / 2 - gap() : 0);
      if (text::displayWidth(parts.mark) > maxColumns) {
        parts.mark = maxColumns > headColumns + 2 ? text::excerptToWidth(parts.mark, maxColumns)
                     : isHead                     ? "← head"
                                                  : "";
      }
      if (!parts.mark.empty()) room -= std::min(room, text::displayWidth(parts.mark) + gap());
    }
    const std::size_t timeColumns = text::displayWidth(parts.time) + 2;
    if (!parts.time.empty() && room >= timeColumns + 1 + std::min(kMinTextColumns, text::displayWidth(parts.text))) {
      room -= timeColumns;
    } else {
      parts.time.clear();
    }
    parts.text = room > 1 ? text::excerptToWidth(parts.text, room - 1) : "";
  }

  [[nodiscard]] std::string paint(TreePart part, std::string_view text) const {
    return options_.paint && !text.empty() ? options_.paint(part, text) : std::string(text);
  }

  const SessionTree& tree_;
  const DrawOptions& options_;
};

std::string dotText(std::string_view text) {
  std::string out = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') out += '\\';
    out += character;
  }
  return out + "\"";
}

std::string dotName(Sequence node, bool folded) {
  return fmt::format("{}{}", folded ? 'f' : 'n', node);
}

}  // namespace

Result<void> drawTree(const SessionTree& tree, const DescribeEntries& describe, const DrawOptions& options,
                      const std::function<bool(std::string_view)>& line) {
  const LineFormatter formatter(tree, options);
  const std::size_t prefixColumns = options.width > 0 ? options.width / 4 : kMaxPrefixColumns;
  return tree::FoldedRows(
             tree, describe, options.all, prefixColumns,
             [&](const tree::Row& row, const EntrySummary& summary) { return line(formatter.format(row, summary)); })
      .run();
}

Result<void> drawTreeAsDot(const SessionTree& tree, const DescribeEntries& describe, const DrawOptions& options,
                           const std::function<bool(std::string_view)>& line) {
  if (!line("digraph session {") || !line("  node [shape=box, fontname=\"sans-serif\"];")) return {};
  bool wantsMore = true;
  const auto drawRow = [&](const tree::Row& row, const EntrySummary& summary) {
    const std::string name = dotName(row.node, row.folded > 0);
    if (row.folded > 0) {
      wantsMore = line(fmt::format("  {} [label={}, style=dashed];", name, dotText(foldText(row.folded))));
    } else {
      std::string label = fmt::format("[{}] {}", summary.speaker, summary.text);
      if (const std::string marks = marksOf(tree, row); !marks.empty()) label += " ← " + marks;
      if (options.ids) label += " " + summary.entryId;
      const char* style = row.isHead ? ", style=bold" : summary.failed ? ", color=red" : "";
      wantsMore = line(fmt::format("  {} [label={}{}];", name, dotText(label), style));
    }
    if (wantsMore && row.parentNode != kNoSequence)
      wantsMore = line(fmt::format("  {} -> {};", dotName(row.parentNode, row.isParentFolded), name));
    return wantsMore;
  };
  BOUGH_TRY(tree::FoldedRows(tree, describe, options.all, 0, drawRow).run());
  if (wantsMore) line("}");
  return {};
}

}  // namespace bough
