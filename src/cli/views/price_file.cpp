#include "cli/views/price_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/named_file.h"
#include "base/try.h"
#include "base/user_folders.h"
#include "cli/definition/settings.h"
#include "cli/terminal/output.h"

namespace bough::cli {

Option pricesOption(std::string& path) {
  return {.name = "--prices",
          .help = "Prices to use instead of $BOUGH_PRICES or the built-in table",
          .target = &path,
          .value = "FILE"};
}

namespace {

// Returns the built-in table, changed by the prices of single models in the settings.
Result<PriceTable> pricesOfSettings() {
  BOUGH_TRY(const Settings settings, readSettings());
  if (settings.prices.empty()) return PriceTable::builtIn();
  BOUGH_TRY(const PriceTable own, PriceTable::parse(settings.prices));
  std::string lines = settings.prices;
  for (const ModelPrice& each : PriceTable::builtIn().prices()) {
    if (std::ranges::find(own.prices(), each.model, &ModelPrice::model) != own.prices().end()) continue;
    lines += fmt::format("{} {} {} {} {}\n", each.model, each.input, each.output, each.cacheRead, each.cacheWrite);
  }
  return PriceTable::parse(lines);
}

}  // namespace

Result<PriceTable> readPrices(const std::string& path) {
  const std::string chosen = !path.empty() ? path : environmentVariable("BOUGH_PRICES");
  if (chosen.empty()) return pricesOfSettings();
  auto text = readNamedFile(chosen, std::uint64_t{1} << 20);
  if (!text) {
    text.error().message = fmt::format("no prices: {}", text.error().message);
    text.error().hint =
        path.empty() ? "BOUGH_PRICES names it: correct or unset that variable" : "name a file of prices";
    return std::unexpected(std::move(text.error()));
  }
  if (isBlank(*text)) printMessage(fmt::format("note: {} is empty, so no price is known", chosen));
  auto table = PriceTable::parse(*text);
  if (!table) table.error().message = fmt::format("{}: {}", chosen, table.error().message);
  return table;
}

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string formatCost(double usd, bool known) {
  // Summing the same amounts in another order changes the last digits; the noise keeps half a cent from rounding either
  // way.
  constexpr double kNoise = 1e-9;
  if (usd > 0 && usd + kNoise < 0.005) return fmt::format("<$0.01{}", known ? "" : "+");
  return fmt::format("${:.2f}{}", usd + kNoise, known ? "" : "+");
}

}  // namespace bough::cli
