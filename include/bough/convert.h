// Conversion of whole histories between providers, with an exact way back.
//
// convertHistory converts a document from one dialect to another. A document is a bare list of messages, or a request
// body with system prompt and tools. What the target cannot hold is kept in a WayBack beside the document. When the
// document is converted again with that WayBack, to the first dialect or to a third one, everything that was not edited
// meanwhile comes from the bytes in which it was first written. See docs/messages.md.
//
// The calls are stateless and work in memory. Any thread may make them, and equal input gives equal bytes.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace BOUGH_PUBLIC bough {

/// Side data of a converted document: JSON text that the caller keeps unchanged beside the document. It contains the
/// originals, so it is at least about as large as the document that was read.
struct WayBack {
  std::string json = {};
};

struct ConvertOptions {
  bool strict = false;            ///< Stop at the first message that breaks the rules of its dialect.
  bool keepPendingCalls = false;  ///< Leave tool calls at the end unanswered because the caller will run them.
  bool thinkingAsText = false;    ///< Write readable reasoning of another provider as text, in <thinking> tags.
};

/// What happened to one part. docs/messages.md lists what each dialect cannot hold.
enum class Change : std::uint8_t {
  Carried,    ///< The target has no place for it. The WayBack keeps and restores it.
  Renamed,    ///< The target forbids this id or tool name, so it has another one there.
  Altered,    ///< Expressed in another form.
  LeftOut,    ///< The target would refuse it (an empty turn, a result without a call); kept in the WayBack.
  Synthetic,  ///< Added because the target demands it; removed on the way back.
  Invalid,    ///< It breaks the rules of its dialect; not converted, kept in the WayBack.
  Edited,     ///< Changed since it was converted; converted again from its new form.
  Removed,    ///< Removed since it was converted.
  Added,      ///< New since the last conversion.
  Needs,      ///< The target needs something else for it: a beta header, or an item stored on its server.
};
std::string_view toString(Change change);

/// One finding: what happened, and where.
struct Finding {
  Change change = Change::Carried;
  std::string path = {};  ///< "messages[3].content[1]" in the document; in an entry "message.content[1]".
  std::string field = {};  ///< "thinking", "tool_result.is_error", "text.cache_control" …
  std::string reason = {};
  std::string entryId{};  ///< For a session: the entry it happened to.
};

enum class SignatureState : std::uint8_t {
  Carried,  ///< Not in the converted document; the WayBack keeps it.
  Valid,    ///< In the converted document, with every byte before it unchanged.
  Invalid,  ///< In the converted document, but something before it changed.
};
std::string_view toString(SignatureState state);

/// The state of one signed block of reasoning.
struct SignatureStatus {
  std::string path = {};
  Dialect provider = Dialect::Anthropic;
  SignatureState state = SignatureState::Carried;
  std::string reason = {};  ///< What breaks it, or would break it.
  std::string entryId{};    ///< For a session: the entry that holds it.
};

/// What a conversion does to a history.
struct CompatibilityReport {
  /// The most findings, warnings and signatures that are listed; the counts are not limited.
  static constexpr std::size_t kMaxFindings = 10'000;

  bool compatible = true;  ///< Nothing was invalid, and the model loses nothing that it could see.
  std::vector<std::string> warnings = {};
  std::vector<std::string> lossyFields = {};    ///< Every field that the target does not hold, once.
  std::vector<std::uint64_t> lossyCounts = {};  ///< How often, for each of lossyFields.
  std::vector<std::string> betas{};             ///< The values of the header `anthropic-beta` that the request needs.
  std::vector<Finding> findings = {};
  std::vector<SignatureStatus> signatures = {};
  std::uint64_t messages = 0;         ///< Messages in the document that was read.
  std::uint64_t lossyMessages = 0;    ///< How many of them lose something.
  std::uint64_t restored = 0;         ///< How many come from the bytes in which they were first written.
  std::uint64_t findingsDropped = 0;  ///< Findings beyond kMaxFindings.

  /// Returns the report as one JSON object, as `--json` prints it.
  [[nodiscard]] std::string toJson() const;
};

/// A converted document.
struct Conversion {
  std::string document = {};        ///< In the form of the input: a list, or a request body.
  WayBack wayBack = {};             ///< Keep it beside the document, even if you edit the document.
  CompatibilityReport report = {};  ///< What happened to each part.
};

/// Converts a document. `wayBack`: the WayBack that was returned when `document` was made by a conversion. If it cannot
/// be read, a warning says so and the document is converted without it (with `strict`: Damaged). Fails with
/// InvalidArgument when the document holds no history or, with `strict`, when any message is bad; with Unsupported when
/// the target is Plain. When `from` and `to` are equal, the document is returned unchanged. Costs several times the
/// document's size in memory.
[[nodiscard]] Result<Conversion> convertHistory(std::string_view document, Dialect from, Dialect to,
                                                const ConvertOptions& options = {}, const WayBack* wayBack = nullptr);

/// Returns what convertHistory would report without `strict`. Has the same costs and failures.
[[nodiscard]] Result<CompatibilityReport> checkCompatibility(std::string_view document, Dialect from, Dialect to,
                                                             const WayBack* wayBack = nullptr);

}  // namespace BOUGH_PUBLIC bough
