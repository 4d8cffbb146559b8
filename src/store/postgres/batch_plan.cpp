#include "store/postgres/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/json/json_scan.h"
#include "base/model/head.h"
#include "store/postgres/schema/database.h"
#include "store/rules/append_rules.h"
#include "store/rules/attachment_reference.h"
#include "store/rules/entry_rules.h"

namespace bough::postgres {
namespace {

bool isAny(EntryKind /*kind*/) {
  return true;
}

// Adds texts that are usually absent. If all are absent, adds NULL, which costs the server nothing.
template <typename Texts>
void addTexts(Parameters& parameters, const Texts& texts) {
  if (std::ranges::none_of(texts, [](const auto& text) { return text.has_value(); })) {
    parameters.nothing();
  } else {
    parameters.texts(std::vector<std::optional<std::string_view>>(texts.begin(), texts.end()));
  }
}

class Planner {
 public:
  Planner(const BatchLines& lines, std::string_view head) : lines_(lines), head_(head) {}

  BatchPlan run(std::size_t first, std::size_t mostBytes) {
    if (first == 0 && lines_.totalBytes() < mostBytes) reserve(lines_.size());
    for (std::size_t i = first; i < lines_.size() && plan_.bytes < mostBytes; ++i) {
      add(static_cast<std::int64_t>(i - first), lines_[i]);
    }
    return std::move(plan_);
  }

 private:
  static constexpr std::int64_t kNone = -9;

  void reserve(std::size_t count) {
    for (auto* numbers :
         {&plan_.places, &plan_.roots, &plan_.steps, &plan_.segments, &plan_.joins, &plan_.kinds, &plan_.times}) {
      numbers->reserve(count);
    }
    for (auto* texts : {&plan_.types, &plan_.targets, &plan_.attachments}) texts->reserve(count);
    for (auto* ids : {&plan_.ids, &plan_.parents}) ids->reserve(count);
    plan_.bodies.reserve(count);
    places_.reserve(count);
  }

  void add(std::int64_t place, const BatchLines::Line& line) {
    const EntryKind kind = entryKind(line.type());
    const std::string_view parent = line.parentId();
    plan_.ids.emplace_back(line.id());
    plan_.parents.push_back(parent.empty() ? std::nullopt : std::optional(parent));
    plan_.kinds.push_back(static_cast<std::int64_t>(kind));
    plan_.types.push_back(kind == EntryKind::Other
                              ? std::optional(json::decodeString(fmt::format("\"{}\"", line.type())).value_or(""))
                              : std::nullopt);
    plan_.bodies.push_back(bodyOf(line));
    plan_.bytes += plan_.bodies.back().size();
    plan_.times.push_back(-1);
    // In most lines the payload does not matter here, so it is not searched for.
    const bool says = isControl(kind) || mayHoldAttachmentReference(line.text());
    const auto payload = says ? json::findMember(line.text(), "payload").value_or("") : std::string_view();
    plan_.attachments.push_back(readAttachmentReference(payload));
    plan_.targets.push_back(isControl(kind) ? json::findString(payload, "entryId") : std::nullopt);
    addParent(place, parent, kind);
    if (plan_.targets.back()) need(*plan_.targets.back(), kind);
    moveHead(place, kind, payload, line.id());
    places_.emplace(line.id(), place);
  }

  void addParent(std::int64_t place, std::string_view parent, EntryKind kind) {
    const auto known = places_.find(parent);
    std::int64_t where = BatchPlan::kNamed;
    if (parent.empty()) {
      where = BatchPlan::kRoot;
    } else if (known != places_.end()) {
      where = known->second;
    } else if (parent == head_) {
      where = BatchPlan::kHead;
    }
    plan_.places.push_back(where);
    const bool inside = where >= 0;
    const auto up = static_cast<std::size_t>(inside ? where : 0);
    const bool header = kind == EntryKind::SessionHeader;  // a header is on no branch
    plan_.roots.push_back(inside ? plan_.roots[up] : where == BatchPlan::kNamed ? place : where);
    plan_.steps.push_back(header ? 0 : inside ? plan_.steps[up] + 1 : 1);
    // Control entries belong to no run: the conversation does not continue from them.
    const bool continues = isConversation(kind) && inside && where == fresh_;
    const bool onHead = isConversation(kind) && fresh_ == BatchPlan::kHead;
    plan_.segments.push_back(continues ? plan_.segments[up] : place);
    plan_.joins.push_back(continues                              ? plan_.joins[up]
                          : onHead && where == BatchPlan::kHead  ? BatchPlan::kJoins
                          : onHead && where == BatchPlan::kNamed ? BatchPlan::kMayJoin
                                                                 : BatchPlan::kApart);
    if (where == BatchPlan::kNamed) need(std::string(parent), kind, /*asParent=*/true);
  }

