// Which of the titles that a session's entries give counts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "bough/catalog.h"
#include "catalog/database/entry_facts.h"

namespace bough::catalog {

/// Empty when the entry takes the title away; none when it does not speak of it. Cut to what a row holds.
std::optional<std::string> titleIn(const Entry& info);
/// TitleSource::Given or Generated.
TitleSource titleSourceOf(const Entry& info);
/// What a user message makes for a title.
std::string titleFrom(const EntryFacts& message);

/// Looks at all entries of a session, in order.
class TitleChoice {
 public:
  /// `redacted`: what it says does not count.
  void take(const Entry& entry, bool redacted);

  [[nodiscard]] TitleSource source() const;
  [[nodiscard]] const std::string& title() const { return titles_[static_cast<std::size_t>(source())].text; }
  /// Where it is from.
  [[nodiscard]] const std::string& entryId() const { return titles_[static_cast<std::size_t>(source())].entryId; }

 private:
  struct Title {
    std::string text;
    std::string entryId;
  };
  void put(TitleSource source, std::string text, const std::string& entryId) {
    titles_[static_cast<std::size_t>(source)] = {.text = std::move(text), .entryId = entryId};
  }

  std::array<Title, 4> titles_;  // by source
  std::uint64_t firstMs_ = 0;    // when the message was said that makes a title
  std::uint64_t latestMs_ = 0;
};

}  // namespace bough::catalog
