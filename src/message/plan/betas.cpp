#include "message/plan/betas.h"

#include <algorithm>

namespace bough::message {
namespace {

struct Need {
  std::string_view type;  // Type of a block or a tool; for a tool, the beginning of its type.
  std::string_view beta;
};

constexpr std::string_view kFiles = "files-api-2025-04-14";
constexpr std::string_view kSystemMessages = "mid-conversation-system-2026-04-07";

// As listed in the provider's own library of November 2026.
constexpr Need kBlocks[] = {{"mcp_tool_use", "mcp-client-2025-11-20"},
                            {"mcp_tool_result", "mcp-client-2025-11-20"},
                            {"mcp_tool_listing", "mcp-client-2026-09-15"},
                            {"compaction", "compact-2026-01-12"},
                            {"advisor_tool_result", "advisor-tool-2026-03-01"},
                            {"tool_addition", "mid-conversation-tool-changes-2026-07-01"},
                            {"tool_removal", "mid-conversation-tool-changes-2026-07-01"},
                            {"fallback", "server-side-fallback-2026-07-01"},
                            {"container_upload", kFiles}};
constexpr Need kTools[] = {
    {"computer_20251124", "computer-use-2025-11-24"}, {"computer_20250124", "computer-use-2025-01-24"},
    {"computer_20241022", "computer-use-2024-10-22"}, {"code_execution_20250522", "code-execution-2025-05-22"},
    {"mcp_toolset", "mcp-client-2025-11-20"},         {"advisor_", "advisor-tool-2026-03-01"}};

class Namer {
 public:
  explicit Namer(Reporter& reporter) : reporter_(reporter) {}

  void need(const Original& original, const Block* block, std::string_view beta) {
    std::vector<std::string>& betas = reporter_.report().betas;
    if (std::ranges::find(betas, beta) != betas.end()) return;
    betas.emplace_back(beta);
    const std::string reason = "the API takes it only with the header anthropic-beta: " + std::string(beta);
    reporter_.note(Change::Needs, original, block, "anthropic-beta", reason);
  }

  // Checks a block that is written in its provider's form.
  void stored(const Original& original, const Block& block) {
    const bool media = block.kind == BlockKind::Image || block.kind == BlockKind::Document;
    if (media && block.source == MediaSource::FileId) need(original, &block, kFiles);
    for (const Block& inside : block.content) {
      if (inside.source == MediaSource::FileId) need(original, &block, kFiles);
    }
    if (block.kind != BlockKind::Unknown) return;
    const auto found = std::ranges::find(kBlocks, block.type.escaped, &Need::type);
    if (found != std::end(kBlocks)) need(original, &block, found->beta);
  }

  void tool(const Original& original) {
    if (original.tree == nullptr) return;  // its bytes in the way back are not JSON
    const auto type = original.tree->find(original.node, "type");
    if (type == json::Tree::kNone) return;
    const std::string_view name = original.tree->raw(type).substr(1);  // After the quotation mark.
    for (const Need& each : kTools) {
      if (name.starts_with(each.type)) need(original, nullptr, each.beta);
    }
  }

 private:
  Reporter& reporter_;
};

}  // namespace

void reportBetaHeaders(const Plan& plan, const History& history, Reporter& reporter) {
  Namer namer(reporter);
  for (const Original& original : history.originals) {
    if (original.section == Section::Tools && original.dialect == Dialect::Anthropic) namer.tool(original);
  }
  const auto originalOf = [&](std::int32_t index) -> const Original& {
    return history.originals[static_cast<std::size_t>(index)];
  };
  for (const OutMessage& out : plan.messages) {
    const std::int32_t from = !out.outBlocks.empty() && !out.verbatim ? out.outBlocks.front().original : out.original;
    if (out.role == Role::System && from >= 0) namer.need(originalOf(from), nullptr, kSystemMessages);
    if (out.verbatim && originalOf(out.original).dialect == Dialect::Anthropic) {
      for (const Block& block : originalOf(out.original).message.blocks) namer.stored(originalOf(out.original), block);
    }
    if (out.verbatim) continue;
    for (const OutBlock& block : out.outBlocks) {
      if (block.stored && block.block != nullptr) namer.stored(originalOf(block.original), *block.block);
    }
  }
}

}  // namespace bough::message
