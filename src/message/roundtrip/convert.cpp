// Converts originals to the document of a target, and writes the way back.
#include <bough/convert.h>
#include <fmt/format.h>

#include "message/dialect/tools.h"
#include "message/json/content_hash.h"
#include "message/model/signatures.h"
#include "message/plan/plan.h"
#include "message/plan/write_plan.h"
#include "message/request/request_frame.h"
#include "message/request/settings.h"
#include "message/roundtrip/read_history.h"
#include "message/roundtrip/way_back.h"

#include "base/try.h"

namespace bough {
namespace message {
namespace {

class Composer {
 public:
  Composer(History& history, Dialect from, Dialect target, const ConvertOptions& options, Reporter& reporter)
      : history_(history), from_(from), target_(target), options_(options), reporter_(reporter) {}

  std::string compose(Records& records) {
    const Plan plan = makePlan(history_, target_, options_, reporter_);
    PlanWriter writer(history_, target_, records, Hashing::Yes);
    SectionTexts texts;
    texts.tools = writeTools(target_, history_, records, reporter_);
    texts.hasTools = !texts.tools.empty();
    texts.hasSystem = plan.hasSystem;
    if (plan.hasSystem) writer.system(plan, texts.system);
    const RequestFrame* known = history_.requestFrameOf(target_);
    const bool wantsObject = texts.hasSystem || texts.hasTools || !sourceIsBare();
    RequestFrame requestFrame = known != nullptr ? *known : defaultRequest(target_, !wantsObject);
    if (known == nullptr) addSettings(history_, from_, texts.hasTools, requestFrame, reporter_);
    FilledText around = fillRequest(requestFrame, texts);
    if (known != nullptr) updateSettings(history_, from_, texts.hasTools, requestFrame, around, reporter_);
    std::string document = around.before;
    writer.checkSignatures(prefixOf(texts), reporter_);
    messages(plan, requestFrame, writer, document);
    document += around.after;
    written_ = std::move(requestFrame.written);
    return document;
  }

  /// Returns the settings that the conversion wrote into the document.
  [[nodiscard]] const std::vector<Setting>& written() const { return written_; }

 private:
  [[nodiscard]] bool sourceIsBare() const { return history_.requestFrames.back().bare; }

  [[nodiscard]] static Prefix prefixOf(const SectionTexts& texts) {
    ContentHasher hasher;
    Prefix prefix;
    if (texts.hasSystem) prefix.system = hasher.hashIfValid(texts.system);
    if (texts.hasTools) prefix.tools = hasher.hashIfValid(texts.tools);
    return prefix;
  }

  // If `input` was one string, it becomes one string again when there is nothing else to write.
  void messages(const Plan& plan, const RequestFrame& requestFrame, PlanWriter& writer, std::string& document) {
    const bool oneString = requestFrame.stringInput && plan.messages.size() == 1 && plan.messages.front().verbatim &&
                           history_.originals[static_cast<std::size_t>(plan.messages.front().original)].isRequestMember;
    const bool wrapped = requestFrame.stringInput && !oneString;
    if (wrapped) document += '[';
    writer.messages(plan, document, oneString);
    if (wrapped) document += ']';
  }

  History& history_;
  Dialect from_;
  Dialect target_;
  const ConvertOptions& options_;
  Reporter& reporter_;
  std::vector<Setting> written_;
};

void reportProblems(const History& history, Reporter& reporter) {
  for (const Original& original : history.originals) {
    if (!original.problem.empty()) reporter.invalid(original, nullptr, original.problem);
    for (const Block& block : original.message.blocks) {
      if (!block.problem.empty()) reporter.invalid(original, &block, block.problem);
    }
  }
}

}  // namespace
}  // namespace message

Result<Conversion> convertHistory(std::string_view document, Dialect from, Dialect to, const ConvertOptions& options,
                                  const WayBack* wayBack) {
  using namespace message;
  if (to == Dialect::Plain) {
    return fail(ErrorCode::Unsupported, "plain entries are only read", "convert to bough instead");
  }
  Conversion conversion;
  Reporter reporter(conversion.report);
  History history;
  // A document that stays in its dialect stays unchanged, and so does its way back.
  const WayBack* used = from == to ? nullptr : wayBack;
  BOUGH_TRY(readHistory(document, from, options, used, history, reporter));
  if (from == to) {
    reportProblems(history, reporter);
    conversion.document = std::string(document);
    if (wayBack != nullptr) {
      conversion.wayBack = *wayBack;
    } else {
      conversion.wayBack.json = writeWayBack(to, history, {});
    }
    return conversion;
  }
  Records records;
  Composer composer(history, from, to, options, reporter);
  conversion.document = composer.compose(records);
  reportCarriedSignatures(history, to, reporter);
  conversion.wayBack.json = writeWayBack(to, history, records, composer.written());
  return conversion;
}

Result<CompatibilityReport> checkCompatibility(std::string_view document, Dialect from, Dialect to,
                                               const WayBack* wayBack) {
  BOUGH_TRY(auto conversion, convertHistory(document, from, to, {}, wayBack));
  return std::move(conversion.report);
}

}  // namespace bough
