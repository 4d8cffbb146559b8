ALTER TABLE @.sessions ADD COLUMN lease_until_ms bigint NOT NULL DEFAULT 0, ADD COLUMN lease_holder text NOT NULL DEFAULT '';
