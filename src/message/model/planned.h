// What a target's document will hold. The plan (plan/) makes these objects, the writers (dialect/) turn them into text.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bough::message {

/// Gemini: the documented signature for a call without a signature of its own.
inline constexpr std::string_view kPlaceholderSignature = "skip_thought_signature_validator";

/// One block to write. Every field has the form that the target accepts.
struct OutBlock {
  BlockKind kind = BlockKind::Text;
  bool stored = false;  ///< In a request: a block in the target's dialect, written verbatim.
  bool isError = false;
  bool freeform = false;                   ///< A call that takes text, or its result.
  bool omitId = false;                     ///< The original call had no id.
  bool needsPlaceholderSignature = false;  ///< Gemini: the call needs a signature and has none.
  std::int32_t original = -1;
  std::string_view raw{};        ///< When `stored`: text to write instead of the block's bytes.
  const Block* block = nullptr;  ///< For media, and for everything that only has a different form.
  TextView text{};
  TextView id{};
  TextView name{};
  std::string_view input{};           ///< For a call: a raw JSON object or a raw string, whichever the target accepts.
  std::vector<TextView> texts{};      ///< For a result.
  std::vector<const Block*> media{};  ///< For a result.
};

struct OutMessage {
  Role role = Role::User;
  bool verbatim = false;
  bool changed = false;        ///< In a request: it must not be copied as a whole.
  std::int32_t original = -1;  ///< Set when verbatim.
  TextView roleName{};         ///< "developer", when the target knows that role.
  std::vector<OutBlock> outBlocks{};
  /// Further members to write: names and raw values.
  std::vector<std::pair<std::string_view, std::string_view>> members{};
};

struct Plan {
  std::vector<OutMessage> messages;
  OutMessage system;  ///< The content of the request's own member for the system prompt.
  bool hasSystem = false;
  std::deque<std::string> texts;  ///< Storage that blocks point into.
};

}  // namespace bough::message
