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
  /// Adds to what the report says already.
  explicit Reporter(CompatibilityReport& report) : report_(report) {
    for (std::size_t i = 0; i < report.lossyFields.size(); ++i) fields_.emplace(report.lossyFields[i], i);
  }

  /// The target does not hold `field`. `visible`: the model would have seen it.
  void lossy(Change change, const Original& original, const Block* block, std::string_view field,
             std::string_view reason, bool visible = false);
  /// Something else worth saying.
  void note(Change change, const Original& original, const Block* block, std::string_view field,
            std::string_view reason);
  void note(Change change, std::string path, std::string_view field, std::string_view reason,
            std::string_view entryId = {});
  /// A tool whose name the target does not take. The reason says both names.
  void renamedTool(const Original& original, const Block* block, std::string_view field, std::string_view name,
                   std::string_view there);
  void invalid(const Original& original, const Block* block, std::string_view reason);
  /// An entry that a damaged line hides. Returns what the warning says.
  std::string unreadable(const Entry& entry);
  /// The first entry of a branch whose beginning is lost. Returns what the warning says.
  std::string beginsTooLate(const Entry& entry);
  void warn(std::string text) {
    if (report_.warnings.size() < CompatibilityReport::kMaxFindings) report_.warnings.push_back(std::move(text));
  }
  /// Whether one more signed block is still listed.
  [[nodiscard]] bool listsSignatures() const { return report_.signatures.size() < CompatibilityReport::kMaxFindings; }

  CompatibilityReport& report() { return report_; }
  std::string pathOf(const Original& original, const Block* block) { return paths_.of(original, block); }

  /// For each entry, the fields of its message that the target does not hold, once each; never cut short.
  [[nodiscard]] const std::map<std::string, std::vector<std::string>, std::less<>>& fieldsByEntry() const {
    return byEntry_;
  }

 private:
  std::string damaged(const Entry& entry, const std::string& text);
  bool isFirstLoss(const Original& original);

  CompatibilityReport& report_;
  BlockPaths paths_;
  // Looked up once a finding, so without making a string for it.
  struct FieldHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view field) const { return std::hash<std::string_view>{}(field); }
  };

  std::unordered_map<std::string, std::size_t, FieldHash, std::equal_to<>> fields_;
  std::set<std::string, std::less<>> lossyEntries_;  // the messages that were counted
  std::set<std::pair<Dialect, std::int64_t>> lossyPlaces_;
  std::set<const Original*> lossyOriginals_;
  std::map<std::string, std::vector<std::string>, std::less<>> byEntry_;
  std::set<std::pair<const std::vector<std::string>*, std::size_t>> named_;  // the fields in it, by number
};

}  // namespace bough::message