  // Records an id outside the batch that must exist when the batch is stored.
  void need(const std::string& id, EntryKind by, bool asParent = false) {
    if (places_.contains(id) || (!asParent && id == head_)) return;
    const bool hides = by == EntryKind::Redaction;
    plan_.requiredIds.push_back(id);
    plan_.requiredKinds.push_back(kindBits(asParent ? isAny : hides ? canBeRedacted : isConversation));
    plan_.requiredSequences.push_back(0);
    plan_.requiredDepths.push_back(0);
  }

  void moveHead(std::int64_t place, EntryKind kind, std::string_view payload, std::string_view id) {
    std::string storage;
    const auto head = headAfter(kind, id, payload, storage);
    if (!head) return;
    plan_.head = *head;
    plan_.headFresh = kind != EntryKind::Head;
    fresh_ = plan_.headFresh ? place : kNone;
    const auto known = places_.find(plan_.head);
    plan_.headPlace = plan_.headFresh          ? place
                      : plan_.head.empty()     ? BatchPlan::kRoot
                      : known != places_.end() ? known->second
                                               : BatchPlan::kNamed;
  }

  const BatchLines& lines_;
  const std::string_view head_;
  BatchPlan plan_;
  std::unordered_map<std::string_view, std::int64_t> places_;
  std::int64_t fresh_ = BatchPlan::kHead;  // the last entry of a run that may continue; kNone after the head was moved
};

}  // namespace

std::int64_t kindBits(bool (*right)(EntryKind)) {
  std::int64_t bits = 0;
  for (int kind = 0; kind <= static_cast<int>(EntryKind::Redaction); ++kind) {
    if (right(static_cast<EntryKind>(kind))) bits |= std::int64_t{1} << kind;
  }
  return bits;
}

std::string_view typeOf(EntryKind kind) {
  using namespace entry_type;
  constexpr std::array<std::string_view, 16> kNames{"custom type",
                                                    kSessionHeader,
                                                    kMessage,
                                                    kMessageDeltaBatch,
                                                    kModelChange,
                                                    kThinkingLevelChange,
                                                    kRuntimeInit,
                                                    kSystemPromptOverride,
                                                    kCompactionSummary,
                                                    kBranchSummary,
                                                    kCustom,
                                                    kToolStart,
                                                    kHead,
                                                    kLabel,
                                                    kSessionInfo,
                                                    kRedaction};
  return kNames.at(static_cast<std::size_t>(kind));
}

void noteGeneratedTime(BatchPlan& plan, std::size_t place) {
  constexpr std::string_view kKey = R"("timestamp":")";
  const std::size_t at = plan.bodies[place].find(kKey);
  if (at != std::string_view::npos) plan.times[place] = static_cast<std::int64_t>(at + kKey.size());
}

BatchPlan planBatch(const BatchLines& lines, std::string_view head) {
  return Planner(lines, head).run(0, SIZE_MAX);
}

BatchPlan planPart(const BatchLines& lines, std::size_t first, std::string_view head) {
  return Planner(lines, head).run(first, kMostStatementBytes);
}

void BatchPlan::addEntries(Parameters& parameters) const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(ids.size() * 7);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    numbers.insert(numbers.end(), {places[i], roots[i], steps[i], segments[i], joins[i], kinds[i], times[i]});
  }
  parameters.texts(ids);
  addTexts(parameters, parents);
  parameters.numbers(numbers);
  addTexts(parameters, types);
  addTexts(parameters, targets);
  addTexts(parameters, attachments);
  parameters.byteTexts(bodies);
}

void BatchPlan::addRequired(Parameters& parameters) const {
  if (requiredIds.empty()) {
    parameters.nothing().nothing();
    return;
  }
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < requiredIds.size(); ++i) {
    numbers.insert(numbers.end(), {requiredKinds[i], requiredSequences[i], requiredDepths[i]});
  }
  parameters.texts(requiredIds).numbers(numbers);
}

bool BatchPlan::isChain() const {
  const auto last = static_cast<std::int64_t>(ids.size()) - 1;
  if (last < 0 || headPlace != last || !headFresh || !requiredIds.empty() || places[0] == kNamed) return false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    if (types[i] || targets[i] || attachments[i] || segments[i] != 0 || joins[i] != joins[0]) return false;
    if (steps[i] != place + 1 || (i > 0 && places[i] != place - 1)) return false;
  }
  return true;
}

void BatchPlan::addHead(Parameters& parameters) const {
  parameters.number(headPlace).text(head).truth(headFresh).number(static_cast<std::int64_t>(bytes));
}

std::string_view bodyOf(const BatchLines::Line& line) {
  const std::size_t parentBytes = line.parentId().empty() ? 4 : line.parentId().size() + 2;  // null, or a quoted id
  return line.text().substr(kIdKey.size() + line.id().size() + kParentKey.size() + parentBytes);
}

}  // namespace bough::postgres
