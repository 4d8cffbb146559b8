// The steps that create the tables, from one version to the next. A released step is never changed.
#pragma once

#include <array>
#include <string_view>

namespace bough::postgres {

inline constexpr std::array<std::string_view, 5> kSchemaSteps{
    R"sql(
CREATE TABLE @.sessions (
  session_id text COLLATE "C" NOT NULL,
  life integer NOT NULL,
  trash_id text COLLATE "C",
  trashed_ms bigint,
  format integer NOT NULL,
  entry_count integer NOT NULL,
  bytes bigint NOT NULL,
  tail_id text NOT NULL,
  head_id text NOT NULL,
  head_seq integer NOT NULL,
  head_segment integer NOT NULL,
  head_depth integer NOT NULL,
  head_fresh boolean NOT NULL,
  origin_session text COLLATE "C",
  origin_entry text COLLATE "C",
  shared_count integer NOT NULL,
  fence bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 1,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, life)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX sessions_alive ON @.sessions (session_id) WHERE trash_id IS NULL;
CREATE INDEX sessions_forks ON @.sessions (origin_session) WHERE origin_session IS NOT NULL;

CREATE TABLE @.entries (
  session_id text COLLATE "C" NOT NULL,
  life integer NOT NULL,
  seq integer NOT NULL,
  parent_seq integer NOT NULL,
  segment integer NOT NULL,
  depth integer NOT NULL,
  kind smallint NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  parent_id text COLLATE "C",
  type text,
  target_id text COLLATE "C",
  attachment text COLLATE "C",
  body bytea NOT NULL,
  PRIMARY KEY (session_id, life, seq),
  UNIQUE (session_id, life, entry_id)
);
CREATE INDEX entries_controls ON @.entries (session_id, life, seq) WHERE kind >= 12;

CREATE TABLE @.attachments (
  sha256 text COLLATE "C" NOT NULL,
  part integer NOT NULL,
  bytes bytea NOT NULL,
  held_until timestamptz,
  PRIMARY KEY (sha256, part)
);
ALTER TABLE @.attachments ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE @.settings (
  name text NOT NULL PRIMARY KEY,
  value text NOT NULL
);
)sql",
    // Keys of entries: without statistics, the planner used the key of sequences for an entry's id as well, because the
    // first two columns of both keys were the same, and read whole sessions. So the second column is now the one that
    // is looked up.
    //
    // The catalog: data derived from the sessions. `cataloged` is false from the first append after the catalog has
    // read a session; an update that does not change it touches no index.
    R"sql(
ALTER TABLE @.entries DROP CONSTRAINT entries_pkey, ADD PRIMARY KEY (session_id, seq, life);
ALTER TABLE @.entries DROP CONSTRAINT entries_session_id_life_entry_id_key, ADD UNIQUE (session_id, entry_id, life);

ALTER TABLE @.sessions ADD COLUMN cataloged boolean NOT NULL DEFAULT false;
CREATE INDEX sessions_uncataloged ON @.sessions (session_id) WHERE NOT cataloged AND trash_id IS NULL;

CREATE TABLE @.catalog_sessions (
  session_id text COLLATE "C" NOT NULL PRIMARY KEY,
  life integer NOT NULL,
  taken integer NOT NULL,
  indexed integer NOT NULL,
  key text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  written_by text COLLATE "C" NOT NULL,
  cwd text COLLATE "C" NOT NULL,
  title text NOT NULL,
  origin_session text COLLATE "C" NOT NULL,
  origin_entry text COLLATE "C" NOT NULL,
  head_id text COLLATE "C" NOT NULL,
  problem text NOT NULL,
  title_source bigint NOT NULL,
  created_ms bigint NOT NULL,
  active_ms bigint NOT NULL,
  duration_ms bigint NOT NULL,
  user_messages bigint NOT NULL,
  assistant_messages bigint NOT NULL,
  tool_messages bigint NOT NULL,
  system_messages bigint NOT NULL,
  tool_calls bigint NOT NULL,
  tool_failures bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cache_read_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  entries bigint NOT NULL,
  bytes bigint NOT NULL,
  branches bigint NOT NULL,
  condition bigint NOT NULL,
  pinned boolean NOT NULL,
  time_to_live_ms bigint,
  text_count bigint NOT NULL,
  word_count bigint NOT NULL,
  tips text[] NOT NULL,
  rest bytea NOT NULL
);
CREATE INDEX catalog_newest ON @.catalog_sessions (active_ms DESC, session_id DESC);
CREATE INDEX catalog_newest_by_agent ON @.catalog_sessions (agent, active_ms DESC, session_id DESC);
CREATE INDEX catalog_by_key ON @.catalog_sessions (key, created_ms DESC, session_id DESC) WHERE key <> '';
CREATE INDEX catalog_not_indexed ON @.catalog_sessions (session_id) WHERE indexed < taken;

CREATE TABLE @.catalog_answers (
  session_id text COLLATE "C" NOT NULL,
  answer_id bigint NOT NULL,
  first integer NOT NULL,
  branch integer NOT NULL,
  quarter integer NOT NULL,
  model text COLLATE "C" NOT NULL,
  certain boolean NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cache_read_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  PRIMARY KEY (session_id, answer_id)
);
CREATE INDEX catalog_answers_by_time ON @.catalog_answers (quarter);

CREATE TABLE @.catalog_texts (
  session_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  entry_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  time_ms bigint NOT NULL,
  word_count integer NOT NULL,
  words tsvector NOT NULL,
  folded text COLLATE "C" NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (session_id, seq)
);
CREATE INDEX catalog_texts_words ON @.catalog_texts USING gin (words);
)sql",
    // The head before the last append of one entry, which that append needs from the row it changes. Functions with
    // fewer parameters replace the old ones.
    R"sql(
