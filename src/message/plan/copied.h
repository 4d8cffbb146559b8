// Which originals of the target's own dialect go into its document as they are.
#pragma once

#include <unordered_set>
#include <vector>

#include "message/model/history.h"
#include "message/plan/pairing.h"

namespace bough::message {

/// Not those of other dialects, those of which only a part is left, and those whose results must be written again: a
/// call must be followed by its results, under its id. And not those that are in `rewritten`, by number.
class CopiedOriginals {
 public:
  CopiedOriginals() = default;  ///< None.
  CopiedOriginals(const History& history, const Pairing& pairing, Dialect target,
                  const std::unordered_set<std::int32_t>& rewritten);

  [[nodiscard]] bool contains(std::int32_t index) const {
    return !copied_.empty() && copied_[static_cast<std::size_t>(index)];
  }

  /// Whether messages that are copied and messages that are not follow each other, or copied ones in another order.
  [[nodiscard]] bool mixed() const;

  /// Whether messages follow each other as they did in their own document, from this one up to `next` and the results
  /// there; to the end when `next` is null.
  [[nodiscard]] bool undisturbed(std::int32_t from, const Original* next) const;

 private:
  void countBreaks();
  void uncopyFunctionCalls(const Pairing& pairing);

  const std::vector<Original>* originals_ = nullptr;
  std::vector<bool> copied_;
  std::vector<std::size_t> breaks_;        // Up to each: messages that do not follow the one before them as they did.
  std::vector<std::size_t> afterResults_;  // Of each: itself, or the first one after it that holds more than results.
};

/// Fits the ids of calls that are written again: one whose result is copied has the id of the result, and a call of
/// another dialect has another id than those that have theirs from the target.
void fitCalls(const History& history, const CopiedOriginals& copied, Dialect target, Pairing& pairing);

}  // namespace bough::message
