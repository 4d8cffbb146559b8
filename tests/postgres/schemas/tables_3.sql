ALTER TABLE @.sessions ADD COLUMN was_head_id text NOT NULL DEFAULT '', ADD COLUMN was_head_seq integer NOT NULL DEFAULT -1;
DROP FUNCTION IF EXISTS @.append(text, bigint, text, bigint, boolean, text[], text[], bigint[], bigint[], bigint[],
  bigint[], bigint[], bigint[], text[], text[], text[], bytea[], text[], bigint[], bigint[], bigint[], bigint, text,
  boolean, bigint, bigint[]);
DROP FUNCTION IF EXISTS @.create_session(text, bigint, bigint, text, text, bigint, text[], text[], bigint[], bigint[],
  bigint[], bigint[], bigint[], bigint[], text[], text[], text[], bytea[], bigint, text, boolean, bigint);
DROP FUNCTION IF EXISTS @.known(text, integer, text, text[], bigint[], bigint[]);
