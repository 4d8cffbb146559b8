// Attachments in PostgreSQL: parts of a few megabytes, by digest. A new attachment is held for some time, so that it is
// not removed as unused before the entry that names it is appended. The append ends the hold.

#include <fmt/format.h>

#include <algorithm>

#include "base/try.h"
#include "store/postgres/attached.h"
#include "store/postgres/postgres_backend.h"
#include "store/rules/attachment_reference.h"

namespace bough::postgres {
namespace {

constexpr std::size_t kPartBytes = std::size_t{4} << 20;
constexpr std::size_t kPartsAtOnce = 4;  // in one exchange

constexpr Statement kPut{"attachment_put", R"sql(
INSERT INTO @.attachments (sha256, part, bytes, held_until) VALUES ($1, $2, $3, now() + interval '10 minutes')
  ON CONFLICT (sha256, part) DO UPDATE SET held_until = excluded.held_until)sql"};
constexpr Statement kRelease{"attachment_release",
                             "UPDATE @.attachments SET held_until = NULL WHERE sha256 = ANY ($1)"};
// An entry names an attachment when its body contains the digits anywhere.
constexpr Statement kUnused{"attachment_unused", R"sql(
SELECT DISTINCT a.sha256 FROM @.attachments a
  WHERE a.sha256 NOT IN (
    SELECT m[1] FROM @.entries e, regexp_matches(convert_from(e.body, 'LATIN1'), '(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])', 'g') AS m)
  ORDER BY a.sha256)sql"};
constexpr Statement kRemove{"attachment_remove", R"sql(
DELETE FROM @.attachments a WHERE a.sha256 = ANY ($1)
  AND NOT EXISTS (SELECT 1 FROM @.attachments h WHERE h.sha256 = a.sha256 AND h.held_until > now())
  AND a.sha256 NOT IN (
    SELECT m[1] FROM @.entries e, regexp_matches(convert_from(e.body, 'LATIN1'), '(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])', 'g') AS m)
  RETURNING a.sha256)sql"};

}  // namespace

// put() holds an attachment in the database. When the last Holder of this process is destroyed, the attachments that no
// append has named are released.
class PostgresAttachments::Holder final : public Hold {
 public:
  explicit Holder(PostgresAttachments& attachments) : attachments_(attachments) {
    const std::lock_guard lock(attachments_.database_.held.mutex);
    ++attachments_.database_.held.holders;
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() override {
    std::vector<std::string> left;
    {
      HeldAttachments& held = attachments_.database_.held;
      const std::lock_guard lock(held.mutex);
      if (--held.holders > 0) return;
      left.assign(held.sha256s.begin(), held.sha256s.end());
      held.sha256s.clear();
    }
    if (left.empty()) return;
    Parameters parameters;
    parameters.texts(left);
    // If this fails, the hold ends when its time is over.
    (void)attachments_.database_.run(kRelease, std::move(parameters));
  }

 private:
  PostgresAttachments& attachments_;
};

Result<std::unique_ptr<Hold>> PostgresAttachments::hold() {
  return std::make_unique<Holder>(*this);
}

// A large attachment takes several exchanges, so that the memory and the time of one exchange do not depend on its
// size. No entry names the parts that an interrupted put leaves: the next put completes them, or a sweep removes them.
Result<void> PostgresAttachments::put(const std::string& sha256, std::string_view bytes) {
  BOUGH_TRY(checkAttachmentSize(bytes));
  std::size_t part = 0;
  do {
    std::vector<Call> calls;
    for (; calls.empty() || (calls.size() < kPartsAtOnce && part * kPartBytes < bytes.size()); ++part) {
      Parameters parameters;
      parameters.text(sha256).number(bigint(part)).bytes(bytes.substr(part * kPartBytes, kPartBytes));
      calls.push_back(database_.call(kPut, std::move(parameters)));
    }
    BOUGH_TRY(database_.pool.run(calls));
  } while (part * kPartBytes < bytes.size());
  const std::lock_guard lock(database_.held.mutex);
  if (database_.held.holders > 0) database_.held.sha256s.insert(sha256);
  return {};
}

Result<std::string> PostgresAttachments::get(const std::string& sha256) {
  BOUGH_TRY(Attached attached, readAttached(database_, {sha256}));
  const auto found = attached.bytes.find(sha256);
  if (found == attached.bytes.end()) return std::unexpected(attached.errorFor(sha256));
  return std::move(found->second);
}

Result<std::vector<std::string>> PostgresAttachments::unused() {
  BOUGH_TRY(const Rows rows, database_.run(kUnused, {}));
  std::vector<std::string> found;
  for (int row = 0; row < rows.size(); ++row) found.push_back(rows.string(row, 0));
  return found;
}

Result<std::size_t> PostgresAttachments::removeUnused(const std::vector<std::string>& sha256s) {
  Parameters parameters;
  parameters.texts(sha256s);
  BOUGH_TRY(const Rows rows, database_.run(kRemove, std::move(parameters)));
  std::vector<std::string> removed;
  for (int row = 0; row < rows.size(); ++row) removed.push_back(rows.string(row, 0));
  std::ranges::sort(removed);
  return static_cast<std::size_t>(std::ranges::unique(removed).begin() - removed.begin());
}

}  // namespace bough::postgres
