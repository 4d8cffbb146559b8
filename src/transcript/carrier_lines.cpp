#include "transcript/carrier_lines.h"

#include <string_view>

#include "transcript/model/clean_line.h"
#include "transcript/model/origin.h"

namespace bough::transcript {

CarrierLines::CarrierLines(const EntryList& entries, const Agent& agent) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries.kind(i) != EntryKind::SessionInfo) continue;
    const auto origin = originOf(*entries.at(i));
    if (!origin || !origin->carries || !isSameFormat(agent, origin->agent)) continue;
    if (places.empty()) {
      for (std::size_t k = 0; k < entries.size(); ++k) places.emplace(entries.id(k), k);
    }
    Line& line = lines_[i];
    for (std::size_t k = 0; k < origin->carries->ids.size(); ++k) {
      const auto found = places.find(origin->carries->ids[k]);
      const bool isHere =
          found != places.end() && canBeCarried(entries.kind(found->second), entries.isRedacted(found->second));
      line.isWhole = line.isWhole && isHere;
      if (found == places.end()) continue;
      carrierOf_.emplace(found->second, i);
      if (k == origin->carries->own) line.ownPlace = found->second;
      if (!isHere) continue;
      if (k == origin->carries->own) line.own = line.places.size();
      line.places.push_back(found->second);
    }
  }
}

const CarrierLines::Line* CarrierLines::find(std::size_t place) const {
  const auto found = lines_.find(place);
  return found == lines_.end() ? nullptr : &found->second;
}

std::size_t CarrierLines::carrierOf(std::size_t place) const {
  const auto found = carrierOf_.find(place);
  return found == carrierOf_.end() ? EntryTree::kNone : found->second;
}

}  // namespace bough::transcript
