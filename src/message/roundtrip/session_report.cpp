#include "message/roundtrip/session_report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "message/plan/plan.h"
#include "message/plan/write_plan.h"

namespace bough::message {
namespace {

template <typename T>
void append(std::vector<T>& more, std::vector<T>& list) {
  const std::size_t room = CompatibilityReport::kMaxFindings - std::min(list.size(), CompatibilityReport::kMaxFindings);
  more.resize(std::min(more.size(), room));
  std::ranges::move(more, std::back_inserter(list));
}

}  // namespace

SessionReport::SessionReport(Dialect target, std::string_view system, std::string_view tools,
                             CompatibilityReport& report)
    : target_(target), report_(report) {
  written_.prefix = {.system = hashOfRaw(system), .tools = hashOfRaw(tools)};
}

void SessionReport::add(const std::vector<SessionMessage>& messages, bool isLast) {
  History history;
  history.isBeginning = std::exchange(isBeginning_, false);
  history.hasMore = !isLast;
  history.earlier = &calls_;
  Reporter reporter(report_);
  const std::uint64_t before = report_.messages;
  (void)readSession(messages, nullptr, history, reporter, &read_);  // Fails only for an invalid way back.
  report_.messages += before;
  const Plan plan = makePlan(history, target_, kSessionOptions, reporter);
  Records records;
  PlanWriter writer(history, target_, records, Hashing::Yes);
  Reporter copied(copied_);
  writer.checkSignatures(written_, copied);
  std::string text;
  writer.messages(plan, text);
  written_ = writer.chain();
  Reporter carried(carried_);
  reportCarriedSignatures(history, target_, carried);
}

void SessionReport::joinReports() {
  for (CompatibilityReport* each : {&copied_, &carried_}) {
    append(each->warnings, report_.warnings);
    append(each->signatures, report_.signatures);
  }
}

}  // namespace bough::message
