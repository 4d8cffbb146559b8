#include "bough/entry.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bough {

EntryKind entryKind(std::string_view type) {
  using namespace entry_type;
  static constexpr std::pair<std::string_view, EntryKind> kKinds[] = {
      {kMessage, EntryKind::Message},
      {kSessionHeader, EntryKind::SessionHeader},
      {kMessageDeltaBatch, EntryKind::MessageDeltaBatch},
      {kModelChange, EntryKind::ModelChange},
      {kThinkingLevelChange, EntryKind::ThinkingLevelChange},
      {kRuntimeInit, EntryKind::RuntimeInit},
      {kSystemPromptOverride, EntryKind::SystemPromptOverride},
      {kCompactionSummary, EntryKind::CompactionSummary},
      {kBranchSummary, EntryKind::BranchSummary},
      {kCustom, EntryKind::Custom},
      {kToolStart, EntryKind::ToolStart},
      {kHead, EntryKind::Head},
      {kLabel, EntryKind::Label},
      {kSessionInfo, EntryKind::SessionInfo},
      {kRedaction, EntryKind::Redaction},
  };
  const auto* found = std::ranges::find(kKinds, type, &std::pair<std::string_view, EntryKind>::first);
  return found == std::end(kKinds) ? EntryKind::Other : found->second;
}

}  // namespace bough
