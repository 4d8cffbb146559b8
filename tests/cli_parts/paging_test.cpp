// Lists that are read page by page while sessions are removed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bough/catalog.h"
#include "bough/storage_backend.h"
#include "bough/store.h"
#include "cli/commands/sessions/search_view.h"

namespace bough::cli {
namespace {

// Answers lists like a database. After each answer, another process removes the first two of its sessions.
class ShrinkingStore final : public StorageBackend, public CatalogSource {
 public:
  explicit ShrinkingStore(std::size_t count) {
    for (std::size_t i = count; i > 0; --i) {
      rows_.push_back({.sessionId = "s" + std::to_string(i), .title = "Herons", .activeMs = i});
    }
  }

  [[nodiscard]] std::set<std::string> left() const {
    std::set<std::string> ids;
    for (const SessionSummary& row : rows_) ids.insert(row.sessionId);
    return ids;
  }

  [[nodiscard]] Result<std::vector<SessionSummary>> list(const ListOptions& options) override {
    std::vector<SessionSummary> page;
    std::size_t skip = options.skip;
    for (const SessionSummary& row : rows_) {
      if (options.after && row.activeMs >= options.after->activeMs) continue;
      if (skip > 0 ? skip-- > 0 : page.size() == options.limit) continue;
      page.push_back(row);
    }
    rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, rows_.size())));
    return page;
  }

  [[nodiscard]] std::string describe() const override { return "shrinking:"; }
  [[nodiscard]] const EntrySerializer& serializer() const override { return jsonEntrySerializer(); }
  [[nodiscard]] Result<void> probe() override { return {}; }
  [[nodiscard]] Result<std::vector<std::string>> listSessions() override { return unanswered(); }
  [[nodiscard]] Result<void> create(const SessionCreation&) override { return unanswered(); }
  [[nodiscard]] Result<std::shared_ptr<StoredSession>> open(const std::string&) override { return unanswered(); }
  [[nodiscard]] Result<std::vector<std::string>> forksOf(const std::string&) override { return unanswered(); }
  [[nodiscard]] Result<void> remove(const Removal&) override { return unanswered(); }
  [[nodiscard]] CatalogSource* catalog() override { return this; }
  [[nodiscard]] Result<std::uint64_t> count(const SessionFilter&) override { return unanswered(); }
  [[nodiscard]] Result<SessionSummary> session(const std::string&) override { return unanswered(); }
  [[nodiscard]] Result<std::optional<std::string>> currentSession(std::string_view, std::string_view) override {
    return unanswered();
  }
  [[nodiscard]] Result<NameMatch> findByName(std::string_view, std::size_t) override { return unanswered(); }
  [[nodiscard]] Result<std::vector<SearchHit>> search(const SearchWords&, const SearchOptions&) override {
    return unanswered();
  }
  [[nodiscard]] Result<std::vector<UsageSum>> usage(const UsageOptions&) override { return unanswered(); }
  [[nodiscard]] Result<std::vector<ExpiredSession>> expired(std::uint64_t, std::optional<std::uint64_t>) override {
    return unanswered();
  }

 private:
  static std::unexpected<Error> unanswered() { return fail(ErrorCode::Unsupported, "not answered here"); }

  std::vector<SessionSummary> rows_;
};

TEST(Paging, NoTitleIsMissedWhileSessionsAreRemoved) {
  const auto backend = std::make_shared<ShrinkingStore>(2500);
  const auto store = SessionStore::open({.backend = backend});
  ASSERT_TRUE(store);
  const auto catalog = Catalog::open(**store);
  ASSERT_TRUE(catalog);
  const auto hits = searchTitles(**catalog, "herons", {}, 10'000);
  ASSERT_TRUE(hits) << hits.error().message;
  std::set<std::string> missed = backend->left();
  for (const SearchHit& hit : *hits) missed.erase(hit.sessionId);
  EXPECT_EQ(missed, std::set<std::string>());
}

}  // namespace
}  // namespace bough::cli
