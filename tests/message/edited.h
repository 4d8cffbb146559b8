// Edits of converted documents, and the result of the way back.
#pragma once

#include <bough/convert.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/rule_checker.h"

namespace bough::test {

/// Converts, replaces a text, and converts back. The result obeys the API's rules, except those whose id begins with
/// `broken`, which the author's document already violates.
inline Conversion edited(const std::string& document, Dialect from, Dialect to, std::string_view old,
                         std::string_view now, std::string_view broken = "none") {
  const auto there = convertHistory(document, from, to);
  std::string changed = there->document;
  const std::size_t at = changed.find(old);
  EXPECT_NE(at, std::string::npos) << old << " in " << changed;
  if (at != std::string::npos) changed.replace(at, old.size(), now);
  auto back = convertHistory(changed, to, from, {}, &there->wayBack);
  EXPECT_TRUE(back);
  for (const std::string& rule : brokenRules(from, back->document)) {
    if (!rule.starts_with(broken)) ADD_FAILURE() << rule << back->document;
  }
  return std::move(*back);
}

}  // namespace bough::test
