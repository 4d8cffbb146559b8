// Estimates what the next turn of a session will cost: how much the model has to read again, and whether the provider
// still has it in a cache.
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
  std::string model{};              ///< The model of the last answer, or one chosen since; without its provider.
  std::uint64_t ageMs = 0;          ///< The time since the last answer.
  bool warm = false;                ///< Whether the provider's cache probably still holds the context.
  std::optional<double> coldUsd{};  ///< The cost of reading the context; std::nullopt when the price is unknown.
  std::optional<double> warmUsd{};
};

/// Returns std::nullopt when no model has answered on this branch, or when its usage is unknown. `promptChanges` says
/// whether the next turn's system prompt differs from the last one; it is called only when nothing else invalidates the
/// cache.
std::optional<NextTurn> nextTurnOf(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   const PriceTable& prices, std::uint64_t nowMs,
                                   const std::function<bool()>& promptChanges);
/// The same for a turn in the folder of the last one; its AGENTS.md and the user's own may have changed.
std::optional<NextTurn> nextTurnOf(SessionStore& store, const std::string& sessionId, const std::string& headId,
                                   const PriceTable& prices, std::uint64_t nowMs);

/// Returns a line such as "12.3k tokens of context; the cache is likely warm (2m): about $0.02, cold $0.18".
std::string nextTurnText(const NextTurn& next);
/// Returns "$0.02 warm" or "$0.18 cold"; "-" when the price is unknown.
std::string nextTurnPrice(const NextTurn& next, bool warm);

/// Formats 12345 as "12.3k".
std::string thousands(std::uint64_t count);

}  // namespace bough::cli
