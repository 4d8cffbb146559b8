// From natives to the document of a target, and the Origin beside it.
#include <bough/convert.h>
#include <fmt/format.h>

#include <algorithm>

#include "message/content_hash.h"
#include "message/document.h"
#include "message/origin.h"
#include "message/plan.h"
#include "message/restore.h"
#include "message/settings.h"
#include "message/signatures.h"
#include "message/tools.h"
#include "message/writers.h"

namespace bough {
namespace message {
namespace {

class Composer {
 public:
  Composer(History& history, Dialect from, Dialect target, const ConvertOptions& options, Reporter& reporter)
      : history_(history), from_(from), target_(target), options_(options), reporter_(reporter) {}

  std::string compose(Records& records) {
    const Plan plan = makePlan(history_, target_, options_, reporter_);
    SectionTexts texts;
    texts.tools = writeTools(target_, history_, records, reporter_);
    texts.hasTools = !texts.tools.empty();
    system(plan, texts, records);
    const Frame* known = history_.frameOf(target_);
    const bool wantsObject = texts.hasSystem || texts.hasTools || !sourceIsBare();
    Frame frame = known != nullptr ? *known : defaultFrame(target_, !wantsObject);
    if (known == nullptr) addSettings(history_, from_, texts.hasTools, frame, reporter_);
    if (texts.hasSystem) chain_.prefix.system = hasher_.hashIfValid(texts.system);
    if (texts.hasTools) chain_.prefix.tools = hasher_.hashIfValid(texts.tools);
    FrameText around = fillFrame(frame, texts);
    if (known != nullptr) updateSettings(history_, from_, texts.hasTools, frame, around, reporter_);
    std::string document = around.before;
    messages(plan, frame, document, records);
    document += around.after;
    return document;
  }

 private:
  [[nodiscard]] const Native& nativeAt(std::int32_t index) const {
    return history_.natives[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] bool sourceIsBare() const { return history_.frames.back().bare; }

  void system(const Plan& plan, SectionTexts& texts, Records& records) {
    if (!plan.hasSystem) return;
    texts.hasSystem = true;
    Sink sink(texts.system, records, Section::System);
    if (plan.system.verbatim) {
      const Native& native = nativeAt(plan.system.native);
      sink.splice(plan.system.native, native.raw, {}, hasher_.hashOf(native));
    } else {
      writeSystem(target_, plan.system, sink);
    }
  }

  void messages(const Plan& plan, const Frame& frame, std::string& document, Records& records) {
    std::size_t bytes = 1024;
    for (const Native& native : history_.natives) bytes += native.raw.size() + native.raw.size() / 8;
    document.reserve(document.size() + bytes);
    Sink sink(document, records, Section::Messages);
    const Native* before = nullptr;
    const bool oneString = frame.stringInput && plan.messages.size() == 1 && plan.messages.front().verbatim &&
                           nativeAt(plan.messages.front().native).wholeSlot;
    if (frame.stringInput && !oneString) document += '[';
    for (const OutMessage& out : plan.messages) {
      const std::size_t firstNode = records.nodes.size();
      const Native* native = out.verbatim ? &nativeAt(out.native) : nullptr;
      if (native == nullptr) {
        writeMessage(target_, out, sink);
      } else {
        spliceNative(out.native, before, oneString, sink);
      }
      before = native;
      for (std::size_t i = firstNode; i < records.nodes.size(); ++i) chain_.add(records.nodes[i]);
    }
    if (frame.stringInput && !oneString) document += ']';
  }

  void spliceNative(std::int32_t index, const Native* before, bool oneString, Sink& sink) {
    const Native& native = nativeAt(index);
    const bool follows = before != nullptr && before->place + 1 == native.place;
    checkSignatures(native, chain_.prefix, reporter_);
    if (native.wholeSlot && !oneString) {
      const std::string item = "{\"role\":\"user\",\"content\":" + std::string(native.raw) + "}";
      sink.splice(index, item, {}, hasher_.hash(item));
      return;
    }
    sink.splice(index, native.raw, follows ? native.separator : std::string_view(), hasher_.hashOf(native));
  }

  History& history_;
  Dialect from_;
  Dialect target_;
  const ConvertOptions& options_;
  Reporter& reporter_;
  ContentHasher hasher_;
  PrefixChain chain_;
};

void reportProblems(const History& history, Reporter& reporter) {
  for (const Native& native : history.natives) {
    if (!native.problem.empty()) reporter.invalid(native, nullptr, native.problem);
    for (const Block& block : native.message.blocks) {
      if (!block.problem.empty()) reporter.invalid(native, &block, block.problem);
    }
  }
}

}  // namespace
}  // namespace message

Result<Conversion> convertHistory(std::string_view document, Dialect from, Dialect to, const ConvertOptions& options,
                                  const Origin* origin) {
  using namespace message;
  if (to == Dialect::Plain) {
    return fail(ErrorCode::Unsupported, "plain entries are only read", "convert to bough instead");
  }
  Conversion conversion;
  Reporter reporter(conversion.report);
  History history;
  // A document that stays in its dialect stays as it is; so does what is known about it.
  const Origin* used = from == to ? nullptr : origin;
  if (const auto read = readHistory(document, from, options, used, history, reporter); !read) {
    return std::unexpected(read.error());
  }
  if (from == to) {
    reportProblems(history, reporter);
    conversion.document = std::string(document);
    if (origin != nullptr) {
      conversion.origin = *origin;
    } else {
      conversion.origin.json = writeOrigin(to, history, {});
    }
    return conversion;
  }
  Records records;
  conversion.document = Composer(history, from, to, options, reporter).compose(records);
  reportCarriedSignatures(history, to, reporter);
  conversion.origin.json = writeOrigin(to, history, records);
  return conversion;
}

Result<CompatibilityReport> checkCompatibility(std::string_view document, Dialect from, Dialect to,
                                               const Origin* origin) {
  auto conversion = convertHistory(document, from, to, {}, origin);
  if (!conversion) return std::unexpected(conversion.error());
  return std::move(conversion->report);
}

}  // namespace bough
