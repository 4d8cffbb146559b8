#include "bough/tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/text.h"
#include "tree/rows.h"

namespace bough {
namespace {

constexpr std::size_t kRowsAtATime = 256;
constexpr std::size_t kDeepestColumns = 200;  // of the lines in front, where no width is asked for

// Walks the tree and gives rows to `use` together with what their entries say.
template <typename Use>
Result<void> forEachRow(const SessionTree& tree, const DescribeEntries& describe, bool all, std::size_t leadColumns,
                        Use use) {
  tree::RowWalk walk(tree, all);
  for (bool more = true; more;) {
    std::vector<std::pair<tree::Row, std::string>> rows;
    std::vector<TreeNode> nodes;
    tree::Row row;
    while (rows.size() < kRowsAtATime && (more = walk.next(row))) {
      rows.emplace_back(row, walk.lead(leadColumns));
      if (row.folded == 0) nodes.push_back(row.node);
    }
    if (rows.empty()) break;
    auto summaries = describe(nodes);
    if (!summaries) return std::unexpected(summaries.error());
    summaries->resize(nodes.size());
    auto summary = summaries->begin();
    for (const auto& [each, lead] : rows) {
      const EntrySummary none;
      if (!use(each, lead, each.folded == 0 ? *summary++ : none)) return {};
    }
  }
  return {};
}

std::string foldText(std::size_t entries) {
  return fmt::format("… {} entries …", entries);
}

class LineMaker {
 public:
  LineMaker(const SessionTree& tree, const DrawOptions& options) : tree_(tree), options_(options) {}

  [[nodiscard]] std::string make(const tree::Row& row, const std::string& lead, const EntrySummary& summary) const {
    if (row.folded > 0) return paint(TreePart::Lines, lead) + paint(TreePart::Fold, foldText(row.folded));
    constexpr std::size_t kSpeakerColumns = 24;
    const std::string speaker = fmt::format("[{}]", text::excerptToWidth(summary.speaker, kSpeakerColumns));
    std::string marks = treeMarks(tree_, row.node);
    if (summary.failed) marks = marks.empty() ? "failed" : "failed, " + marks;
    if (!marks.empty()) marks = "← " + marks;
    if (options_.ids) marks += (marks.empty() ? "" : "   ") + summary.entryId;
    std::string said = summary.text;
    if (options_.width > 0) fit(said, marks, text::displayWidth(lead) + text::displayWidth(speaker) + 1);
    if (!marks.empty()) marks.insert(0, kGap);
    std::string line = paint(TreePart::Lines, lead) + paint(TreePart::Speaker, speaker);
    if (!said.empty()) line += " " + paint(TreePart::Text, said);
    if (!marks.empty()) line += paint(TreePart::Mark, marks);
    return line;
  }

 private:
  static constexpr std::string_view kGap = "   ";

  // Cuts the text, then the marks, so that both go into what is left of the width; a little of the text stays.
  void fit(std::string& said, std::string& marks, std::size_t taken) const {
    constexpr std::size_t kLeast = 8;
    const std::size_t room = options_.width > taken ? options_.width - taken : 0;
    if (!marks.empty()) {
      const std::size_t most = room > kLeast + kGap.size() ? room - kLeast - kGap.size() : 0;
      marks = text::excerptToWidth(marks, most);
    }
    const std::size_t used = marks.empty() ? 0 : text::displayWidth(marks) + kGap.size();
    said = text::excerptToWidth(said, room - used);
  }

  [[nodiscard]] std::string paint(TreePart part, std::string_view text) const {
    return options_.paint ? options_.paint(part, text) : std::string(text);
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

std::string dotName(TreeNode node, bool folded) {
  return fmt::format("{}{}", folded ? 'f' : 'n', node);
}

}  // namespace

std::string treeMarks(const SessionTree& tree, TreeNode node) {
  std::string marks;
  const auto add = [&](std::string_view what) { marks.append(marks.empty() ? "" : ", ").append(what); };
  if (node == tree.head()) add("head");
  for (const std::string_view name : tree.labelsOf(node)) {
    add(fmt::format("{} {}", tree.isLeaf(node) ? "branch" : "label", text::printable(name)));
  }
  if (tree.isOrphan(node)) {
    const auto found = std::ranges::lower_bound(tree.problems(), node, {}, &TreeProblem::node);
    add(found->kind == TreeProblemKind::Cycle ? "cycle: its parent comes from itself"
                                              : "orphan: its parent is missing");
  }
  return marks;
}

Result<void> drawTree(const SessionTree& tree, const DescribeEntries& describe, const DrawOptions& options,
                      const std::function<bool(std::string_view)>& line) {
  const LineMaker maker(tree, options);
  const std::size_t leadColumns = options.width > 0 ? options.width / 2 : kDeepestColumns;
  return forEachRow(tree, describe, options.all, leadColumns,
                    [&](const tree::Row& row, const std::string& lead, const EntrySummary& summary) {
                      return line(maker.make(row, lead, summary));
                    });
}

Result<void> drawTreeAsDot(const SessionTree& tree, const DescribeEntries& describe, const DrawOptions& options,
                           const std::function<bool(std::string_view)>& line) {
  if (!line("digraph session {") || !line("  node [shape=box, fontname=\"sans-serif\"];")) return {};
  bool open = true;
  auto drawn = forEachRow(
      tree, describe, options.all, 0, [&](const tree::Row& row, const std::string&, const EntrySummary& summary) {
        const std::string name = dotName(row.node, row.folded > 0);
        if (row.folded > 0) {
          open = line(fmt::format("  {} [label={}, style=dashed];", name, dotText(foldText(row.folded))));
        } else {
          std::string label = fmt::format("[{}] {}", summary.speaker, summary.text);
          if (const std::string marks = treeMarks(tree, row.node); !marks.empty()) label += " ← " + marks;
          if (options.ids) label += " " + summary.entryId;
          const char* style = row.node == tree.head() ? ", style=bold" : summary.failed ? ", color=red" : "";
          open = line(fmt::format("  {} [label={}{}];", name, dotText(label), style));
        }
        if (open && row.above != kNoNode) {
          open = line(fmt::format("  {} -> {};", dotName(row.above, row.aboveFolded), name));
        }
        return open;
      });
  if (drawn && open) line("}");
  return drawn;
}

}  // namespace bough
