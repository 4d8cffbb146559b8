// The functions in the database. They are replaced whenever the schema is created or upgraded.
#pragma once

#include <array>
#include <string_view>

namespace bough::postgres {

// batch_plan.h explains the parameters. p_numbers contains seven numbers per entry: place, root, steps, segment, joins,
// kind, and the position of a generated timestamp. p_mode: 0 everything is checked; 1 the caller has checked and holds
// the row's lock; 2 the ids were generated for this call, so only an attempt of this call whose answer was lost can
// have stored them: the unique key then refuses the batch.
//
// The answer is a text, `STATUS FENCE TAIL` or only the status. The status: 0 stored, 1 the whole batch was already
// stored, 2 the tail is not the expected one, 3 there is no such session, 4 the caller has to check in detail (the
// batch may be refused), 5 a later turn than p_fence has begun (NULL: no turn). Duplicates are looked for while the
// session's row is locked: the lock is written to the server's log, so this answer also waits for the synchronous
// standby.
//
// Most batches are chains: each entry continues from the one before it, and the first from the session's head
// (p_chain). They take a shorter way: one statement updates the session's row if the row meets the conditions, and the
// entries are inserted relative to the old values of the row (was_head_id, was_head_seq). Otherwise nothing is changed,
// and the longer way decides.
inline constexpr std::array<std::string_view, 3> kAppendFunctions{
    R"sql(
CREATE OR REPLACE FUNCTION @.append(
  p_session text, p_format bigint, p_expected text, p_fence bigint, p_mode bigint, p_ids text[], p_parents text[],
  p_numbers bigint[], p_types text[], p_targets text[], p_attachments text[], p_bodies bytea[], p_needs text[],
  p_need_numbers bigint[], p_head_place bigint, p_head text, p_head_fresh boolean, p_bytes bigint, p_chain boolean)
RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  s @.sessions%ROWTYPE;
  n integer := cardinality(p_ids);
  h integer := 7 * p_head_place;
  found_count integer := 0;
  need_count integer := 0;
  h_id text; h_seq integer; h_segment integer; h_depth integer; h_fresh boolean;
BEGIN
  IF p_chain AND p_mode = 0 THEN
    SELECT 1 INTO found_count FROM @.entries e WHERE e.session_id = p_session AND e.entry_id = ANY (p_ids) LIMIT 1;
  END IF;
  IF p_chain AND coalesce(found_count, 0) = 0 THEN
    UPDATE @.sessions x SET entry_count = x.entry_count + n, bytes = x.bytes + p_bytes, tail_id = p_ids[n],
        head_id = p_ids[n], was_head_id = x.head_id, was_head_seq = x.head_seq, head_seq = x.entry_count + n - 1,
        head_segment = CASE WHEN x.head_fresh AND p_numbers[5] = 1 THEN x.head_segment ELSE x.entry_count END,
        head_depth = CASE WHEN p_numbers[2] = -1 THEN 0 ELSE x.head_depth END + n, head_fresh = true,
        version = x.version + 1, changed_at = now(), cataloged = false
      WHERE x.session_id = p_session AND x.trash_id IS NULL AND x.format = p_format AND x.head_seq <> -2
        AND (p_expected IS NULL OR x.tail_id = p_expected) AND (p_fence IS NULL OR p_fence >= x.fence)
        AND (p_mode = 2 OR x.origin_session IS NULL)
      RETURNING x.life, x.entry_count - n, x.was_head_id, x.was_head_seq, x.head_segment, x.head_depth - n
      INTO s.life, s.entry_count, s.head_id, s.head_seq, s.head_segment, s.head_depth;
    IF FOUND THEN
      INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, body)
      SELECT p_session, s.life, s.entry_count + b.n - 1,
             CASE WHEN b.n > 1 THEN s.entry_count + b.n - 2 WHEN p_numbers[1] = -3 THEN s.head_seq ELSE -1 END,
             s.head_segment, s.head_depth + b.n, p_numbers[7 * b.n - 1], b.id,
             CASE WHEN b.n > 1 THEN b.parent WHEN p_numbers[1] = -3 THEN nullif(s.head_id, '') END, b.body
        FROM unnest(p_ids, p_parents, p_bodies) WITH ORDINALITY AS b(id, parent, body, n);
      RETURN '0';
    END IF;
  END IF;
  found_count := 0;
  SELECT * INTO s FROM @.sessions x WHERE x.session_id = p_session AND x.trash_id IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN '3';
  END IF;
  IF p_mode <> 1 THEN
    IF s.format <> p_format THEN
      RETURN '4';
    END IF;
    -- Before a batch is refused it is looked for in any case: a lost attempt of this call may have stored it.
    IF p_mode = 0 OR p_expected <> s.tail_id OR p_fence < s.fence THEN
      SELECT count(*) INTO found_count FROM unnest(p_ids) AS b(id) CROSS JOIN LATERAL (
        SELECT 1 FROM @.entries e WHERE e.session_id = p_session AND e.life = s.life AND e.entry_id = b.id LIMIT 1) found;
    END IF;
    IF found_count = n THEN
      SELECT count(*) INTO found_count
        FROM unnest(p_ids, p_parents, p_bodies) WITH ORDINALITY AS b(id, parent, body, n)
        CROSS JOIN LATERAL (SELECT p_numbers[7 * b.n - 6] AS place, p_numbers[7 * b.n]::integer AS made) m
        CROSS JOIN LATERAL (SELECT x.body, x.parent_id FROM @.entries x WHERE x.session_id = p_session
          AND x.life = s.life AND x.entry_id = b.id LIMIT 1) e
        WHERE (m.place = -3 OR e.parent_id IS NOT DISTINCT FROM b.parent)
          AND (e.body = b.body
               OR (m.made > 0 AND substring(e.body, 1, m.made) = substring(b.body, 1, m.made)
                   AND substring(e.body, m.made + 25) = substring(b.body, m.made + 25)));
      RETURN CASE WHEN found_count = n THEN '1' ELSE '4' END;
    END IF;
    IF p_mode = 0 AND found_count = 0 AND s.origin_session IS NOT NULL THEN
      SELECT count(*) INTO found_count FROM @.lineage(s.origin_session) c CROSS JOIN unnest(p_ids) AS b(id)
        CROSS JOIN LATERAL (SELECT 1 FROM @.entries e WHERE e.session_id = c.session_id AND e.life = c.life
          AND e.entry_id = b.id LIMIT 1) found;
    END IF;
    IF found_count = 0 AND p_needs IS NOT NULL THEN
      SELECT count(*) INTO need_count FROM unnest(p_needs) WITH ORDINALITY AS w(id, n)
        WHERE w.id <> s.head_id AND NOT EXISTS (SELECT 1 FROM @.entries e WHERE e.session_id = p_session AND e.life = s.life
                            AND e.entry_id = w.id AND (p_need_numbers[3 * w.n - 2] >> e.kind) & 1 = 1);
    END IF;
    IF found_count > 0 OR need_count > 0 OR (s.head_seq = -2 AND s.head_id !~ '^[A-Za-z0-9._:-]{1,128}$') THEN
      RETURN '4';
    END IF;
    IF p_fence < s.fence THEN
      RETURN concat_ws(' ', 5, s.fence, s.tail_id);
    END IF;
    IF p_expected IS NOT NULL AND p_expected <> s.tail_id THEN
      RETURN concat_ws(' ', 2, s.fence, s.tail_id);
    END IF;
  END IF;
  IF p_needs IS NULL AND p_types IS NULL AND p_targets IS NULL AND p_attachments IS NULL AND p_head_place >= 0 THEN
    INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, body)
    SELECT p_session, s.life, s.entry_count + b.n - 1,
           CASE WHEN p_numbers[7 * b.n - 6] >= 0 THEN s.entry_count + p_numbers[7 * b.n - 6]
                WHEN p_numbers[7 * b.n - 6] = -3 THEN s.head_seq ELSE -1 END,
           CASE WHEN s.head_fresh AND p_numbers[7 * b.n - 2] = 1 THEN s.head_segment
                ELSE s.entry_count + p_numbers[7 * b.n - 3] END,
           CASE WHEN p_numbers[7 * b.n - 5] = -1 THEN 0 ELSE s.head_depth END + p_numbers[7 * b.n - 4],
           p_numbers[7 * b.n - 1], b.id,
           CASE WHEN p_numbers[7 * b.n - 6] = -3 THEN nullif(s.head_id, '') ELSE b.parent END, b.body
      FROM unnest(p_ids, p_parents, p_bodies) WITH ORDINALITY AS b(id, parent, body, n);
    h_id := p_ids[p_head_place + 1];
    h_seq := s.entry_count + p_head_place;
    h_segment := CASE WHEN s.head_fresh AND p_numbers[h + 5] = 1 THEN s.head_segment
                      ELSE s.entry_count + p_numbers[h + 4] END;
    h_depth := CASE WHEN p_numbers[h + 2] = -1 THEN 0 ELSE s.head_depth END + p_numbers[h + 3];
  ELSIF p_needs IS NULL OR NOT EXISTS (SELECT 1 FROM unnest(p_needs) AS w(id) WHERE w.id <> s.head_id) THEN
    WITH added AS (
    INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, type, target_id,
                           attachment, body)
    SELECT p_session, s.life, s.entry_count + b.n - 1,
           CASE WHEN m.place >= 0 THEN s.entry_count + m.place WHEN m.place = -1 THEN -1
                WHEN m.place = -3 OR b.parent = s.head_id THEN s.head_seq ELSE -2 END,
           CASE WHEN s.head_fresh AND (m.joins = 1 OR (m.joins = 2 AND p_parents[m.segment + 1] = s.head_id))
                THEN s.head_segment ELSE s.entry_count + m.segment END,
           CASE WHEN m.root = -1 THEN 0 ELSE s.head_depth END + m.steps,
           m.kind, b.id, CASE WHEN m.place = -3 THEN nullif(s.head_id, '') ELSE b.parent END, b.type, b.target,
           b.attachment, b.body
      FROM unnest(p_ids, p_parents, p_types, p_targets, p_attachments, p_bodies) WITH ORDINALITY
        AS b(id, parent, type, target, attachment, body, n)
      CROSS JOIN LATERAL (SELECT p_numbers[7 * b.n - 6] AS place, p_numbers[7 * b.n - 5] AS root,
        p_numbers[7 * b.n - 4] AS steps, p_numbers[7 * b.n - 3] AS segment, p_numbers[7 * b.n - 2] AS joins,
        p_numbers[7 * b.n - 1] AS kind) m
      RETURNING entry_id, seq, segment, depth)
    SELECT a.entry_id, a.seq, a.segment, a.depth INTO h_id, h_seq, h_segment, h_depth FROM added a
      WHERE a.seq = s.entry_count + p_head_place;
  ELSE
    WITH added AS (
    INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, type, target_id,
                           attachment, body)
    SELECT p_session, s.life, s.entry_count + b.n - 1,
           CASE WHEN m.place >= 0 THEN s.entry_count + m.place WHEN m.place = -1 THEN -1
                WHEN m.place = -3 OR b.parent = s.head_id THEN s.head_seq ELSE coalesce(known.seq, -2) END,
           CASE WHEN s.head_fresh AND (m.joins = 1 OR (m.joins = 2 AND p_parents[m.segment + 1] = s.head_id))
                THEN s.head_segment ELSE s.entry_count + m.segment END,
           CASE WHEN m.root = -3 OR p_parents[m.root + 1] = s.head_id THEN s.head_depth WHEN m.root = -1 THEN 0
                ELSE coalesce(begun.depth, 0) END + m.steps,
           m.kind, b.id, CASE WHEN m.place = -3 THEN nullif(s.head_id, '') ELSE b.parent END, b.type, b.target,
           b.attachment, b.body
      FROM unnest(p_ids, p_parents, p_types, p_targets, p_attachments, p_bodies) WITH ORDINALITY
        AS b(id, parent, type, target, attachment, body, n)
      CROSS JOIN LATERAL (SELECT p_numbers[7 * b.n - 6] AS place, p_numbers[7 * b.n - 5] AS root,
        p_numbers[7 * b.n - 4] AS steps, p_numbers[7 * b.n - 3] AS segment, p_numbers[7 * b.n - 2] AS joins,
        p_numbers[7 * b.n - 1] AS kind) m
      LEFT JOIN LATERAL @.known(p_session, s.life, b.parent, p_needs, p_need_numbers) known ON m.place = -2
      LEFT JOIN LATERAL @.known(p_session, s.life, p_parents[m.root + 1], p_needs, p_need_numbers) begun ON m.root >= 0
      RETURNING entry_id, seq, segment, depth)
    SELECT a.entry_id, a.seq, a.segment, a.depth INTO h_id, h_seq, h_segment, h_depth FROM added a
      WHERE a.seq = s.entry_count + p_head_place;
  END IF;
  -- What was just stored is not looked up again: without statistics the planner takes the wrong key for that.
  IF p_head_place >= 0 THEN
    h_fresh := p_head_fresh;
  ELSIF p_head_place = -1 THEN
    h_id := ''; h_seq := -1; h_segment := 0; h_depth := 0; h_fresh := false;
  ELSIF p_head_place = -2 AND p_head <> s.head_id THEN
    h_id := p_head; h_fresh := false;
    SELECT k.seq, k.segment, k.depth INTO h_seq, h_segment, h_depth
      FROM @.known(p_session, s.life, p_head, p_needs, p_need_numbers) k;
    IF NOT FOUND THEN
      h_seq := -2; h_segment := 0; h_depth := 0;
    END IF;
  ELSE
    h_id := s.head_id; h_seq := s.head_seq; h_segment := s.head_segment; h_depth := s.head_depth; h_fresh := s.head_fresh;
  END IF;
  UPDATE @.sessions x SET entry_count = s.entry_count + n, bytes = s.bytes + p_bytes, tail_id = p_ids[n],
      head_id = h_id, head_seq = h_seq, head_segment = h_segment, head_depth = h_depth, head_fresh = h_fresh,
      version = s.version + 1, changed_at = now(), cataloged = false
    WHERE x.session_id = p_session AND x.life = s.life;
  IF p_attachments IS NOT NULL THEN
    UPDATE @.attachments SET held_until = NULL WHERE sha256 = ANY (p_attachments) AND held_until IS NOT NULL;
  END IF;
  RETURN '0';
