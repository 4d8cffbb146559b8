// Writes all branches of a session for an agent whose files hold one branch each and continue one another.
#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "transcript/model/agent.h"
#include "transcript/model/carried.h"
#include "transcript/model/carrier_writer.h"
#include "transcript/model/conversion.h"
#include "transcript/model/items.h"

namespace bough {

using namespace transcript;

Result<void> writeTranscriptTree(const TranscriptSource& source, const WriteTranscriptOptions& options,
                                 const TranscriptFiles& files, CompatibilityReport* report) {
  const Agent* agent = findAgent(options.agent);
  if (agent == nullptr || agent->writeTree == nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("{} has no files that continue one another", options.agent), "");
  }
  const EntryList& entries = source.list();
  const EntryTree tree(entries);
  const std::size_t head = options.headId.empty() ? tree.head() : tree.find(options.headId);
  if (head == EntryTree::kNone) {
    return options.headId.empty() ? tree.noHead() : fail(ErrorCode::NotFound, "the session has no such entry");
  }
  std::vector<std::size_t> leaves = {head};
  for (const std::size_t leaf : tree.leaves()) {
    if (leaf != head) leaves.push_back(leaf);
  }
  CompatibilityReport own;
  MessageConversion messages(entries, tree, leaves, agent->dialect, report == nullptr ? own : *report);
  const std::vector<bool> isKept = allKept(entries, tree);
  TreeItems items{.entries = entries, .branches = {}, .with = {}};
  std::vector<bool> isTaken(entries.size());
  for (const std::size_t leaf : leaves) {
    if (isTaken[leaf]) continue;
    OwnPart& branch = items.branches.emplace_back();
    std::size_t place = leaf;
    for (; place != EntryTree::kNone && !isTaken[place]; place = tree.parent(place)) {
      isTaken[place] = true;
      branch.places.push_back(place);
    }
    std::ranges::reverse(branch.places);
    branch.base = place;
  }
  items.with = [&](std::size_t place, const std::function<void(const Item&)>& use) {
    const EntryPin entry = entries.at(place);
    use({.entry = entry.get(),
         .parentId = {},
         .messages = messages.takeMessages(place),
         .kept = keptBy(entries, tree, place),
         .isKept = isKept[place],
         .isAppliedEdit = messages.edits().isApplied(place)});
  };
  BOUGH_TRY(entries.check());
  TreeCarrierWriter carrierWriter(entries, tree, !options.clean && !options.bare);
  carrierWriter.addSession(carriedSessionEntry(options.facts, entries.at(leaves.front())->timestamp));
  return agent->writeTree(options.facts, items, carrierWriter, files);
}

}  // namespace bough
