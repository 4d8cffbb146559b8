// Conversion of whole histories between providers, with an exact way back.
//
// convertHistory turns a document of one dialect into one of another: a bare list of messages, or a request body with
// system prompt and tools. What the target cannot hold goes into a WayBack beside it. Converted again with that
// WayBack, to the first dialect or to a third, everything that was not edited meanwhile comes from the bytes it was
// first written in. See docs/messages.md.
//
// The calls are stateless and work in memory: any thread may call them, and the same input gives the same bytes.
#pragma once

#include <bough/message.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace BOUGH_PUBLIC bough {

/// Side data of a converted document: JSON text, to be kept beside it, unchanged. It holds the originals, so it is
/// about as large as the document that was read, or larger.
struct WayBack {
  std::string json = {};
};

struct ConvertOptions {
  bool strict = false;            ///< Stop at the first message that is not what its dialect says.
  bool keepPendingCalls = false;  ///< Leave tool calls at the end unanswered: the caller is about to run them.
  bool thinkingAsText = false;    ///< Write readable reasoning of another provider as text, between <thinking> tags.
};

/// What happened to one thing. docs/messages.md says what each dialect cannot hold.
enum class Change : std::uint8_t {
  Carried,    ///< The target has no place for it; the WayBack keeps it and it comes back.
  Renamed,    ///< An id or a tool name the target forbids has another one there.
  Altered,    ///< Expressed in another form.
  LeftOut,    ///< The target would refuse it (an empty turn, a result without a call); kept in the WayBack.
  Synthetic,  ///< Added because the target demands it; vanishes on the way back.
  Invalid,    ///< Not what its dialect says; not converted, kept in the WayBack.
  Edited,     ///< Changed since it was converted: converted again from its new form.
  Removed,    ///< Gone since it was converted.
  Added,      ///< New since the last conversion.
  Needs,      ///< The target takes it only with something else: a beta header, an item that is stored there.
};
std::string_view toString(Change change);

/// One thing that happened, and where.
struct Finding {
  Change change = Change::Carried;
  std::string path = {};  ///< "messages[3].content[1]" in the document that was read; in an entry "message.content[1]".
  std::string field = {};  ///< "thinking", "tool_result.is_error", "text.cache_control" …
  std::string reason = {};
  std::string entryId{};  ///< Of a session: the entry it happened to.
};

enum class SignatureState : std::uint8_t {
  Carried,  ///< Not in the converted document; the WayBack keeps it.
  Valid,    ///< In the converted document, with every byte before it as it was.
  Invalid,  ///< In the converted document, but something before it changed.
};
std::string_view toString(SignatureState state);

/// One signed block of reasoning.
struct SignatureStatus {
  std::string path = {};
  Dialect provider = Dialect::Anthropic;
  SignatureState state = SignatureState::Carried;
  std::string reason = {};  ///< What breaks it, or what would.
  std::string entryId{};    ///< Of a session: the entry that holds it.
};

/// What a conversion does to this history.
struct CompatibilityReport {
  /// The longest list of findings, of warnings and of signatures that is kept; the counts go on.
  static constexpr std::size_t kMaxFindings = 10'000;

  bool compatible = true;  ///< Nothing was invalid, and the model loses nothing it could see.
  std::vector<std::string> warnings = {};
  std::vector<std::string> lossyFields = {};    ///< Every field the target does not hold, once.
  std::vector<std::uint64_t> lossyCounts = {};  ///< How often, field by field.
  std::vector<std::string> betas{};             ///< The values of the header `anthropic-beta` that the request needs.
  std::vector<Finding> findings = {};
  std::vector<SignatureStatus> signatures = {};
  std::uint64_t messages = 0;         ///< In the document that was read.
  std::uint64_t lossyMessages = 0;    ///< How many of them lose something.
  std::uint64_t restored = 0;         ///< Taken from the bytes they were first written in.
  std::uint64_t findingsDropped = 0;  ///< Beyond kMaxFindings.

  /// The report as one JSON object, as `--json` prints it.
  [[nodiscard]] std::string toJson() const;
};

/// A converted document.
struct Conversion {
  std::string document = {};        ///< In the form of the one that was read: a list, or a request body.
  WayBack wayBack = {};             ///< Keep it beside the document, whatever comes of that.
  CompatibilityReport report = {};  ///< What happened to each part.
};

/// Converts a document. `wayBack` is what the conversion that made `document` returned, if one did; one that cannot be
/// read is named in the warnings and the document converted without it (with strict: Damaged).
/// Fails with InvalidArgument when the document holds no history at all or, with strict, when any message is bad;
/// Unsupported when the target is Plain. `from` and `to` may be equal: the document then returns as it is.
/// Costs several times the document's size in memory.
[[nodiscard]] Result<Conversion> convertHistory(std::string_view document, Dialect from, Dialect to,
                                                const ConvertOptions& options = {}, const WayBack* wayBack = nullptr);

/// What convertHistory would report, without strict. Costs as much, and fails as that does.
[[nodiscard]] Result<CompatibilityReport> checkCompatibility(std::string_view document, Dialect from, Dialect to,
                                                             const WayBack* wayBack = nullptr);

}  // namespace BOUGH_PUBLIC bough
