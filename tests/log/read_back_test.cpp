// Reading entries that a scan found in an open log, in files that other tools have changed.

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "log/session_log.h"
#include "support/sim_environment.h"

namespace bough {
namespace {

std::string body(const std::string& id, const std::string& last = R"("payload":{})") {
  return R"({"id":")" + id + R"(","parentId":null,"type":"custom","timestamp":"2026-11-14T23:47:00.862Z",)" + last +
         "}";
}

std::string sealed(const std::vector<std::string>& ids) {
  std::string out;
  SealDigits last;
  for (const std::string& id : ids) last = appendSealedLine(out, body(id), last, 1, 1);
  return out;
}

// Returns all entries of a log with these bytes, as lines.
std::vector<std::string> linesOf(const std::string& bytes) {
  SimFileSystem files;
  files.put("/store/sessions/s.jsonl", bytes);
  SimEnvironment world(files);
  std::shared_ptr<Directory> root = files.openRoot("/store", false).value();
  auto log = SessionLog::open({.sessions = root->openDirectory("sessions", false).value(), .archive = nullptr}, "s",
                              jsonEntrySerializer(), world.environment(), {});
  if (!log) return {log.error().message};
  std::vector<Sequence> sequences((*log)->state().value().entryCount);
  std::iota(sequences.begin(), sequences.end(), Sequence{0});
  auto lines = (*log)->read(sequences);
  return lines ? *lines : std::vector<std::string>{lines.error().message};
}

std::string withCrlf(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.insert(at, "\r");
  return text;
}

TEST(ReadBack, SealedLinesWithCrlfAreRead) {
  const auto lines = linesOf(withCrlf(sealed({"a", "b", "c"})));
  ASSERT_EQ(lines.size(), 3U) << lines[0];
  EXPECT_TRUE(lines[2].starts_with(R"({"id":"c")") && lines[2].ends_with("\"}"));
}

TEST(ReadBack, SealedLinesBehindAByteOrderMarkAreRead) {
  const auto lines = linesOf("\xEF\xBB\xBF" + sealed({"a", "b"}));
  ASSERT_EQ(lines.size(), 2U) << lines[0];
  EXPECT_TRUE(lines[0].starts_with("{"));
}

TEST(ReadBack, ASealedLineBehindAnUnsealedOneIsRead) {
  // The unsealed line ends in eight characters and a quote, like a seal.
  std::string bytes;
  SealDigits last = appendSealedLine(bytes, body("a"), std::nullopt, 1, 1);
  bytes += body("b", R"("payload":{},"note":"deadbeef")") + "\n";
  appendSealedLine(bytes, body("c"), last, 1, 1);
  const auto lines = linesOf(bytes);
  EXPECT_EQ(lines.size(), 3U) << lines[0];
}

TEST(ReadBack, AnIdWithEscapesIsFoundAgain) {
  const std::string line = R"({"id":"\u0061b","type":"custom","timestamp":1})";
  EXPECT_EQ(linesOf(line + "\n" + body("c") + "\n" + body("ab") + "\n").size(), 2U);  // the last line is a duplicate
}

}  // namespace
}  // namespace bough
