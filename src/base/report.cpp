#include "bough/report.h"

namespace bough {

std::string_view toString(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::Unsealed: return "unsealed";
    case ProblemKind::LineEnding: return "line_ending";
    case ProblemKind::Torn: return "torn";
    case ProblemKind::Damage: return "damage";
    case ProblemKind::BrokenBatch: return "broken_batch";
    case ProblemKind::DuplicateId: return "duplicate_id";
    case ProblemKind::UnknownParent: return "unknown_parent";
    case ProblemKind::Header: return "header";
    case ProblemKind::Attachment: return "attachment";
  }
  return "damage";
}

}  // namespace bough
