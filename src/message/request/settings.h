// The settings of a request that another provider has as well: how long an answer may be, how random, when it stops,
// which tools it may use, how much is thought, which form it has.
//
// A setting is a value at a path of a request ("generationConfig.topP"). What has no clear equivalent stays with its
// provider, is named in the report, and comes back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/model/report.h"
#include "message/request/request_text.h"

namespace bough::message {

/// Reads the settings of one request that somebody set there, and remembers which of them found a place elsewhere. What
/// a conversion wrote, and nobody changed, is not read: an older request says it better.
class SettingsSource {
 public:
  SettingsSource(std::string request, Dialect dialect, const std::vector<Setting>& written = {});

  [[nodiscard]] Dialect dialect() const { return dialect_; }
  [[nodiscard]] std::string_view request() const { return request_; }
  /// The raw value at a path, also under the other name that the dialect accepts; empty when there is none.
  [[nodiscard]] std::string_view at(std::string_view path) const;
  /// The text of a string at a path; empty when there is none.
  [[nodiscard]] std::string textAt(std::string_view path) const;
  void use(std::string_view path) { used_.emplace_back(path); }
  /// A part of a setting that was used has no place there.
  void leave(std::string_view path) { left_.emplace_back(path); }
  /// The newest models of the target refuse it.
  void refuse(std::string_view path) { refused_.emplace_back(path); }
  [[nodiscard]] bool isRefused(const std::string& path) const;
  /// What a conversion wrote and somebody took away since.
  [[nodiscard]] const std::vector<std::string>& removedUnits() const { return removed_; }
  /// The paths that were not used or were left, none below another one.
  [[nodiscard]] std::vector<std::string> unused() const;

 private:
  std::string request_;
  Dialect dialect_;
  std::vector<std::string> used_;
  std::vector<std::string> left_;
  std::vector<std::string> refused_;
  std::vector<std::string> hidden_;  // Paths that nobody changed.
  std::vector<std::string> removed_;
};

/// What the target is told about its tools, apart from their definitions: which of them a model may or must use.
/// In settings_choices.cpp, as is the form of an answer.
void translateToolChoice(SettingsSource& from, Dialect target, History& history, std::vector<Setting>& out);
void translateFormat(SettingsSource& from, Dialect target, std::vector<Setting>& out);

/// Puts what the document's settings are in the target into a request text that the target never had before; reports
/// the rest.
void addSettings(History& history, Dialect from, bool hasTools, RequestText& requestText, Reporter& reporter);

/// Of a target that has a text of its own from earlier: values that were changed in the document since take their place
/// in it. What was added or taken away is reported.
void updateSettings(History& history, Dialect from, bool hasTools, const RequestText& requestText, FilledText& text,
                    Reporter& reporter);

}  // namespace bough::message
