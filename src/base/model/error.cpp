#include "bough/error.h"

namespace bough {

std::string_view toString(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument: return "invalid_argument";
    case ErrorCode::NotFound: return "not_found";
    case ErrorCode::AlreadyExists: return "already_exists";
    case ErrorCode::Conflict: return "conflict";
    case ErrorCode::IdConflict: return "id_conflict";
    case ErrorCode::HasForks: return "has_forks";
    case ErrorCode::Damaged: return "damaged";
    case ErrorCode::NewerFormat: return "newer_format";
    case ErrorCode::MigrationNeeded: return "migration_needed";
    case ErrorCode::ReadOnly: return "read_only";
    case ErrorCode::NoSpace: return "no_space";
    case ErrorCode::Busy: return "busy";
    case ErrorCode::Poisoned: return "poisoned";
    case ErrorCode::Closed: return "closed";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Io: return "io";
    case ErrorCode::Unavailable: return "unavailable";
    case ErrorCode::Timeout: return "timeout";
    case ErrorCode::OutcomeUnknown: return "outcome_unknown";
  }
  return "io";
}

}  // namespace bough
