#include "message/request/request.h"

#include <algorithm>

#include "message/dialect/tools.h"
#include "message/plan/plan.h"
#include "message/plan/write_plan.h"

namespace bough::message {
namespace {

void addOriginals(const OutMessage& out, Request::Part& part) {
  part.verbatim = out.verbatim;
  if (out.verbatim) part.originals.push_back(out.original);
  for (const OutBlock& block : out.outBlocks) {
    if (block.original >= 0 && std::ranges::find(part.originals, block.original) == part.originals.end()) {
      part.originals.push_back(block.original);
    }
  }
}

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
  for (std::size_t i = 0; i < written.size(); ++i) {
    Request::Part& part = request.parts.emplace_back();
    part.begin = written[i].begin;
    part.end = written[i].end;
    addOriginals(plan.messages[i], part);
  }
  return request;
}

}  // namespace bough::message
