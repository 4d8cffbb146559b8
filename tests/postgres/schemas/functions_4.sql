CREATE OR REPLACE FUNCTION @.catalog_keep(
  p_session text, p_life bigint, p_version bigint, p_taken_before bigint, p_indexed_before bigint, p_texts text[],
  p_numbers bigint[], p_tips text[], p_rest bytea, p_answers bigint[], p_firsts bigint[], p_branches bigint[],
  p_quarters bigint[], p_models text[], p_certain bigint[], p_tokens bigint[], p_seqs bigint[], p_ids text[], p_roles text[], p_times bigint[],
  p_counts bigint[], p_words text[], p_folded text[], p_bodies bytea[], p_redacted text[])
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  before record; more record; texts_added bigint; words_added bigint; texts_gone bigint := 0; words_gone bigint := 0;
BEGIN
  PERFORM 1 FROM @.sessions s
    WHERE s.session_id = p_session AND s.life = p_life AND s.trash_id IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  SELECT c.taken, c.indexed INTO before FROM @.catalog_sessions c
    WHERE c.session_id = p_session AND c.life = p_life AND c.taken > 0;
  IF coalesce(before.taken, 0) <> p_taken_before OR coalesce(before.indexed, 0) <> p_indexed_before THEN
    RETURN false;
  END IF;
  -- What was erased or redacted since must not come back: who looks next reads it again.
  IF EXISTS (SELECT 1 FROM @.entries e WHERE e.session_id = p_session AND e.life = p_life AND e.seq >= p_numbers[1]
               AND e.kind >= 12 AND e.kind = 15) THEN
    RETURN false;
  END IF;
  IF p_taken_before = 0 THEN
    DELETE FROM @.catalog_answers WHERE session_id = p_session;
    DELETE FROM @.catalog_texts WHERE session_id = p_session;
    DELETE FROM @.catalog_sessions WHERE session_id = p_session;
  END IF;
  SELECT coalesce(sum(greatest(p_tokens[5 * n.place - 4] - coalesce(a.input_tokens, 0), 0)), 0) AS input,
      coalesce(sum(greatest(p_tokens[5 * n.place - 3] - coalesce(a.output_tokens, 0), 0)), 0) AS output,
      coalesce(sum(greatest(p_tokens[5 * n.place - 2] - coalesce(a.cache_read_tokens, 0), 0)), 0) AS cache_read,
      coalesce(sum(greatest(p_tokens[5 * n.place - 1] - coalesce(a.cache_write_tokens, 0), 0)), 0) AS cache_write,
      coalesce(sum(greatest(p_tokens[5 * n.place] - coalesce(a.reasoning_tokens, 0), 0)), 0) AS reasoning
    INTO more FROM unnest(p_answers) WITH ORDINALITY AS n(id, place)
    LEFT JOIN @.catalog_answers a ON a.session_id = p_session AND a.answer_id = n.id;
  INSERT INTO @.catalog_answers SELECT p_session, n.id, n.first, n.branch, n.quarter, n.model, n.certain = 1,
      p_tokens[5 * n.place - 4], p_tokens[5 * n.place - 3], p_tokens[5 * n.place - 2], p_tokens[5 * n.place - 1],
      p_tokens[5 * n.place]
    FROM unnest(p_answers, p_firsts, p_branches, p_quarters, p_models, p_certain) WITH ORDINALITY
      AS n(id, first, branch, quarter, model, certain, place)
    ON CONFLICT (session_id, answer_id) DO UPDATE SET
      input_tokens = greatest(catalog_answers.input_tokens, excluded.input_tokens),
      output_tokens = greatest(catalog_answers.output_tokens, excluded.output_tokens),
      cache_read_tokens = greatest(catalog_answers.cache_read_tokens, excluded.cache_read_tokens),
      cache_write_tokens = greatest(catalog_answers.cache_write_tokens, excluded.cache_write_tokens),
      reasoning_tokens = greatest(catalog_answers.reasoning_tokens, excluded.reasoning_tokens);
  WITH added AS (INSERT INTO @.catalog_texts SELECT p_session, t.seq, t.id, t.role, t.time, t.count,
      array_to_tsvector(string_to_array(nullif(t.words, ''), ' ')), t.folded, t.body
    FROM unnest(p_seqs, p_ids, p_roles, p_times, p_counts, p_words, p_folded, p_bodies)
      AS t(seq, id, role, time, count, words, folded, body)
    WHERE t.words <> '' ON CONFLICT DO NOTHING RETURNING word_count)
    SELECT count(*), coalesce(sum(word_count), 0) INTO texts_added, words_added FROM added;
  IF cardinality(p_redacted) > 0 THEN
    WITH gone AS (DELETE FROM @.catalog_texts WHERE session_id = p_session AND entry_id = ANY (p_redacted)
                  RETURNING word_count)
    SELECT count(*), coalesce(sum(word_count), 0) INTO texts_gone, words_gone FROM gone;
  END IF;
  INSERT INTO @.catalog_sessions VALUES (p_session, p_life, p_numbers[1], p_numbers[2],
      p_texts[1], p_texts[2], p_texts[3], p_texts[4], p_texts[5], p_texts[6], p_texts[7], p_texts[8], p_texts[9],
      p_numbers[3], p_numbers[4], p_numbers[5], p_numbers[6], p_numbers[7], p_numbers[8], p_numbers[9], p_numbers[10],
      p_numbers[11], p_numbers[12], more.input, more.output, more.cache_read, more.cache_write, more.reasoning,
      p_numbers[13], p_numbers[14], p_numbers[15], p_numbers[16], p_numbers[17] = 1, nullif(p_numbers[18], -1),
      texts_added - texts_gone, words_added - words_gone, p_tips, p_rest)
    ON CONFLICT (session_id) DO UPDATE SET taken = excluded.taken, indexed = excluded.indexed,
      written_by = excluded.written_by, title = excluded.title, head_id = excluded.head_id, problem = excluded.problem,
      title_source = excluded.title_source, active_ms = excluded.active_ms, duration_ms = excluded.duration_ms,
      user_messages = excluded.user_messages, assistant_messages = excluded.assistant_messages,
      tool_messages = excluded.tool_messages, system_messages = excluded.system_messages,
      tool_calls = excluded.tool_calls, tool_failures = excluded.tool_failures, input_tokens = catalog_sessions.input_tokens + excluded.input_tokens,
      output_tokens = catalog_sessions.output_tokens + excluded.output_tokens, cache_read_tokens = catalog_sessions.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = catalog_sessions.cache_write_tokens + excluded.cache_write_tokens, reasoning_tokens = catalog_sessions.reasoning_tokens + excluded.reasoning_tokens,
      entries = excluded.entries, bytes = excluded.bytes, branches = excluded.branches,
      condition = excluded.condition, pinned = excluded.pinned, time_to_live_ms = excluded.time_to_live_ms,
      text_count = catalog_sessions.text_count + excluded.text_count,
      word_count = catalog_sessions.word_count + excluded.word_count, tips = excluded.tips, rest = excluded.rest;
  UPDATE @.sessions SET cataloged = true WHERE session_id = p_session AND life = p_life AND version = p_version;
  RETURN true;
