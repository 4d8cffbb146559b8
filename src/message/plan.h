// Decides what a target's document will hold, before any of it is written.
//
// The rules every target shares are kept here, once: the results of a message's calls come right behind it, in call
// order, and every call has one; what a target refuses (empty turns, reasoning of others, results without a call) is
// left out and reported; what it cannot hold in its own form becomes text. Natives of the target's own dialect are not
// touched. The writers then only spell out what the plan says.
#pragma once

#include <bough/convert.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "message/history.h"
#include "message/report.h"

namespace bough::message {

/// What a plan is made for.
enum class PlanMode : std::uint8_t {
  Convert,   ///< Natives of the target's dialect stay as they are, so that they come back unchanged.
  Fragment,  ///< The history is one message of a longer one, so nothing is paired or added.
  Request,   ///< All of it must be what the target's API accepts, natives of its own dialect too.
};

/// One block to write. Every field is as the target takes it.
struct Piece {
  BlockKind kind = BlockKind::Text;
  bool stored = false;  ///< Request: a block of the target's dialect, written as it stands.
  bool isError = false;
  bool freeform = false;  ///< Of a call that takes text, or of its result.
  bool omitId = false;    ///< The call had no id where it was written.
  bool sentinel = false;  ///< Gemini: the call needs a signature it cannot have.
  std::int32_t native = -1;
  const Block* block = nullptr;  ///< Media, and everything that is only spelled differently.
  TextView text{};
  TextView id{};
  TextView name{};
  std::string_view input{};           ///< Call: a raw JSON object, or a raw string, as the target takes it.
  std::vector<TextView> texts{};      ///< Result.
  std::vector<const Block*> media{};  ///< Result.
};

struct OutMessage {
  Role role = Role::User;
  bool verbatim = false;
  std::int32_t native = -1;  ///< When verbatim.
  TextView roleName{};       ///< "developer", where the target knows it.
  std::vector<Piece> pieces{};
};

struct Plan {
  std::vector<OutMessage> messages;
  OutMessage system;  ///< What goes into the request's own place for it.
  bool hasSystem = false;
  std::deque<std::string> texts;  ///< What pieces point into.
};

Plan makePlan(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter,
              PlanMode mode = PlanMode::Convert);

/// Whether a target takes this image or document from a message of this role. `from`: whose file ids they are.
bool canHoldMedia(Dialect target, Role role, const Block& block, Dialect from);

/// The media type to write for it; guessed from the address where none is stored.
std::string_view mediaTypeOf(const Block& block);

}  // namespace bough::message
