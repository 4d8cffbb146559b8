// How most batches are appended: each entry continues from the one before it, the first continues from the session's
// head, and the ids were generated for the call. One statement updates the session's row, provided that the row meets
// the conditions, and inserts the entries relative to the old values of the row. Since RETURNING only gives the new
// values of a row, the old ones are kept in was_head_id and was_head_seq.
//
// If the row does not meet the conditions, nothing is changed, and the function append_chain (schema_functions.h)
// decides within the same statement: it locks the row and checks everything. Its answer is that of `append`.
//
// A fact of an entry is its kind, plus 64 times one more than the position of a generated timestamp in its body (0:
// none).
#pragma once

#include "store/postgres/schema/database.h"

namespace bough::postgres {

// $1 session, $2 format, $3 expected tail, $4 turn, $5 id, $6 fact, $7 body
inline constexpr Statement kChainOfOne{"chain_of_one", R"sql(
WITH moved AS (
  UPDATE @.sessions s SET entry_count = s.entry_count + 1, bytes = s.bytes + octet_length($7), tail_id = $5, head_id = $5,
      was_head_id = s.head_id, was_head_seq = s.head_seq, head_seq = s.entry_count,
      head_segment = CASE WHEN s.head_fresh THEN s.head_segment ELSE s.entry_count END, head_depth = s.head_depth + 1,
      head_fresh = true, version = s.version + 1, changed_at = now(), cataloged = false
    WHERE s.session_id = $1 AND s.trash_id IS NULL AND s.format = $2 AND s.head_seq <> -2
      AND ($3::text IS NULL OR s.tail_id = $3) AND ($4::bigint IS NULL OR $4 >= s.fence)
    RETURNING s.life, s.head_seq, s.was_head_id, s.was_head_seq, s.head_segment, s.head_depth),
added AS (
  INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, body)
    SELECT $1, m.life, m.head_seq, m.was_head_seq, m.head_segment, m.head_depth, $6 % 64, $5, nullif(m.was_head_id, ''), $7
      FROM moved m)
SELECT CASE WHEN EXISTS (SELECT 1 FROM moved) THEN '0'
            ELSE @.append_chain($1, $2, $3, $4, ARRAY[$5], ARRAY[$6], ARRAY[$7]) END)sql"};

// The same for several entries. $5 ids, $6 facts, $7 bodies, $8 the bodies' size, $9 the last id
inline constexpr Statement kChain{"chain", R"sql(
WITH moved AS (
  UPDATE @.sessions s SET entry_count = s.entry_count + cardinality($5), bytes = s.bytes + $8, tail_id = $9, head_id = $9,
      was_head_id = s.head_id, was_head_seq = s.head_seq, head_seq = s.entry_count + cardinality($5) - 1,
      head_segment = CASE WHEN s.head_fresh THEN s.head_segment ELSE s.entry_count END,
      head_depth = s.head_depth + cardinality($5), head_fresh = true, version = s.version + 1, changed_at = now(),
      cataloged = false
    WHERE s.session_id = $1 AND s.trash_id IS NULL AND s.format = $2 AND s.head_seq <> -2
      AND ($3::text IS NULL OR s.tail_id = $3) AND ($4::bigint IS NULL OR $4 >= s.fence)
    RETURNING s.life, s.entry_count - cardinality($5) AS first, s.was_head_id, s.was_head_seq, s.head_segment,
      s.head_depth - cardinality($5) AS depth),
added AS (
  INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, body)
    SELECT $1, m.life, m.first + b.n - 1, CASE WHEN b.n = 1 THEN m.was_head_seq ELSE m.first + b.n - 2 END,
        m.head_segment, m.depth + b.n, b.fact % 64, b.id, coalesce(b.parent, nullif(m.was_head_id, '')), b.body
      FROM moved m CROSS JOIN unnest($5, array_prepend(NULL::text, $5), $6, $7) WITH ORDINALITY
        AS b(id, parent, fact, body, n)
      WHERE b.id IS NOT NULL)
SELECT CASE WHEN EXISTS (SELECT 1 FROM moved) THEN '0' ELSE @.append_chain($1, $2, $3, $4, $5, $6, $7) END)sql"};

// One entry for each of several sessions. The sessions are all different and sorted by their bytes: rows are then
// locked in the order of the index, so that two groups never wait for each other, and width_bucket finds a session's
// place in few steps. $1 sessions, $2 format, $3 expected tails, $4 turns (the greatest number for none), $5 ids, $6
// facts, $7 bodies. The answers are in the order of the sessions.
inline constexpr Statement kChainOfEach{"chain_of_each", R"sql(
WITH moved AS (
  UPDATE @.sessions s SET entry_count = s.entry_count + 1,
      bytes = s.bytes + octet_length($7[width_bucket(s.session_id, $1)]),
      tail_id = $5[width_bucket(s.session_id, $1)], head_id = $5[width_bucket(s.session_id, $1)],
      was_head_id = s.head_id, was_head_seq = s.head_seq, head_seq = s.entry_count,
      head_segment = CASE WHEN s.head_fresh THEN s.head_segment ELSE s.entry_count END, head_depth = s.head_depth + 1,
      head_fresh = true, version = s.version + 1, changed_at = now(), cataloged = false
    WHERE s.session_id = ANY ($1) AND s.trash_id IS NULL AND s.format = $2 AND s.head_seq <> -2
      AND coalesce(s.tail_id = $3[width_bucket(s.session_id, $1)], true)
      AND $4[width_bucket(s.session_id, $1)] >= s.fence
    RETURNING width_bucket(s.session_id, $1) AS n, s.session_id, s.life, s.tail_id, s.head_seq, s.was_head_id,
      s.was_head_seq, s.head_segment, s.head_depth),
added AS (
  INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, body)
    SELECT m.session_id, m.life, m.head_seq, m.was_head_seq, m.head_segment, m.head_depth, $6[m.n] % 64, m.tail_id,
        nullif(m.was_head_id, ''), $7[m.n] FROM moved m)
SELECT CASE WHEN m.n IS NOT NULL THEN '0'
            ELSE @.append_chain(x.session, $2, $3[x.n], $4[x.n], ARRAY[$5[x.n]], ARRAY[$6[x.n]], ARRAY[$7[x.n]]) END
  FROM unnest($1) WITH ORDINALITY AS x(session, n) LEFT JOIN moved m ON m.n = x.n ORDER BY x.n)sql"};

}  // namespace bough::postgres