END $$;
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
CREATE OR REPLACE FUNCTION @.append_one(
  p_session text, p_format bigint, p_expected text, p_fence bigint, p_mode bigint, p_id text, p_parent text,
  p_place bigint, p_root bigint, p_steps bigint, p_joins bigint, p_kind bigint, p_made bigint, p_body bytea,
  p_head_fresh boolean, p_bytes bigint)
RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  s_life integer; s_count integer; s_head text; s_head_seq integer; s_segment integer; s_depth integer;
  seen boolean := false;
BEGIN
  IF p_mode = 0 THEN
    PERFORM 1 FROM @.entries e WHERE e.session_id = p_session AND e.entry_id = p_id LIMIT 1;
    seen := FOUND;
  END IF;
  IF NOT seen THEN
    UPDATE @.sessions x SET entry_count = x.entry_count + 1, bytes = x.bytes + p_bytes, tail_id = p_id, head_id = p_id,
        was_head_id = x.head_id, was_head_seq = x.head_seq, head_seq = x.entry_count,
        head_segment = CASE WHEN x.head_fresh AND p_joins = 1 THEN x.head_segment ELSE x.entry_count END,
        head_depth = CASE WHEN p_root = -1 THEN 0 ELSE x.head_depth END + p_steps, head_fresh = p_head_fresh,
        version = x.version + 1, changed_at = now(), cataloged = false
      WHERE x.session_id = p_session AND x.trash_id IS NULL AND x.format = p_format AND x.head_seq <> -2
        AND (p_expected IS NULL OR x.tail_id = p_expected) AND (p_fence IS NULL OR p_fence >= x.fence)
        AND (p_mode = 2 OR x.origin_session IS NULL)
      RETURNING x.life, x.entry_count - 1, x.was_head_id, x.was_head_seq, x.head_segment, x.head_depth
      INTO s_life, s_count, s_head, s_head_seq, s_segment, s_depth;
    IF FOUND THEN
      INSERT INTO @.entries (session_id, life, seq, parent_seq, segment, depth, kind, entry_id, parent_id, body)
        VALUES (p_session, s_life, s_count, CASE WHEN p_place = -3 THEN s_head_seq ELSE -1 END, s_segment, s_depth, p_kind,
                p_id, CASE WHEN p_place = -3 THEN nullif(s_head, '') END, p_body);
      RETURN '0';
    END IF;
  END IF;
  RETURN @.append(p_session, p_format, p_expected, p_fence, p_mode, ARRAY[p_id], ARRAY[p_parent],
                  ARRAY[p_place, p_root, p_steps, 0, p_joins, p_kind, p_made], NULL, NULL, NULL, ARRAY[p_body], NULL, NULL,
                  0, p_id, p_head_fresh, p_bytes, false);
