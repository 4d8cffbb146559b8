// What a target's document will hold: the plan (plan/) makes these, the writers (dialect/) spell them out.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bough::message {

/// Gemini: what the API documents as the signature of a call that has none of its own.
inline constexpr std::string_view kForeignCall = "skip_thought_signature_validator";

/// One block to write. Every field is as the target takes it.
struct OutBlock {
  BlockKind kind = BlockKind::Text;
  bool stored = false;  ///< Request: a block of the target's dialect, written as it stands.
  bool isError = false;
  bool freeform = false;  ///< Of a call that takes text, or of its result.
  bool omitId = false;    ///< The call had no id where it was written.
  bool sentinel = false;  ///< Gemini: the call needs a signature it cannot have.
  std::int32_t original = -1;
  std::string_view raw{};        ///< Stored: written in place of the block's bytes.
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
  bool changed = false;        ///< Request: it must not be copied whole.
  std::int32_t original = -1;  ///< When verbatim.
  TextView roleName{};         ///< "developer", where the target knows it.
  std::vector<OutBlock> outBlocks{};
  std::vector<std::pair<std::string_view, std::string_view>> members{};  ///< What else is written: names, raw values.
};

struct Plan {
  std::vector<OutMessage> messages;
  OutMessage system;  ///< What goes into the request's own place for it.
  bool hasSystem = false;
  std::deque<std::string> texts;  ///< What blocks point into.
};

}  // namespace bough::message
