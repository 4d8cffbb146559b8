// Reading a long branch part by part walks the branch once, not once per part.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "store/sharing/sharing_session.h"
#include "support/entries.h"

namespace bough {
namespace {

Error notHere() {
  return fail(ErrorCode::Unsupported, "not in this test").error();
}

// A session of entries e0, e1, … each the child of the previous one. Counts how often its branch is walked.
class ChainSession final : public SharingSession {
 public:
  ChainSession(SharingSessions& sessions, std::size_t size) : SharingSession(sessions, "s"), size_(size) {}

  Result<SessionState> state() override { return SessionState{.sessionId = "s", .entryCount = size_}; }
  Result<Entry> header() override { return at(0); }
  Result<AppendResult> append(AppendRequest&) override { return std::unexpected(notHere()); }
  Result<void> exportLines(const std::function<bool(std::string_view)>&) override { return {}; }
  Result<std::unique_ptr<ChangeWatcher>> watch() override { return std::unexpected(notHere()); }
  Result<std::uint64_t> generation() override { return generation_; }
  Result<std::optional<ForkOrigin>> origin() override { return std::nullopt; }
  Result<std::optional<std::uint64_t>> ownSequenceOf(std::string_view entryId) override {
    for (std::uint64_t i = 0; i < size_; ++i) {
      if (entryId == at(i).id) return i;
    }
    return std::nullopt;
  }
  Result<std::vector<std::uint64_t>> ownSelect(const Selection&) override { return std::unexpected(notHere()); }
  Result<std::vector<std::uint64_t>> ownControls(std::span<const EntryKind>) override {
    return std::vector<std::uint64_t>();
  }
  Result<SessionOutline> ownOutline() override { return std::unexpected(notHere()); }
  Result<std::vector<std::string>> ownIds(std::string_view, std::size_t) override { return std::vector<std::string>(); }
  Result<BranchPart> ownBranch(std::uint64_t leaf, std::size_t limit) override {
    ++walks;
    const auto count = std::min<std::size_t>(leaf + 1, limit);
    BranchPart part{.sequences = std::vector<std::uint64_t>(count), .continuesAt = {}};
    std::iota(part.sequences.begin(), part.sequences.end(), leaf + 1 - count);
    return part;
  }
  Result<std::vector<Entry>> ownRead(std::span<const std::uint64_t> sequences) override {
    std::vector<Entry> entries;
    for (const std::uint64_t sequence : sequences) entries.push_back(at(sequence));
    return entries;
  }

  // Simulates a rewrite of the log.
  void change() { ++generation_; }
  int walks = 0;

 private:
  [[nodiscard]] static Entry at(std::uint64_t sequence) {
    Entry entry = message("x", "e" + std::to_string(sequence));
    if (sequence == 0) entry.type = entry_type::kSessionHeader;
    return entry;
  }
  const std::size_t size_;
  std::uint64_t generation_ = 1;
};

class OneSession final : public SharingSessions {
 public:
  explicit OneSession(std::size_t size) : session_(std::make_shared<ChainSession>(*this, size)) {}
  Result<std::shared_ptr<SharingSession>> session(const std::string&) override { return session_; }
  Result<std::string> attachment(const std::string&) override { return std::unexpected(notHere()); }
  bool has(const std::string&) override { return true; }
  [[nodiscard]] ChainSession& chain() const { return *session_; }
  [[nodiscard]] const std::shared_ptr<ChainSession>& owner() const { return session_; }

 private:
  std::shared_ptr<ChainSession> session_;
};

std::vector<Entry> part(ChainSession& session, std::uint64_t from, const std::string& leaf = "e99") {
  return must(session.load({.options = {.fromSequence = from, .limit = 10, .branch = leaf}})).entries;
}

TEST(BranchInParts, IsWalkedOnceForAllOfThem) {
  OneSession store(100);
  std::size_t read = 0;
  for (auto entries = part(store.chain(), 0); !entries.empty(); entries = part(store.chain(), read)) {
    EXPECT_EQ(entries.front().id, "e" + std::to_string(read + 1));
    read += entries.size();
  }
  EXPECT_EQ(read, 99U);
  EXPECT_LE(store.chain().walks, 2);  // one more walk after the end, where nothing is cached
}

TEST(BranchInParts, IsWalkedAgainAfterARewriteAndForAnotherLeaf) {
  OneSession store(100);
  part(store.chain(), 0);
  part(store.chain(), 10);
  EXPECT_EQ(store.chain().walks, 1);
  store.chain().change();
  part(store.chain(), 20);
  EXPECT_EQ(store.chain().walks, 2);
  EXPECT_EQ(part(store.chain(), 20, "e50").size(), 10U);
  EXPECT_EQ(store.chain().walks, 3);
}

// The cached walk must not keep the session alive.
TEST(BranchInParts, ASessionThatWasReadInPartEndsWithItsOwner) {
  std::weak_ptr<ChainSession> session;
  {
    OneSession store(100);
    part(store.chain(), 0);
    session = store.owner();
  }
  EXPECT_TRUE(session.expired());
}

}  // namespace
}  // namespace bough
