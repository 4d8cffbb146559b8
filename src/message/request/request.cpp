#include "message/request/request.h"

#include "message/dialect/tools.h"
#include "message/plan/plan.h"
#include "message/plan/write_plan.h"

namespace bough::message {
namespace {

// Collects for each part the originals that it came from.
class OriginalsOfParts {
 public:
  explicit OriginalsOfParts(const History& history) : namedIn_(history.originals.size(), 0) {}

  void add(const OutMessage& out, Request::Part& part) {
    ++parts_;
    part.verbatim = out.verbatim;
    if (out.verbatim) name(out.original, part);
    for (const OutBlock& block : out.outBlocks) {
      if (block.original >= 0) name(block.original, part);
    }
  }

 private:
  void name(std::int32_t original, Request::Part& part) {
    std::size_t& last = namedIn_[static_cast<std::size_t>(original)];
    if (last != parts_) part.originals.push_back(original);
    last = parts_;
  }

  std::vector<std::size_t> namedIn_;  // By original: the last part that names it, counted from 1.
  std::size_t parts_ = 0;
};

}  // namespace

Request writeRequest(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter) {
  const Plan plan = makePlan(history, target, options, reporter, PlanMode::Request);
  Request request;
  Records records;
  request.tools = writeTools(target, history, records, reporter);
  PlanWriter writer(history, target, records, Hashing::No);
  if (plan.hasSystem) writer.system(plan, request.system);
  request.messages = "[";
  const std::vector<WrittenMessage> written = writer.messages(plan, request.messages);
  request.messages += ']';
  OriginalsOfParts originals(history);
  for (std::size_t i = 0; i < written.size(); ++i) {
    Request::Part& part = request.parts.emplace_back();
    part.begin = written[i].begin;
    part.end = written[i].end;
    originals.add(plan.messages[i], part);
  }
  return request;
}

}  // namespace bough::message