END $$;
)sql",
    // A chain of entries that continues from the head, with ids generated for this call (chain_statements.h): the
    // longer way.
    R"sql(
CREATE OR REPLACE FUNCTION @.append_chain(
  p_session text, p_format bigint, p_expected text, p_fence bigint, p_ids text[], p_facts bigint[], p_bodies bytea[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n integer := cardinality(p_ids);
BEGIN
  RETURN @.append(p_session, p_format, p_expected, p_fence, 2, p_ids, array_prepend(NULL::text, p_ids[1:n - 1]),
    (SELECT array_agg(x.number ORDER BY f.n, x.place) FROM unnest(p_facts) WITH ORDINALITY AS f(fact, n)
       CROSS JOIN LATERAL (VALUES (1, CASE WHEN f.n = 1 THEN -3 ELSE f.n - 2 END), (2, -3), (3, f.n), (4, 0), (5, 1),
         (6, f.fact % 64), (7, f.fact / 64 - 1)) AS x(place, number)),
    NULL, NULL, NULL, p_bodies, NULL, NULL, n - 1, p_ids[n], true,
    (SELECT sum(octet_length(b.body)) FROM unnest(p_bodies) AS b(body)), false);
END $$;
)sql",
    // A new session with its first batch. A retry of the same creation is recognized.
    R"sql(
CREATE OR REPLACE FUNCTION @.create_session(
  p_session text, p_life bigint, p_format bigint, p_origin_session text, p_origin_entry text, p_origin_kinds bigint,
  p_ids text[], p_parents text[], p_numbers bigint[], p_types text[], p_targets text[], p_attachments text[],
  p_bodies bytea[], p_head_place bigint, p_head text, p_head_fresh boolean, p_bytes bigint)
RETURNS TABLE (status integer, detail text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  existing integer; found_kind integer; found_depth integer := 0; found_type text; first_life integer;
BEGIN
  IF p_origin_session IS NOT NULL THEN
    PERFORM 1 FROM @.sessions s WHERE s.session_id = p_origin_session AND s.trash_id IS NULL FOR SHARE;
    IF NOT FOUND THEN
      RETURN QUERY SELECT 2, ''::text;
      RETURN;
    END IF;
    SELECT e.kind, e.depth, e.type INTO found_kind, found_depth, found_type
      FROM @.locate(p_origin_session, ARRAY[p_origin_entry]) l
      JOIN @.entries e ON e.session_id = l.session_id AND e.life = l.life AND e.seq = l.seq;
    IF NOT FOUND THEN
      RETURN QUERY SELECT 3, ''::text;
      RETURN;
    END IF;
    IF (p_origin_kinds >> found_kind) & 1 = 0 THEN
      RETURN QUERY SELECT 4, coalesce(found_type, found_kind::text);
      RETURN;
    END IF;
  END IF;
  INSERT INTO @.sessions (session_id, life, format, entry_count, bytes, tail_id, head_id, head_seq, head_segment,
                          head_depth, head_fresh, origin_session, origin_entry, shared_count)
    VALUES (p_session, p_life, p_format, 0, 0, '', coalesce(p_origin_entry, ''),
            CASE WHEN p_origin_entry IS NULL THEN -1 ELSE -2 END, 0, found_depth, false,
            p_origin_session, p_origin_entry, found_depth)
    ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    SELECT s.life INTO existing FROM @.sessions s WHERE s.session_id = p_session AND s.trash_id IS NULL FOR NO KEY UPDATE;
    IF EXISTS (SELECT 1 FROM @.entries e WHERE e.session_id = p_session AND e.life = existing AND e.seq = 0
                 AND e.entry_id = p_ids[1] AND e.body = p_bodies[1]) THEN
      RETURN QUERY SELECT 0, ''::text;
    ELSE
      RETURN QUERY SELECT 1, ''::text;
    END IF;
    RETURN;
  END IF;
  PERFORM @.append(p_session, p_format, NULL, NULL, 1, p_ids, p_parents, p_numbers, p_types, p_targets, p_attachments,
                   p_bodies, NULL, NULL, p_head_place, p_head, p_head_fresh, p_bytes, false);
  RETURN QUERY SELECT 0, ''::text;
END $$;
)sql"};

// The functions declare how many rows they return. Otherwise the planner would assume a thousand, consider the
// statement expensive, and compile it first.
inline constexpr std::array<std::string_view, 6> kReadFunctions{
    // The session itself and the sessions that its history leads through, the nearest first.
    R"sql(
CREATE OR REPLACE FUNCTION @.lineage(p_session text)
RETURNS TABLE (level integer, session_id text, life integer, origin_session text, origin_entry text)
LANGUAGE sql STABLE ROWS 2 AS $$
  WITH RECURSIVE up AS (
    SELECT 0 AS level, s.session_id, s.life, s.origin_session, s.origin_entry
      FROM @.sessions s WHERE s.session_id = p_session AND s.trash_id IS NULL
    UNION ALL
    SELECT up.level + 1, s.session_id, s.life, s.origin_session, s.origin_entry
      FROM up JOIN @.sessions s ON s.session_id = up.origin_session AND s.trash_id IS NULL
      WHERE up.level < 10000)
  SELECT * FROM up $$;
)sql",
    // An entry that a batch names: an own entry, or one that the caller has found in the shared history. p_numbers
    // contains three numbers per name: the permitted kinds, -2 if it is in the shared history, and its depth there.
    R"sql(
CREATE OR REPLACE FUNCTION @.known(p_session text, p_life integer, p_id text, p_ids text[], p_numbers bigint[])
RETURNS TABLE (seq integer, segment integer, depth integer)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT e.seq, e.segment, e.depth FROM @.entries e
    WHERE e.session_id = p_session AND e.life = p_life AND e.entry_id = p_id
  UNION ALL
  SELECT -2, 0, p_numbers[3 * w.n]::integer FROM unnest(p_ids) WITH ORDINALITY AS w(id, n)
    WHERE w.id = p_id AND p_numbers[3 * w.n - 1] = -2
  LIMIT 1 $$;
)sql",
    // The runs of the branch that ends in an entry, the leaf's run first, until they contain p_most entries. Each step
    // of the walk goes to the previous run or, if that is in another session, one session up. A row without a sequence
    // means that the entry was not found in that session.
    R"sql(
