#include "bough/maintenance.h"

namespace bough {

std::string_view toString(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::Unsealed: return "unsealed";
    case ProblemKind::LineEnding: return "line_ending";
    case ProblemKind::Leftover: return "leftover";
    case ProblemKind::Torn: return "torn";
    case ProblemKind::Damage: return "damage";
    case ProblemKind::BrokenBatch: return "broken_batch";
    case ProblemKind::DuplicateId: return "duplicate_id";
    case ProblemKind::UnknownParent: return "unknown_parent";
    case ProblemKind::Header: return "header";
    case ProblemKind::Attachment: return "attachment";
    case ProblemKind::OtherCopy: return "other_copy";
    case ProblemKind::Missing: return "missing";
  }
  return "damage";
}

std::string_view remedyFor(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::Unsealed:
    case ProblemKind::LineEnding: return "nothing needs to be done: it is read as it is";
    case ProblemKind::Leftover: return "`bough repair SESSION` removes it";
    case ProblemKind::Torn: return "`bough repair SESSION`, or the next append, moves it to SESSION.torn";
    case ProblemKind::Damage: return "bring the bytes back from a copy; until then they stay and are skipped";
    case ProblemKind::BrokenBatch: return "bring the missing lines back from a copy; what is there counts";
    case ProblemKind::DuplicateId:
      return "the first one counts; what only the other says can be appended under another id";
    case ProblemKind::UnknownParent:
      return "bring the missing entry back from a copy; until then its child begins a branch of its own, and a head "
             "that names it moves nothing";
    case ProblemKind::Header:
      return "a newer format needs a newer bough; a missing header is made by `bough migrate SESSION`; a second one is "
             "an entry like others; an empty file, or one that is not a session, can be moved out of the store";
    case ProblemKind::OtherCopy: return "compare the two, and move the one that is not wanted out of the store";
    case ProblemKind::Missing: return "bring its log back from a copy; `bough reindex` forgets the session";
    case ProblemKind::Attachment: return "bring the file back from a copy; the entry that names it is there";
  }
  return "";
}

}  // namespace bough
