// What the next turn of a session will cost: how much the model has to read again, and whether its provider still has
// it in a cache.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bough/catalog.h"
#include "bough/store.h"

namespace bough::cli {

struct NextTurn {
  std::uint64_t contextTokens = 0;
  std::string model{};              ///< That gave the last answer or was chosen since, without its provider.
  std::uint64_t ageMs = 0;          ///< Since the last answer.
  bool warm = false;                ///< The provider's cache likely still holds the context.
  std::optional<double> coldUsd{};  ///< For reading the context; none when the price is unknown.
  std::optional<double> warmUsd{};
};

/// None when no model has answered on this branch, or what it used is not known. `promptChanges` says whether the next
/// turn has another system prompt than the last one; it is asked only when nothing else ends the cache.
std::optional<NextTurn> nextTurnOf(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   const PriceTable& prices, std::uint64_t nowMs,
                                   const std::function<bool()>& promptChanges);
/// The same for a turn in the folder of the last one: its AGENTS.md and the user's own may have changed.
std::optional<NextTurn> nextTurnOf(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   const PriceTable& prices, std::uint64_t nowMs);

/// "12.3k tokens of context; the cache is likely warm (2m): about $0.02, cold $0.18".
std::string nextTurnText(const NextTurn& next);
/// "$0.02 warm", "$0.18 cold"; "-" when the price is unknown.
std::string nextTurnPrice(const NextTurn& next, bool warm);

/// 12345 as "12.3k".
std::string thousands(std::uint64_t count);

}  // namespace bough::cli
