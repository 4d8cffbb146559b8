// Collects what a conversion does to a history, message by message.
#pragma once

#include <bough/convert.h>
#include <bough/entry.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "message/model/block_paths.h"
#include "message/model/history.h"

namespace bough::message {

class Reporter {
 public:
  /// Adds to the existing content of the report.
  explicit Reporter(CompatibilityReport& report) : report_(report) {
    for (std::size_t i = 0; i < report.lossyFields.size(); ++i) fields_.emplace(report.lossyFields[i], i);
  }

  /// Reports that the target does not hold `field`. `visible`: the model would have seen it.
  void lossy(Change change, const Original& original, const Block* block, std::string_view field,
             std::string_view reason, bool visible = false);
  /// Reports anything else worth mentioning.
  void note(Change change, const Original& original, const Block* block, std::string_view field,
            std::string_view reason);
  void note(Change change, std::string path, std::string_view field, std::string_view reason,
            std::string_view entryId = {});
  /// Reports a tool whose name the target does not accept. The reason contains both names.
  void renamedTool(const Original& original, const Block* block, std::string_view field, std::string_view name,
                   std::string_view there);
  void invalid(const Original& original, const Block* block, std::string_view reason);
  /// Reports an entry that is hidden by a damaged line. Returns the text of the warning.
  std::string unreadable(const Entry& entry);
  /// Reports the first entry of a branch whose beginning is lost. Returns the text of the warning.
  std::string beginsTooLate(const Entry& entry);
  void warn(std::string text) {
    if (report_.warnings.size() < CompatibilityReport::kMaxFindings) report_.warnings.push_back(std::move(text));
  }
  /// Returns whether the list of signed blocks has room for one more.
  [[nodiscard]] bool hasRoomForSignature() const {
    return report_.signatures.size() < CompatibilityReport::kMaxFindings;
  }

  CompatibilityReport& report() { return report_; }
  std::string pathOf(const Original& original, const Block* block) { return paths_.of(original, block); }

  /// Returns for each entry the fields of its message that the target does not hold, each once. The list is never
  /// truncated.
  [[nodiscard]] const std::map<std::string, std::vector<std::string>, std::less<>>& fieldsByEntry() const {
    return byEntry_;
  }

 private:
  std::string damaged(const Entry& entry, const std::string& text);
  bool isFirstLoss(const Original& original);

  CompatibilityReport& report_;
  BlockPaths paths_;
  // Allows lookup by string_view, so that no string is made for each finding.
  struct FieldHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view field) const { return std::hash<std::string_view>{}(field); }
  };

  std::unordered_map<std::string, std::size_t, FieldHash, std::equal_to<>> fields_;
  std::set<std::string, std::less<>> lossyEntries_;  // messages that were already counted
  std::set<std::pair<Dialect, std::int64_t>> lossyPlaces_;
  std::set<const Original*> lossyOriginals_;
  std::map<std::string, std::vector<std::string>, std::less<>> byEntry_;
  // fields that were already added to a list of byEntry_, by number
  std::set<std::pair<const std::vector<std::string>*, std::size_t>> named_;
};

}  // namespace bough::message
