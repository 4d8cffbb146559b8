// Decides which originals of the target's own dialect are copied unchanged into its document.
#pragma once

#include <unordered_set>
#include <vector>

#include "message/model/history.h"
#include "message/plan/pairing.h"

namespace bough::message {

/// An original is not copied when it is in another dialect, when only a part of it is left, when its results must be
/// written again (a call must be followed by its results, with its id), or when its number is in `rewritten`.
class CopiedOriginals {
 public:
  CopiedOriginals() = default;  ///< Copies nothing.
  CopiedOriginals(const History& history, const Pairing& pairing, Dialect target,
                  const std::unordered_set<std::int32_t>& rewritten);

  [[nodiscard]] bool contains(std::int32_t index) const {
    return !copied_.empty() && copied_[static_cast<std::size_t>(index)];
  }

  /// Returns whether copied messages are next to messages that are not copied, or copied messages come in another
  /// order.
  [[nodiscard]] bool isMixed() const;

  /// Returns whether messages follow each other as in their own document, from this one up to `next` and the results
  /// there; up to the end when `next` is null.
  [[nodiscard]] bool areInOriginalOrder(std::int32_t from, const Original* next) const;

 private:
  void countBreaks();
  void uncopyFunctionCalls(const Pairing& pairing);

  const std::vector<Original>* originals_ = nullptr;
  std::vector<bool> copied_;
  // By original: number of messages so far that do not follow the same message as before.
  std::vector<std::size_t> breaks_;
  // By original: itself, or the first one after it that holds more than results.
  std::vector<std::size_t> afterResults_;
};

/// Adjusts the ids of calls that are written again: a call whose result is copied gets the id of the result, and a call
/// of another dialect gets an id that no call of the target's dialect has.
void adjustCallIds(const History& history, const CopiedOriginals& copied, Dialect target, Pairing& pairing);

}  // namespace bough::message
