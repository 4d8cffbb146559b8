// Chooses among the titles that the entries of a session offer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "bough/catalog.h"
#include "catalog/database/entry_facts.h"

namespace bough::catalog {

/// Returns the title that an entry sets, cut to the length of a row; empty when the entry removes the title,
/// std::nullopt when it does not mention a title.
std::optional<std::string> titleIn(const Entry& info);
/// Returns TitleSource::Given or Generated.
TitleSource titleSourceOf(const Entry& info);
/// Returns the title made from a user message.
std::string titleFrom(const EntryFacts& message);

/// Must be given all entries of a session, in order.
class TitleChoice {
 public:
  /// `redacted` says that the content of the entry is ignored.
  void add(const Entry& entry, bool redacted);

  [[nodiscard]] TitleSource source() const;
  [[nodiscard]] const std::string& title() const { return titles_[static_cast<std::size_t>(source())].text; }
  /// Returns the entry that gave the title.
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
  std::uint64_t firstMs_ = 0;    // the time of the message that gives the title
  std::uint64_t latestMs_ = 0;
};

}  // namespace bough::catalog
