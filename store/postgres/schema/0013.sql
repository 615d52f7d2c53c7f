-- How far events from before were looked at for a checksum: up to and with that one.
-- The row is taken away when all were. (An index of those that have none took as long
-- to make as there were events, and nobody could read or append meanwhile.)
CREATE TABLE IF NOT EXISTS unsummed (
	one integer PRIMARY KEY CHECK (one = 1),
	who text COLLATE "C" NOT NULL, -- the user
	n   bigint NOT NULL,
	seq bigint NOT NULL
);
INSERT INTO unsummed (one, who, n, seq) VALUES (1, '', 0, 0) ON CONFLICT DO NOTHING;
DROP INDEX IF EXISTS events_unsummed;
