// The append as a single statement, for engines without PL/pgSQL: `append=statement` in the URL. It takes the
// parameters of the function `append` (schema_functions.h) and returns the same answer. No row means that the session
// does not exist.
//
// The statement locks the session's row and reads its current version, but it sees entries as they were when the
// statement began. An entry that another client stored while this statement waited for the lock is therefore missing in
// `d`. Storing it again violates the unique key, and the caller then checks in detail.
#pragma once

#include <string_view>

namespace bough::postgres {

inline constexpr std::string_view kAppendSql = R"sql(
WITH RECURSIVE s AS MATERIALIZED (
  SELECT * FROM @.sessions WHERE session_id = $1::text AND trash_id IS NULL FOR NO KEY UPDATE),
b AS MATERIALIZED (
  SELECT x.*, ($8::bigint[])[7 * x.n - 6] AS place, ($8::bigint[])[7 * x.n - 5] AS root, ($8::bigint[])[7 * x.n - 4] AS steps,
      ($8::bigint[])[7 * x.n - 3] AS segment, ($8::bigint[])[7 * x.n - 2] AS joins, ($8::bigint[])[7 * x.n - 1] AS kind,
      ($8::bigint[])[7 * x.n]::integer AS made
    FROM unnest($6::text[], $7::text[], $9::text[], $10::text[], $11::text[], $12::bytea[]) WITH ORDINALITY
      AS x(id, parent, type, target, attachment, body, n)),
w AS MATERIALIZED (
  SELECT x.id, ($14::bigint[])[3 * x.n - 2] AS kinds, ($14::bigint[])[3 * x.n - 1] AS seq, ($14::bigint[])[3 * x.n] AS depth
    FROM unnest($13::text[]) WITH ORDINALITY AS x(id, n)),
up AS (
  SELECT 0 AS level, p.session_id, p.life, p.origin_session
    FROM s JOIN @.sessions p ON p.session_id = s.origin_session AND p.trash_id IS NULL WHERE $5::bigint <> 1
  UNION ALL
  SELECT up.level + 1, p.session_id, p.life, p.origin_session
    FROM up JOIN @.sessions p ON p.session_id = up.origin_session AND p.trash_id IS NULL WHERE up.level < 10000),
d AS MATERIALIZED (
  SELECT count(e.entry_id) AS found,
         count(e.entry_id) FILTER (WHERE (b.place = -3 OR e.parent_id IS NOT DISTINCT FROM b.parent)
           AND (e.body = b.body
                OR (b.made > 0 AND substring(e.body, 1, b.made) = substring(b.body, 1, b.made)
                    AND substring(e.body, b.made + 25) = substring(b.body, b.made + 25)))) AS same
    FROM s CROSS JOIN b JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life AND e.entry_id = b.id
    WHERE $5::bigint <> 1),
v AS MATERIALIZED (
  SELECT CASE
      WHEN $5::bigint = 1 THEN 0
      WHEN s.format <> $2::bigint THEN 4
      WHEN d.found = cardinality($6::text[]) THEN CASE WHEN d.same = d.found THEN 1 ELSE 4 END
      WHEN d.found > 0 THEN 4
      WHEN EXISTS (SELECT 1 FROM up JOIN @.entries e ON e.session_id = up.session_id AND e.life = up.life
                     AND e.entry_id = ANY ($6::text[])) THEN 4
      WHEN EXISTS (SELECT 1 FROM w WHERE w.id <> s.head_id AND NOT EXISTS (SELECT 1 FROM @.entries e
                     WHERE e.session_id = s.session_id AND e.life = s.life AND e.entry_id = w.id
                       AND (w.kinds >> e.kind) & 1 = 1)) THEN 4
      WHEN s.head_seq = -2 AND s.head_id !~ '^[A-Za-z0-9._:-]{1,128}$' THEN 4
      WHEN $4::bigint < s.fence THEN 5
      WHEN $3::text <> s.tail_id THEN 2
      ELSE 0 END AS status FROM s CROSS JOIN d),
known AS MATERIALIZED (
  SELECT w.id, coalesce(e.seq, -2) AS seq, coalesce(e.segment, 0) AS segment, coalesce(e.depth, w.depth) AS depth
    FROM s CROSS JOIN w
    LEFT JOIN @.entries e ON e.session_id = s.session_id AND e.life = s.life AND e.entry_id = w.id
    WHERE e.seq IS NOT NULL OR w.seq = -2),
added AS (
  INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, type, target_id,
                         attachment, body)
  SELECT s.session_id, s.life, s.entry_count + b.n - 1,
         CASE WHEN b.place >= 0 THEN s.entry_count + b.place WHEN b.place = -1 THEN -1
              WHEN b.place = -3 OR b.parent = s.head_id THEN s.head_seq
              ELSE coalesce((SELECT k.seq FROM known k WHERE k.id = b.parent LIMIT 1), -2) END,
         CASE WHEN s.head_fresh AND (b.joins = 1 OR (b.joins = 2 AND ($7::text[])[b.segment + 1] = s.head_id))
              THEN s.head_segment ELSE s.entry_count + b.segment END,
         CASE WHEN b.root = -3 OR ($7::text[])[b.root + 1] = s.head_id THEN s.head_depth WHEN b.root = -1 THEN 0
              ELSE coalesce((SELECT k.depth FROM known k WHERE k.id = ($7::text[])[b.root + 1] LIMIT 1), 0) END + b.steps,
         b.kind, b.id, CASE WHEN b.place = -3 THEN nullif(s.head_id, '') ELSE b.parent END, b.type, b.target,
         b.attachment, b.body
    FROM s JOIN v ON v.status = 0 CROSS JOIN b
  RETURNING entry_id, seq, segment, depth),
