-- An amendment that neither withdraws a message nor puts another in its place puts
-- back what was there: then its row has the message's role. Rows from before have
-- none, as if the message were gone. Row security hides the rows from whoever
-- migrates.
ALTER TABLE events NO FORCE ROW LEVEL SECURITY;
ALTER TABLE undone NO FORCE ROW LEVEL SECURITY;
ALTER TABLE bases NO FORCE ROW LEVEL SECURITY;

WITH RECURSIVE back AS (
	UPDATE events a SET role = e.role FROM events e
	WHERE a.kind = 'amended' AND a.amends IS NOT NULL AND a.role IS NULL
		AND encode(a.payload, 'escape') !~* '"payload"|"withdrawn"[[:space:]]*:[[:space:]]*true'
		AND e.user_id = a.user_id AND e.n = a.n AND e.seq = a.amends AND e.role IS NOT NULL
	RETURNING a.user_id, a.n
), shows AS ( -- the sessions that have them, and their forks
	SELECT user_id, n FROM back
	UNION SELECT b.user_id, b.n FROM shows JOIN bases b ON b.user_id = shows.user_id AND b.base = shows.n
)
INSERT INTO undone (user_id, n, after, upto) SELECT user_id, n, -1, -1 FROM shows ON CONFLICT DO NOTHING;

ALTER TABLE events FORCE ROW LEVEL SECURITY;
ALTER TABLE undone FORCE ROW LEVEL SECURITY;
ALTER TABLE bases FORCE ROW LEVEL SECURITY;
