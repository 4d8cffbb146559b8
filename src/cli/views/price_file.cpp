#include "cli/views/price_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace bough::cli {

Option pricesOption(std::string& path) {
  return {.name = "--prices",
          .help = "Prices to use instead of $BOUGH_PRICES or the built-in table",
          .target = &path,
          .value = "FILE"};
}

Result<PriceTable> readPrices(const std::string& path) {
  const char* named = std::getenv("BOUGH_PRICES");
  const std::string chosen = !path.empty() ? path : named == nullptr ? "" : named;
  if (chosen.empty()) return PriceTable::builtIn();
  std::ifstream file(chosen, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::NotFound, fmt::format("cannot read the price file {}", chosen),
                path.empty() ? "BOUGH_PRICES names it: correct or unset that variable" : "check the path");
  }
  std::string text;
  text.resize((std::size_t{1} << 20) + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof())
    return fail(ErrorCode::Io, fmt::format("{} cannot be read: {}", chosen, std::strerror(errno)), "name a file");
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto table = PriceTable::parse(text);
  if (!table) table.error().message = fmt::format("{}: {}", chosen, table.error().message);
  return table;
}

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string formatCost(double usd, bool known) {
  return fmt::format("${:.2f}{}", usd, known ? "" : "+");
}

}  // namespace bough::cli
