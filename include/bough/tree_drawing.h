// A session's tree as lines for people, or as a graph for Graphviz.
//
//   └── [user] Hello, how are you?
//       └── [assistant] I am doing well, thank you!
//           ├── [user] Can you help me with a task?
//           │   └── [assistant] Of course! What do you need?
//           └── [user] Tell me a joke instead
//               └── [assistant] Why did the chicken cross the road?   ← head
//
// One line an entry; long stretches without anything of note fold into one line. Texts are asked for in parts, only for
// the entries that are shown. Nothing recurses, and a line stays as short as the width asks for, however deep it lies.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/entry_summary.h"
#include "bough/error.h"
#include "bough/tree.h"

namespace bough {

/// What a line is made of, for colours.
enum class TreePart : std::uint8_t { Lines, Speaker, Text, Mark, Fold };

struct DrawOptions {
  std::size_t width = 0;  ///< Columns a line may have; 0: as many as an entry's text needs.
  bool all = false;       ///< Fold nothing.
  bool ids = false;       ///< Add the id of each entry.
  /// Colours a part of a line; nothing is coloured when it is empty. A speaker comes with its brackets.
  std::function<std::string(TreePart part, std::string_view text)> paint = {};
};

/// Summaries of these entries, in this order.
using DescribeEntries = std::function<Result<std::vector<EntrySummary>>(const std::vector<TreeNode>& nodes)>;

/// Gives the lines to `line`, until it returns false.
Result<void> drawTree(const SessionTree& tree, const DescribeEntries& describe, const DrawOptions& options,
                      const std::function<bool(std::string_view)>& line);

/// The same as a graph in the language of Graphviz; of the options `all` and `ids` count.
Result<void> drawTreeAsDot(const SessionTree& tree, const DescribeEntries& describe, const DrawOptions& options,
                           const std::function<bool(std::string_view)>& line);

/// What is said about an entry beside its text: that it is the head, its labels, that its parent is missing. Empty for
/// most. A label on a leaf is the name of its branch.
std::string treeMarks(const SessionTree& tree, TreeNode node);

}  // namespace bough
