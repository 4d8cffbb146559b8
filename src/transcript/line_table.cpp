#include "transcript/line_table.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/json/json_scan.h"
#include "transcript/model/clean_line.h"
#include "transcript/model/ids.h"
#include "transcript/model/origin.h"

namespace bough::transcript {
namespace {

// Numbers agents from 1 on. Anyone may have written the names, so there may be very many.
using AgentNumbers = std::unordered_map<std::string, std::uint32_t>;

std::uint32_t numberOf(const std::string& agent, AgentNumbers& numbers) {
  return numbers.try_emplace(agent, static_cast<std::uint32_t>(numbers.size() + 1)).first->second;
}

}  // namespace

LineTable::LineTable(const EntryList& entries, const Agent& agent) : lines_(entries.size()) {
  AgentNumbers numbers;
  bool hasId = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto origin = originOf(*entries.at(i));
    Line& line = lines_[i];
    line.isPart = entries.isMessage(i) && origin && !origin->hasLine && origin->sizeBytes == 0;
    if (!origin) continue;
    line.offset = origin->offset;
    line.sizeBytes = origin->sizeBytes;
    line.isOfTargetAgent = origin->agent == agent.name;
    line.isSameFormat = isSameFormat(agent, origin->agent);
    line.isTorn = origin->torn;
    if (line.isSameFormat && entries.isInConversation(i)) {
      hasId = hasId || isForeignId(entries.id(i));
      canBranch_ = hasId;
    }
    line.agent = numberOf(origin->agent, numbers);
  }
}

std::optional<std::uint64_t> LineTable::firstGap() const {
  std::vector<const Line*> lines;
  for (const Line& line : lines_) {
    if (line.isSameFormat && line.sizeBytes > 0 && !line.isTorn) lines.push_back(&line);
  }
  std::ranges::sort(lines, {}, &Line::offset);
  if (!lines.empty() && lines.front()->offset > 0) return 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> gap;
  for (const Line* line : lines) {
    if (line->offset < end) return std::nullopt;
    if (!gap && line->offset > end) gap = end;
    end = line->offset + line->sizeBytes;
  }
  return gap;
}

bool LineTable::hasHeader(const EntryList& entries, const Agent& agent) const {
  if (agent.isHeader == nullptr) return true;
  for (std::size_t place = 0; place < lines_.size(); ++place) {
    if (!lines_[place].isSameFormat || lines_[place].sizeBytes == 0 || entries.isInConversation(place)) continue;
    const auto line = lineOf(*entries.at(place));
    if (line && json::check(*line) && agent.isHeader(*line)) return true;
  }
  return false;
}

std::vector<bool> LineTable::copyableFromParts(std::vector<bool> own, const EntryList& entries,
                                               std::uint64_t gap) const {
  for (std::size_t place = 0; place < lines_.size(); ++place) {
    if (!own[place] || lines_[place].agent == 0) continue;
    const bool isMoved =
        lines_[place].offset >= gap && entries.isInConversation(place) && !isForeignId(entries.id(place));
    const std::string line = lines_[place].sizeBytes > 0 ? lineOf(*entries.at(place)).value_or("") : std::string();
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    const bool isPiece = first != std::string::npos && (line[first] == ',' || line[first] == '[');
    own[place] = !isMoved && !isPiece;
  }
  return wholeRecords(own);
}

std::vector<std::size_t> LineTable::inFileOrder(std::vector<std::size_t> places) const {
  std::vector<const Line*> lines;
  for (const std::size_t place : places) {
    if (lines_[place].sizeBytes > 0) lines.push_back(&lines_[place]);
  }
  std::ranges::sort(lines, {}, &Line::offset);
  std::uint64_t end = 0;
  for (const Line* line : lines) {
    if (line->offset != end) return places;
    end += line->sizeBytes;
  }
  std::ranges::stable_sort(places, {}, [&](std::size_t place) { return lines_[place].offset; });
  return places;
}

std::vector<bool> LineTable::wholeRecords(const std::vector<bool>& own) const {
  std::vector<bool> whole(lines_.size());
  for (std::size_t begin = 0; begin < lines_.size();) {
    const Line& first = lines_[begin];
    // A part without the entry that keeps the line: that entry was erased.
    bool areOwn = own[begin] && !first.isPart;
    std::size_t end = begin + 1;
    for (; first.agent != 0 && end < lines_.size(); ++end) {
      const Line& next = lines_[end];
      if (next.agent != first.agent || next.sizeBytes > 0 || next.offset != first.offset) break;
      areOwn = own[end] && areOwn;
    }
    for (; begin < end; ++begin) whole[begin] = areOwn;
  }
  return whole;
}

}  // namespace bough::transcript
