-- What a session is called and who opened it has a time of its own: updated is
-- when something was last said or done.

ALTER TABLE sessions ADD COLUMN touched INTEGER NOT NULL DEFAULT 0; -- latest time of its own titled, changed, resumed and ended events, and of notes of a scrub; 0 if there was none

ALTER TABLE sessions ADD COLUMN touched_at TEXT GENERATED ALWAYS AS (CASE touched WHEN 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', touched / 1000.0, 'unixepoch') END) VIRTUAL;

UPDATE sessions SET touched = h.at
FROM (SELECT session, max(at) AS at FROM events WHERE kind IN ('titled', 'changed', 'resumed', 'ended') GROUP BY session) h
WHERE h.session = sessions.n;

-- Where that is not the latest, updated is right.
UPDATE sessions SET updated = d.at, recent = d.at >> 10
FROM (SELECT s.n, max(e.at) AS at FROM sessions s JOIN events e ON e.session = s.n
	WHERE s.touched <> 0 AND s.touched >= s.updated AND e.kind NOT IN ('titled', 'changed', 'resumed', 'ended') GROUP BY s.n) d
WHERE d.n = sessions.n AND d.at <> 0;