CREATE OR REPLACE FUNCTION @.runs(p_session text, p_life integer, p_leaf integer, p_most bigint)
RETURNS TABLE (session_id text, life integer, first_seq integer, last_seq integer)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE walk AS (
    SELECT s.session_id, s.life, s.origin_session, p_leaf AS seq, NULL::text COLLATE "C" AS wanted, f.seq AS first,
        f.parent_seq, f.parent_id, f.depth, l.depth - p_most + 1 AS least
      FROM @.sessions s CROSS JOIN LATERAL (SELECT e.segment, e.depth FROM @.entries e
        WHERE e.session_id = p_session AND e.life = p_life AND e.seq = p_leaf LIMIT 1) l
      CROSS JOIN LATERAL (SELECT e.seq, e.parent_seq, e.parent_id, e.depth FROM @.entries e
        WHERE e.session_id = p_session AND e.life = p_life AND e.seq = l.segment LIMIT 1) f
      WHERE s.session_id = p_session AND s.life = p_life
    UNION ALL
    SELECT n.session_id, n.life, n.origin_session, n.seq, n.wanted, f.seq, f.parent_seq, f.parent_id, f.depth, w.least
      FROM walk w CROSS JOIN LATERAL (
        SELECT w.session_id, w.life, w.origin_session, w.parent_seq AS seq, NULL::text COLLATE "C" AS wanted
          WHERE w.parent_seq >= 0
        UNION ALL
        SELECT u.session_id, u.life, u.origin_session, (SELECT e.seq FROM @.entries e WHERE e.session_id = u.session_id
            AND e.life = u.life AND e.entry_id = coalesce(w.parent_id, w.wanted) LIMIT 1), coalesce(w.parent_id, w.wanted)
          FROM @.sessions u WHERE u.session_id = w.origin_session AND u.trash_id IS NULL
            AND (w.seq IS NULL OR w.parent_seq = -2)) n
      LEFT JOIN LATERAL (SELECT e.segment FROM @.entries e
        WHERE e.session_id = n.session_id AND e.life = n.life AND e.seq = n.seq LIMIT 1) l ON true
      LEFT JOIN LATERAL (SELECT e.seq, e.parent_seq, e.parent_id, e.depth FROM @.entries e
        WHERE e.session_id = n.session_id AND e.life = n.life AND e.seq = l.segment LIMIT 1) f ON true
      WHERE w.seq IS NULL OR w.depth > w.least)
  SELECT w.session_id, w.life, w.first, w.seq FROM walk w WHERE w.first IS NOT NULL;
