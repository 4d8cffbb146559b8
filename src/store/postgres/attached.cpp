#include "store/postgres/attached.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/sha256.h"
#include "base/try.h"
#include "store/rules/attachment_reference.h"

namespace bough::postgres {
namespace {

constexpr Statement kAttached{"load_attached", R"sql(
SELECT a.sha256, a.bytes, CASE WHEN a.part = 0 THEN
    (SELECT sum(octet_length(p.bytes)) FROM @.attachments p WHERE p.sha256 = a.sha256) END
  FROM @.attachments a WHERE a.sha256 = ANY ($1) ORDER BY a.sha256, a.part)sql"};

}  // namespace

Error Attached::errorFor(const std::string& sha256) const {
  if (!damaged.contains(sha256)) {
    return fail(ErrorCode::NotFound, fmt::format("attachment {} is missing", sha256)).error();
  }
  return fail(ErrorCode::Damaged, fmt::format("attachment {} is not what its name says", sha256),
              "restore it from a copy, or hide the entry with `bough redact` to continue without it")
      .error();
}

Result<Attached> readAttached(Database& database, const std::vector<std::string>& sha256s) {
  Attached attached;
  const RowSink sink{.restart = [&] { attached = {}; },
                     .take =
                         [&](const Rows& rows) {
                           for (int row = 0; row < rows.size(); ++row) {
                             std::string& bytes = attached.bytes[rows.string(row, 0)];
                             const auto all = static_cast<std::uint64_t>(rows.number(row, 2));
                             bytes.reserve(std::min(all, kMaxAttachmentBytes));
                             bytes += rows.text(row, 1);
                           }
                         }};
  Call call = database.call(kAttached, Parameters().texts(sha256s));
  call.sink = &sink;
  BOUGH_TRY(database.pool.run(std::move(call)));
  for (const auto& [sha256, bytes] : attached.bytes) {
    if (Sha256::of(bytes) != sha256) attached.damaged.insert(sha256);
  }
  for (const std::string& sha256 : attached.damaged) attached.bytes.erase(sha256);
  return attached;
}

}  // namespace bough::postgres
