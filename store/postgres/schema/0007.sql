-- The places of a session, a fork's parent's included, that were taken back:
-- those behind after, up to and with upto. A row behind -1 stands for a session
-- from before: what stands of it is yet to be worked out (stand.go).
CREATE TABLE undone (
	user_id text COLLATE "C" NOT NULL,
	n       bigint NOT NULL,
	after   bigint NOT NULL,
	upto    bigint NOT NULL,
	PRIMARY KEY (user_id, n, after)
);
CREATE INDEX undone_due ON undone (user_id, n) WHERE after < 0;

-- Row security hides the rows from whoever migrates.
ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
ALTER TABLE bases NO FORCE ROW LEVEL SECURITY;

INSERT INTO undone (user_id, n, after, upto)
SELECT s.user_id, s.n, -1, -1 FROM sessions s
WHERE EXISTS (SELECT FROM events e WHERE e.user_id = s.user_id AND e.n = s.n AND e.kind IN ('rewound', 'compacted', 'amended'))
	OR EXISTS (SELECT FROM bases b WHERE b.user_id = s.user_id AND b.n = s.n);

ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
ALTER TABLE bases FORCE ROW LEVEL SECURITY;
