// The settings of a request that other providers also have: how long an answer may be, how random, when it stops, which
// tools it may use, how much the model thinks, and which form the answer has.
//
// A setting is a value at a path of a request ("generationConfig.topP"). A setting without a clear equivalent stays
// with its provider, is reported, and comes back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/model/report.h"
#include "message/request/request_frame.h"

namespace bough::message {

/// Reads the settings of one request that somebody set there, and remembers which of them were translated. Unchanged
/// settings that a conversion wrote are not read: an older request has the original values.
class SettingsSource {
 public:
  SettingsSource(std::string request, Dialect dialect, const std::vector<Setting>& written = {});

  [[nodiscard]] Dialect dialect() const { return dialect_; }
  [[nodiscard]] std::string_view request() const { return request_; }
  /// Returns the raw value at a path, also under the alternative name that the dialect accepts; empty when there is
  /// none.
  [[nodiscard]] std::string_view at(std::string_view path) const;
  /// Returns the text of a string at a path; empty when there is none.
  [[nodiscard]] std::string textAt(std::string_view path) const;
  void markUsed(std::string_view path) { used_.emplace_back(path); }
  /// Notes that a part of a used setting has no equivalent in the target.
  void markPartlyUsed(std::string_view path) { partlyUsed_.emplace_back(path); }
  /// Notes that the newest models of the target refuse the setting.
  void markRefused(std::string_view path) { refused_.emplace_back(path); }
  [[nodiscard]] bool isRefused(const std::string& path) const;
  /// Returns the units that a conversion wrote and somebody removed since.
  [[nodiscard]] const std::vector<std::string>& removedUnits() const { return removed_; }
  /// Returns the paths that were not used or only in part; none of them is inside another one.
  [[nodiscard]] std::vector<std::string> unused() const;

 private:
  std::string request_;
  Dialect dialect_;
  std::vector<std::string> used_;
  std::vector<std::string> partlyUsed_;
  std::vector<std::string> refused_;
  std::vector<std::string> unchanged_;  // Paths that nobody changed.
  std::vector<std::string> removed_;
};

/// Translates which tools a model may or must use (apart from their definitions). In settings_choices.cpp, like the
/// form of an answer.
void translateToolChoice(SettingsSource& from, Dialect target, History& history, std::vector<Setting>& out);
void translateFormat(SettingsSource& from, Dialect target, std::vector<Setting>& out);

/// Adds the document's settings, translated for the target, to a frame that the target never had before. Reports
/// the others.
void addSettings(History& history, Dialect from, bool hasTools, RequestFrame& requestFrame, Reporter& reporter);

/// For a target that already has a frame: values that were changed in the document since then replace those in
/// `text`. Settings that were added or removed are reported.
void updateSettings(History& history, Dialect from, bool hasTools, const RequestFrame& requestFrame, FilledText& text,
                    Reporter& reporter);

}  // namespace bough::message