END $$;
)sql",
    // The runs of a session's shared history, the nearest first; none when the session is not a fork. Runs whose
    // entries all have a depth below p_least are left out.
    R"sql(
CREATE OR REPLACE FUNCTION @.shared_runs_from(p_session text, p_least integer)
RETURNS TABLE (session_id text, life integer, first_seq integer, last_seq integer)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
#variable_conflict use_column
DECLARE
  at_session text; at_life integer; up_session text; wanted text; leaf integer; leaf_depth integer;
  level integer := 0;
BEGIN
  SELECT s.origin_session, s.origin_entry INTO up_session, wanted FROM @.sessions s
    WHERE s.session_id = p_session AND s.trash_id IS NULL;
  WHILE up_session IS NOT NULL AND level < 10000 LOOP
    level := level + 1;
    SELECT s.session_id, s.life, s.origin_session INTO at_session, at_life, up_session FROM @.sessions s
      WHERE s.session_id = up_session AND s.trash_id IS NULL;
    EXIT WHEN NOT FOUND;
    SELECT e.seq, e.depth INTO leaf, leaf_depth FROM @.entries e
      WHERE e.session_id = at_session AND e.life = at_life AND e.entry_id = wanted;
    IF FOUND THEN
      RETURN QUERY SELECT * FROM @.runs(at_session, at_life, leaf, leaf_depth::bigint - p_least + 1);
      RETURN;
    END IF;
  END LOOP;
