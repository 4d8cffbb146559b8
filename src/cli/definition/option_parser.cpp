#include "cli/definition/option_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/text/text.h"
#include "cli/definition/help.h"

namespace bough::cli {
namespace {

std::string inQuotes(std::string_view value) {
  constexpr std::size_t kShown = 40;
  return fmt::format("\"{}\"", text::excerpt(value, kShown));
}

// A variable that is not set leaves an empty argument: a mistake of the caller, not a wish for the default.
std::string refuseEmpty(const std::string& value) {
  return value.empty() ? "the value is empty; give a value or leave the option out" : "";
}

std::string checkNumber(const std::string& value, const Option& option) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = problem == std::errc() && end == value.data() + value.size() && !value.empty();
  if (whole && number >= option.least && number <= option.most) return "";
  return fmt::format("{} is not a whole number from {} to {}", inQuotes(value), option.least, option.most);
}

std::string checkChoice(const std::string& value, const std::vector<std::string>& choices) {
  if (std::ranges::find(choices, value) != choices.end()) return "";
  const std::string meant = nearest(value, choices);
  return fmt::format("{} is not one of {}{}", inQuotes(value), fmt::join(choices, ", "),
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

// The parser begins most of its messages with the option's name and a colon.
std::string nameIn(std::string_view message) {
  return std::string(message.substr(0, std::min(message.find(':'), message.find(' '))));
}

}  // namespace

void addOption(CLI::App& app, const Option& option) {
  CLI::Option* added = nullptr;
  if (auto* const* flag = std::get_if<bool*>(&option.target)) {
    added = app.add_flag(option.name, **flag, option.help);
  } else if (auto* const* text = std::get_if<std::string*>(&option.target)) {
    added = app.add_option(option.name, **text, option.help);
    if (option.alone.empty()) {
      added->check(refuseEmpty, "not empty");
    } else {
      added->expected(0, 1);
    }
  } else if (auto* const* number = std::get_if<std::uint64_t*>(&option.target)) {
    added = app.add_option(option.name, **number, option.help)
                ->check([option](const std::string& value) { return checkNumber(value, option); }, "number");
  } else {
    added = app.add_option(option.name, *std::get<std::vector<std::string>*>(option.target), option.help);
  }
  added->required(option.required);
  if (option.choices.empty()) return;
  added->check([choices = option.choices](const std::string& value) { return checkChoice(value, choices); }, "choice");
}

void setAlone(const CLI::App& app, const Option& option) {
  if (option.alone.empty() || app.count(option.name) == 0) return;
  std::string& value = *std::get<std::string*>(option.target);
  if (value.empty()) value = option.alone;
}

std::string describe(const CLI::ParseError& error) {
  const std::string message = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::size_t colon = message.find(": ");
    return fmt::format("unexpected argument {}",
                       text::excerpt(message.substr(colon == std::string::npos ? 0 : colon + 2), 100));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return fmt::format("{} needs {} value", nameIn(message),
                       message.find("at most") != std::string::npos ? "exactly one" : "a");
  }
  return text::excerpt(message, 400);
}

}  // namespace bough::cli
