-- An amendment that neither withdraws a message nor puts another in its place puts
-- back what was there: then its row has the message's role. Rows from before have
-- none, as if the message were gone; what stands of their sessions, and of the forks
-- of these, is counted anew.
CREATE VIEW back (id, session, role) AS
SELECT a.id, a.session, e.role FROM events a JOIN events e ON e.session = a.session AND e.seq = a.amends
WHERE a.kind = 'amended' AND a.role IS NULL AND e.role IS NOT NULL AND CAST(a.payload AS TEXT) LIKE '{%'
	AND NOT (CAST(a.payload AS TEXT) LIKE '%"payload"%' OR CAST(a.payload AS TEXT) LIKE '%"withdrawn"%true%');

INSERT INTO chores (name, times)
WITH RECURSIVE shows (n) AS (
	SELECT b.session FROM back b
	UNION SELECT f.session FROM shows JOIN bases f ON f.base = shows.n)
SELECT 'recount ' || n, 1 FROM shows
WHERE true ON CONFLICT (name) DO UPDATE SET times = times + 1;

UPDATE events SET role = (SELECT b.role FROM back b WHERE b.id = events.id) WHERE id IN (SELECT b.id FROM back b);

DROP VIEW back;

-- The shell showed nothing where something was put back.
DROP VIEW stands;

-- The said events that stand in session number viewer, with what stands there
-- now: of a fork, those that it shows of its parent too. The + keeps SQLite from
-- looking for a message's other pieces by seq, through the whole session, rather
-- than by events_by_message.
CREATE VIEW stands (viewer, id, seq, message, role, text, items, at) AS
SELECT s.n, e.id, e.seq, e.message, coalesce(a.role, e.role),
	CASE WHEN a.id IS NULL OR (a.text IS NULL AND CAST(a.payload AS TEXT) LIKE '{%' AND CAST(a.payload AS TEXT) NOT LIKE '%"payload"%') THEN e.text ELSE a.text END,
	CASE WHEN a.id IS NULL OR (a.text IS NULL AND CAST(a.payload AS TEXT) LIKE '{%' AND CAST(a.payload AS TEXT) NOT LIKE '%"payload"%') THEN e.items ELSE a.items END, e.at
FROM sessions s
CROSS JOIN json_each(CASE s.base WHEN 0 THEN json_array(json_array(s.n, 0, s.last)) ELSE (
	WITH RECURSIVE g (n, upto) AS ( -- each session whose events it shows, and up to where
		SELECT s.n, s.last
		UNION ALL SELECT b.base, min(b.upto, g.upto) FROM g JOIN bases b ON b.session = g.n)
	SELECT json_group_array(json_array(g.n, coalesce(min(b.upto, g.upto), 0), g.upto)) FROM g LEFT JOIN bases b ON b.session = g.n) END) g
CROSS JOIN events e ON e.session = json_extract(g.value, '$[0]') AND +e.seq > json_extract(g.value, '$[1]') AND +e.seq <= json_extract(g.value, '$[2]')
LEFT JOIN events a ON a.id = (SELECT x.id FROM events x INDEXED BY events_amends
	WHERE x.session = e.session AND x.kind = 'amended' AND x.amends = e.seq AND x.seq <= json_extract(g.value, '$[2]') ORDER BY x.seq DESC LIMIT 1)
WHERE e.kind = 'said' AND (a.id IS NULL OR a.role IS NOT NULL)
	AND NOT EXISTS (SELECT 1 FROM undone u WHERE u.session = s.n AND u.after < e.seq AND u.upto >= e.seq);
