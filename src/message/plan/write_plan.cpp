#include "message/plan/write_plan.h"

#include <algorithm>

#include "base/json/surrogates.h"
#include "base/system/huge_pages.h"

namespace bough::message {

void PlanWriter::system(const Plan& plan, std::string& out) {
  Sink sink(out, records_, Section::System, hashing_);
  if (!plan.system.verbatim) {
    writeSystem(target_, plan.system, sink);
    return;
  }
  const Original& original = originalAt(plan.system.original);
  std::string clean;
  sink.splice(plan.system.original, acceptableText(original, clean), {}, hashOf(original));
}

std::vector<WrittenMessage> PlanWriter::messages(const Plan& plan, std::string& out, bool asOneString) {
  std::size_t bytes = 1024;
  for (const Original& original : history_.originals) bytes += original.raw.size() + original.raw.size() / 8;
  out.reserve(out.size() + bytes);
  wantHugePages(out.data(), out.capacity());
  std::vector<WrittenMessage> written;
  written.reserve(plan.messages.size());
  const bool surrogates = std::ranges::any_of(history_.originals, [](const Original& original) {
    return original.tree != nullptr && original.tree->anySurrogates();
  });
  Sink sink(out, records_, Section::Messages, hashing_, surrogates ? Surrogates::Perhaps : Surrogates::None);
  const Original* before = nullptr;
  for (const OutMessage& message : plan.messages) {
    WrittenMessage& place = written.emplace_back();
    place.begin = out.size() + (sink.count() > 0 ? 1 : 0);
    place.firstValue = records_.values.size();
    if (message.verbatim) {
      copy(message.original, before, asOneString, sink);
    } else {
      checkStored(message);
      writeMessage(target_, message, sink);
    }
    before = message.verbatim ? &originalAt(message.original) : nullptr;
    place.end = out.size();
    place.endValue = records_.values.size();
    for (std::size_t i = place.firstValue; i < place.endValue; ++i) {
      const bool own = before != nullptr && before->dialect == Dialect::Anthropic;
      own ? chain_.addOwn(records_.values[i].hash) : chain_.addForeign();
    }
  }
  return written;
}

// Checks the signatures of the unchanged blocks in a message that was composed again.
void PlanWriter::checkStored(const OutMessage& message) {
  std::int32_t last = -1;
  for (const OutBlock& block : message.outBlocks) {
    if (reporter_ == nullptr || !block.stored || block.original == last) continue;
    last = block.original;
    message::checkSignatures(originalAt(last), chain_.prefix, *reporter_);
  }
}

// Nothing has to come back from a request, so lone surrogates, which no server accepts, are replaced.
std::string_view PlanWriter::acceptableText(const Original& original, std::string& clean) const {
  const bool none = original.tree != nullptr && !original.tree->anySurrogates();
  if (hashing_ == Hashing::Yes || none || !json::hasLoneSurrogate(original.raw)) return original.raw;
  NodeWriter(clean, Hashing::No).raw(original.raw);
  return clean;
}

void PlanWriter::copy(std::int32_t index, const Original* before, bool asOneString, Sink& sink) {
  const Original& original = originalAt(index);
  if (reporter_ != nullptr) message::checkSignatures(original, chain_.prefix, *reporter_);
  if (original.isRequestMember && !asOneString) {
    const std::string item = "{\"role\":\"user\",\"content\":" + std::string(original.raw) + "}";
    sink.splice(index, item, {}, hashing_ == Hashing::Yes ? hasher_.hash(item) : 0);
    return;
  }
  // Originals that were adjacent in their own document keep the bytes between them.
  const bool follows = before != nullptr && before->documentPlace + 1 == original.documentPlace;
  std::string clean;
  sink.splice(index, acceptableText(original, clean), follows ? original.separator : std::string_view(),
              hashOf(original));
}

}  // namespace bough::message
