#include "message/dialect/read_original.h"

#include "message/dialect/reader.h"
#include "message/dialect/tools.h"

namespace bough::message {

void readOriginal(Original& original, History& history) {
  if (!original.problem.empty() || original.tree == nullptr) return;
  if (original.section == Section::Tools) {
    readTool(original, history);
    return;
  }
  const json::Tree& tree = *original.tree;
  Problem problem;
  if (original.section == Section::System) {
    problem = readSystem(original.dialect, tree, original.node, original.message);
  } else if (original.isRequestMember) {
    // `input` as one string is a user message.
    Reader reader(tree, original.message);
    original.message.dialect = original.dialect;
    original.message.raw = original.raw;
    original.message.role = Role::User;
    problem = readAnthropicContent(reader, original.node);
  } else {
    problem = readMessage(original.dialect, tree, original.node, original.message);
  }
  if (!problem) return;
  original.problem = *problem;
  original.message.blocks.clear();
  original.message.role = Role::User;
}

}  // namespace bough::message