ALTER TABLE @.sessions ADD COLUMN was_head_id text NOT NULL DEFAULT '', ADD COLUMN was_head_seq integer NOT NULL DEFAULT -1;
DROP FUNCTION IF EXISTS @.append(text, bigint, text, bigint, boolean, text[], text[], bigint[], bigint[], bigint[],
  bigint[], bigint[], bigint[], text[], text[], text[], bytea[], text[], bigint[], bigint[], bigint[], bigint, text,
  boolean, bigint, bigint[]);
DROP FUNCTION IF EXISTS @.create_session(text, bigint, bigint, text, text, bigint, text[], text[], bigint[], bigint[],
  bigint[], bigint[], bigint[], bigint[], text[], text[], text[], bytea[], bigint, text, boolean, bigint);
DROP FUNCTION IF EXISTS @.known(text, integer, text, text[], bigint[], bigint[]);
)sql",
    // The lease of the latest turn, by the server's clock, and the attempt that took it.
    R"sql(
ALTER TABLE @.sessions ADD COLUMN lease_until_ms bigint NOT NULL DEFAULT 0, ADD COLUMN lease_holder text NOT NULL DEFAULT '';
)sql",
    // Changed functions: a statement replaces append_one, and forks are read from a place on. A new column counts the
    // tokens that were written to a cache for an hour, so the catalog is read again.
    R"sql(
DROP FUNCTION IF EXISTS @.append_one(text, bigint, text, bigint, bigint, text, text, bigint, bigint, bigint, bigint, bigint,
  bigint, bytea, boolean, bigint);
ALTER TABLE @.catalog_sessions ADD COLUMN cache_write_hour_tokens bigint NOT NULL DEFAULT 0;
ALTER TABLE @.catalog_answers ADD COLUMN cache_write_hour_tokens bigint NOT NULL DEFAULT 0;
DELETE FROM @.catalog_sessions;
DELETE FROM @.catalog_answers;
DELETE FROM @.catalog_texts;
UPDATE @.sessions SET cataloged = false WHERE cataloged;
)sql"};

// For a new or upgraded store: compresses long bodies with lz4, which takes a fraction of the time of the default. A
// server may be built without lz4, and other engines may not know it; they keep their default.
inline constexpr std::string_view kFastCompression = R"sql(
DO $$
BEGIN
  EXECUTE 'ALTER TABLE @.entries ALTER COLUMN body SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error OR invalid_parameter_value THEN
  NULL;
END $$
)sql";

}  // namespace bough::postgres
