// What sessions used: tokens, and what they cost by a table of prices.
#pragma once

#include <bough/error.h>
#include <bough/message.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bough {

/// Dollars for a million tokens.
struct ModelPrice {
  std::string model;  ///< The model's name, or its beginning when it ends in `*`.
  double input = 0;
  double output = 0;
  double cacheRead = 0;
  double cacheWrite = 0;
};

/// Prices of models, the most exact name first. Reasoning is part of the output.
class PriceTable {
 public:
  /// The table that comes with bough.
  static const PriceTable& builtIn();
  /// Reads a table: lines of `model input output cacheRead cacheWrite` in dollars for a million tokens, `#` begins a
  /// comment. InvalidArgument names the line that is wrong.
  static Result<PriceTable> parse(std::string_view text);

  /// The price of the longest name that matches; none when none does.
  [[nodiscard]] const ModelPrice* find(std::string_view model) const;
  /// None when the table does not know the model and anything was used.
  [[nodiscard]] std::optional<double> cost(std::string_view model, const Usage& usage) const;
  [[nodiscard]] const std::vector<ModelPrice>& prices() const { return prices_; }

 private:
  std::vector<ModelPrice> prices_;
};

/// What one session used of one model.
struct ModelUsage {
  std::string model;  ///< Empty when no message said which.
  std::uint64_t messages = 0;
  Usage tokens;
  std::optional<double> costUsd;  ///< None when the price is unknown.
};

enum class UsageBy : std::uint8_t { Day, Week, Month, Session, Key, Model, Branch };

struct UsageOptions {
  UsageBy by = UsageBy::Day;
  std::optional<std::uint64_t> sinceMs;
  std::optional<std::uint64_t> untilMs;
  std::string session;  ///< Only this one. Branches need one.
  std::string agent;
  std::string cwd;  ///< As SessionFilter::cwd.
  std::string key;  ///< As SessionFilter::key.
  std::string model;
  bool localTime = false;              ///< Days of the machine's time zone instead of UTC.
  const PriceTable* prices = nullptr;  ///< The built-in table when null.
};

struct UsageRow {
  std::string
      name;  ///< "2026-11-14", "2026-W46", "2026-11", a session, a key, a model, the id of a branch's last entry.
  std::string title;                ///< Of the session, by session.
  std::vector<std::string> models;  ///< Sorted.
  std::uint64_t messages = 0;
  Usage tokens;
  double costUsd = 0;
  bool costKnown = true;  ///< False when the price of a model is unknown: its part is missing in costUsd.
};

struct UsageReport {
  std::vector<UsageRow> rows;  ///< By time: ascending. Else the costliest first.
  UsageRow total;
  std::vector<std::string> unknownModels;  ///< Without a price.
};

}  // namespace bough