h AS (
  SELECT CASE WHEN $15::bigint >= 0 THEN a.entry_id WHEN $15 = -1 THEN '' WHEN $15 = -2 THEN $16::text
              ELSE s.head_id END AS id,
         CASE WHEN $15 >= 0 THEN a.seq WHEN $15 = -1 THEN -1 WHEN $15 = -2 AND $16 <> s.head_id
              THEN coalesce(k.seq, -2) ELSE s.head_seq END AS seq,
         CASE WHEN $15 >= 0 THEN a.segment WHEN $15 = -1 THEN 0 WHEN $15 = -2 AND $16 <> s.head_id
              THEN coalesce(k.segment, 0) ELSE s.head_segment END AS segment,
         CASE WHEN $15 >= 0 THEN a.depth WHEN $15 = -1 THEN 0 WHEN $15 = -2 AND $16 <> s.head_id
              THEN coalesce(k.depth, 0) ELSE s.head_depth END AS depth,
         CASE WHEN $15 >= 0 THEN $17::boolean WHEN $15 = -1 OR ($15 = -2 AND $16 <> s.head_id) THEN false
              ELSE s.head_fresh END AS fresh
    FROM s LEFT JOIN added a ON a.seq = s.entry_count + $15
    LEFT JOIN (SELECT DISTINCT ON (id) * FROM known) k ON $15 = -2 AND k.id = $16),
moved AS (
  UPDATE @.sessions x SET entry_count = s.entry_count + cardinality($6::text[]), bytes = s.bytes + $18::bigint,
      tail_id = ($6::text[])[cardinality($6::text[])], head_id = h.id, head_seq = h.seq, head_segment = h.segment,
      head_depth = h.depth, head_fresh = h.fresh, version = s.version + 1, changed_at = now(), cataloged = false
    FROM s JOIN v ON v.status = 0 CROSS JOIN h WHERE x.session_id = s.session_id AND x.life = s.life),
freed AS (
  UPDATE @.attachments SET held_until = NULL FROM v
    WHERE v.status = 0 AND sha256 = ANY ($11::text[]) AND held_until IS NOT NULL)
SELECT concat_ws(' ', v.status, s.fence, s.tail_id) FROM s CROSS JOIN v)sql";

}  // namespace bough::postgres