END $$;
)sql",
    // All runs of the shared history.
    R"sql(
CREATE OR REPLACE FUNCTION @.shared_runs(p_session text)
RETURNS TABLE (session_id text, life integer, first_seq integer, last_seq integer)
LANGUAGE sql STABLE ROWS 4 AS $$
  SELECT * FROM @.shared_runs_from(p_session, 0) $$;
)sql",
    // The places of the entries with these ids, own or shared. A long lineage of forks is followed only for ids that
    // are not own entries, and only as far as the sessions that contain them.
    R"sql(
CREATE OR REPLACE FUNCTION @.locate(p_session text, p_ids text[])
RETURNS TABLE (session_id text, life integer, seq integer, depth integer, own boolean)
LANGUAGE plpgsql STABLE ROWS 1 AS $$
#variable_conflict use_column
DECLARE
  own_life integer; up_session text; others text[];
BEGIN
  SELECT s.life, s.origin_session INTO own_life, up_session FROM @.sessions s
    WHERE s.session_id = p_session AND s.trash_id IS NULL;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT p_session, own_life, e.seq, e.depth, true FROM (SELECT DISTINCT u.id FROM unnest(p_ids) AS u(id)) w
    CROSS JOIN LATERAL (SELECT x.seq, x.depth FROM @.entries x
      WHERE x.session_id = p_session AND x.life = own_life AND x.entry_id = w.id LIMIT 1) e;
  IF up_session IS NULL THEN
    RETURN;
  END IF;
  SELECT array_agg(DISTINCT u.id) INTO others FROM unnest(p_ids) AS u(id) WHERE (SELECT x.seq FROM @.entries x
    WHERE x.session_id = p_session AND x.life = own_life AND x.entry_id = u.id LIMIT 1) IS NULL;
  IF others IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY WITH found AS MATERIALIZED (
    SELECT c.session_id, c.life, e.seq, e.depth, e.segment FROM @.lineage(up_session) c CROSS JOIN unnest(others) AS w(id)
      CROSS JOIN LATERAL (SELECT x.seq, x.depth, x.segment FROM @.entries x
        WHERE x.session_id = c.session_id AND x.life = c.life AND x.entry_id = w.id LIMIT 1) e)
  SELECT f.session_id, f.life, f.seq, f.depth, false FROM found f
    JOIN @.shared_runs_from(p_session, (SELECT coalesce(min(x.depth), 2147483647) FROM found x)) r
      ON r.session_id = f.session_id AND r.life = f.life AND r.first_seq = f.segment AND f.seq <= r.last_seq;
END $$;
)sql"};

}  // namespace bough::postgres
