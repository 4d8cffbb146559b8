// The function that stores the catalog's data about a session.
#pragma once

#include <array>
#include <string_view>

namespace bough::postgres {

// Stores what the catalog has read of a session (CatalogSource::keep). Returns false when the session or its row is not
// as the caller has seen it.
inline constexpr std::array<std::string_view, 1> kCatalogFunctions{R"sql(
CREATE OR REPLACE FUNCTION @.catalog_keep(
  p_session text, p_life bigint, p_version bigint, p_taken_before bigint, p_indexed_before bigint, p_texts text[],
  p_numbers bigint[], p_tips text[], p_rest bytea, p_answers bigint[], p_firsts bigint[], p_branches bigint[],
  p_quarters bigint[], p_models text[], p_certain bigint[], p_tokens bigint[], p_seqs bigint[], p_ids text[], p_roles text[], p_times bigint[],
  p_counts bigint[], p_words text[], p_folded text[], p_bodies bytea[], p_redacted text[])
RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  before record; more record; texts_before bigint := 0; words_before bigint := 0; texts_replaced bigint; words_replaced bigint;
  texts_added bigint; words_added bigint; texts_gone bigint := 0; words_gone bigint := 0;
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
    -- What can be found of a session that is read again stays until the part comes in which it is.
    IF EXISTS (SELECT 1 FROM @.catalog_sessions c WHERE c.session_id = p_session AND c.life = p_life AND c.indexed > 0) THEN
      SELECT count(*), coalesce(sum(t.word_count), 0) INTO texts_before, words_before FROM @.catalog_texts t
        WHERE t.session_id = p_session;
    ELSE
      DELETE FROM @.catalog_texts WHERE session_id = p_session;
    END IF;
    DELETE FROM @.catalog_sessions WHERE session_id = p_session;
  END IF;
  WITH gone AS (DELETE FROM @.catalog_texts WHERE session_id = p_session
                  AND seq >= CASE WHEN p_taken_before = 0 THEN 0 ELSE p_indexed_before END AND seq < p_numbers[2]
                RETURNING word_count)
  SELECT count(*), coalesce(sum(word_count), 0) INTO texts_replaced, words_replaced FROM gone;
  SELECT coalesce(sum(greatest(p_tokens[6 * n.place - 5] - coalesce(a.input_tokens, 0), 0)), 0) AS input,
      coalesce(sum(greatest(p_tokens[6 * n.place - 4] - coalesce(a.output_tokens, 0), 0)), 0) AS output,
      coalesce(sum(greatest(p_tokens[6 * n.place - 3] - coalesce(a.cache_read_tokens, 0), 0)), 0) AS cache_read,
      coalesce(sum(greatest(p_tokens[6 * n.place - 2] - coalesce(a.cache_write_tokens, 0), 0)), 0) AS cache_write,
      coalesce(sum(greatest(p_tokens[6 * n.place - 1] - coalesce(a.reasoning_tokens, 0), 0)), 0) AS reasoning,
      coalesce(sum(greatest(p_tokens[6 * n.place] - coalesce(a.cache_write_hour_tokens, 0), 0)), 0) AS cache_write_hour
    INTO more FROM unnest(p_answers) WITH ORDINALITY AS n(id, place)
    LEFT JOIN @.catalog_answers a ON a.session_id = p_session AND a.answer_id = n.id;
  INSERT INTO @.catalog_answers SELECT p_session, n.id, n.first, n.branch, n.quarter, n.model, n.certain = 1,
      p_tokens[6 * n.place - 5], p_tokens[6 * n.place - 4], p_tokens[6 * n.place - 3], p_tokens[6 * n.place - 2],
      p_tokens[6 * n.place - 1], p_tokens[6 * n.place]
    FROM unnest(p_answers, p_firsts, p_branches, p_quarters, p_models, p_certain) WITH ORDINALITY
      AS n(id, first, branch, quarter, model, certain, place)
    ON CONFLICT (session_id, answer_id) DO UPDATE SET
      input_tokens = greatest(catalog_answers.input_tokens, excluded.input_tokens),
      output_tokens = greatest(catalog_answers.output_tokens, excluded.output_tokens),
      cache_read_tokens = greatest(catalog_answers.cache_read_tokens, excluded.cache_read_tokens),
      cache_write_tokens = greatest(catalog_answers.cache_write_tokens, excluded.cache_write_tokens),
      reasoning_tokens = greatest(catalog_answers.reasoning_tokens, excluded.reasoning_tokens),
      cache_write_hour_tokens = greatest(catalog_answers.cache_write_hour_tokens, excluded.cache_write_hour_tokens);
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
      texts_before + texts_added - texts_replaced - texts_gone, words_before + words_added - words_replaced - words_gone, p_tips,
      p_rest, more.cache_write_hour)
    ON CONFLICT (session_id) DO UPDATE SET taken = excluded.taken, indexed = excluded.indexed,
      written_by = excluded.written_by, title = excluded.title, head_id = excluded.head_id, problem = excluded.problem,
      title_source = excluded.title_source, active_ms = excluded.active_ms, duration_ms = excluded.duration_ms,
      user_messages = excluded.user_messages, assistant_messages = excluded.assistant_messages,
      tool_messages = excluded.tool_messages, system_messages = excluded.system_messages,
      tool_calls = excluded.tool_calls, tool_failures = excluded.tool_failures, input_tokens = catalog_sessions.input_tokens + excluded.input_tokens,
      output_tokens = catalog_sessions.output_tokens + excluded.output_tokens, cache_read_tokens = catalog_sessions.cache_read_tokens + excluded.cache_read_tokens,
      cache_write_tokens = catalog_sessions.cache_write_tokens + excluded.cache_write_tokens, reasoning_tokens = catalog_sessions.reasoning_tokens + excluded.reasoning_tokens,
      cache_write_hour_tokens = catalog_sessions.cache_write_hour_tokens + excluded.cache_write_hour_tokens,
      entries = excluded.entries, bytes = excluded.bytes, branches = excluded.branches,
      condition = excluded.condition, pinned = excluded.pinned, time_to_live_ms = excluded.time_to_live_ms,
      text_count = catalog_sessions.text_count + excluded.text_count,
      word_count = catalog_sessions.word_count + excluded.word_count, tips = excluded.tips, rest = excluded.rest;
  UPDATE @.sessions SET cataloged = true WHERE session_id = p_session AND life = p_life AND version = p_version;
  RETURN true;
END $$;
)sql"};

}  // namespace bough::postgres