END $$;
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
CREATE OR REPLACE FUNCTION @.known(p_session text, p_life integer, p_id text, p_ids text[], p_numbers bigint[])
RETURNS TABLE (seq integer, segment integer, depth integer)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT e.seq, e.segment, e.depth FROM @.entries e
    WHERE e.session_id = p_session AND e.life = p_life AND e.entry_id = p_id
  UNION ALL
  SELECT -2, 0, p_numbers[3 * w.n]::integer FROM unnest(p_ids) WITH ORDINALITY AS w(id, n)
    WHERE w.id = p_id AND p_numbers[3 * w.n - 1] = -2
  LIMIT 1 $$;
CREATE OR REPLACE FUNCTION @.runs(p_session text, p_life integer, p_leaf integer, p_most bigint)
RETURNS TABLE (session_id text, life integer, first_seq integer, last_seq integer)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
#variable_conflict use_column
DECLARE
  at_session text := p_session; at_life integer := p_life; at_seq integer := p_leaf;
  run integer; leaf_depth integer; first_depth integer; up_seq integer; up_id text; up_session text;
BEGIN
  LOOP
    SELECT e.segment, coalesce(leaf_depth, e.depth) INTO run, leaf_depth FROM @.entries e
      WHERE e.session_id = at_session AND e.life = at_life AND e.seq = at_seq;
    EXIT WHEN NOT FOUND;
    SELECT e.parent_seq, e.parent_id, e.depth INTO up_seq, up_id, first_depth FROM @.entries e
      WHERE e.session_id = at_session AND e.life = at_life AND e.seq = run;
    RETURN QUERY SELECT at_session, at_life, run, at_seq;
    EXIT WHEN up_seq = -1 OR leaf_depth - first_depth + 1 >= p_most;
    IF up_seq >= 0 THEN
      at_seq := up_seq;
      CONTINUE;
    END IF;
    at_seq := NULL;
    WHILE at_seq IS NULL LOOP
      SELECT s.origin_session INTO up_session FROM @.sessions s
        WHERE s.session_id = at_session AND s.life = at_life;
      EXIT WHEN NOT FOUND OR up_session IS NULL;
      SELECT s.session_id, s.life INTO at_session, at_life FROM @.sessions s
        WHERE s.session_id = up_session AND s.trash_id IS NULL;
      EXIT WHEN NOT FOUND;
      SELECT e.seq INTO at_seq FROM @.entries e
        WHERE e.session_id = at_session AND e.life = at_life AND e.entry_id = up_id;
    END LOOP;
    EXIT WHEN at_seq IS NULL;
  END LOOP;
END $$;
CREATE OR REPLACE FUNCTION @.shared_runs(p_session text)
RETURNS TABLE (session_id text, life integer, first_seq integer, last_seq integer)
LANGUAGE plpgsql STABLE ROWS 4 AS $$
#variable_conflict use_column
DECLARE
  c record; wanted text; leaf integer;
BEGIN
  FOR c IN SELECT * FROM @.lineage(p_session) ORDER BY level LOOP
    IF wanted IS NOT NULL THEN
      SELECT e.seq INTO leaf FROM @.entries e
        WHERE e.session_id = c.session_id AND e.life = c.life AND e.entry_id = wanted;
      IF FOUND THEN
        RETURN QUERY SELECT * FROM @.runs(c.session_id, c.life, leaf, 9223372036854775807);
        RETURN;
      END IF;
    ELSE
      wanted := c.origin_entry;
    END IF;
  END LOOP;
END $$;
CREATE OR REPLACE FUNCTION @.locate(p_session text, p_ids text[])
RETURNS TABLE (session_id text, life integer, seq integer, depth integer, own boolean)
LANGUAGE sql STABLE ROWS 1 AS $$
  SELECT s.session_id, s.life, e.seq, e.depth, true FROM @.sessions s
    CROSS JOIN (SELECT DISTINCT u.id FROM unnest(p_ids) AS u(id)) w
    CROSS JOIN LATERAL (SELECT x.seq, x.depth FROM @.entries x
      WHERE x.session_id = s.session_id AND x.life = s.life AND x.entry_id = w.id LIMIT 1) e
    WHERE s.session_id = p_session AND s.trash_id IS NULL
  UNION ALL
  SELECT r.session_id, r.life, e.seq, e.depth, false FROM @.shared_runs(p_session) r
    CROSS JOIN (SELECT DISTINCT u.id FROM unnest(p_ids) AS u(id)) w
    CROSS JOIN LATERAL (SELECT x.seq, x.depth, x.segment FROM @.entries x
      WHERE x.session_id = r.session_id AND x.life = r.life AND x.entry_id = w.id LIMIT 1) e
    WHERE e.segment = r.first_seq AND e.seq <= r.last_seq $$;
INSERT INTO @.settings (name, value) VALUES ('schema_version', '4');
