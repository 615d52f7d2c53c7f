-- A tombstone bars an ID and an origin for the user who deleted the session. Of
-- those from before it is not known whose they are: user_id is '', and they bar them
-- for everybody, as they did.

CREATE TABLE tombstones_of (
	hash    BLOB    NOT NULL,
	user_id TEXT    NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (hash, user_id)
) STRICT, WITHOUT ROWID;

INSERT INTO tombstones_of (hash, user_id, at)
SELECT hash, '', at FROM tombstones;

DROP TABLE tombstones;

ALTER TABLE tombstones_of RENAME TO tombstones;

ALTER TABLE graves ADD COLUMN user_id TEXT NOT NULL DEFAULT 'local';

DROP TRIGGER sessions_out;

-- As before, and says whose the session was.
CREATE TRIGGER sessions_out AFTER DELETE ON sessions
WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session = old.n)
BEGIN
	INSERT INTO graves (user_id, id, origin, path, origin_id, at)
	VALUES (old.user_id, old.id, old.origin, old.origin_path, old.origin_id, CAST(strftime('%s', 'now') AS INTEGER) * 1000);
	INSERT INTO graves (user_id, id, origin, path, origin_id, at) -- files that only copied it
	SELECT user_id, old.id, format, path, id, CAST(strftime('%s', 'now') AS INTEGER) * 1000 FROM files
	WHERE copy_of = old.id AND copy_of <> '' AND user_id = old.user_id;
	INSERT INTO doomed (session, heir)
	VALUES (old.n, coalesce((SELECT session FROM bases WHERE base = old.n ORDER BY upto DESC, session LIMIT 1), 0));
	UPDATE events SET session = (SELECT heir FROM doomed WHERE session = old.n)
	WHERE session = old.n AND seq <= (SELECT max(upto) FROM bases WHERE base = old.n);
	UPDATE bases SET base = (SELECT heir FROM doomed WHERE session = old.n)
	WHERE base = old.n AND session <> (SELECT heir FROM doomed WHERE session = old.n);
	DELETE FROM bases WHERE session = (SELECT heir FROM doomed WHERE session = old.n);
	UPDATE bases SET session = (SELECT heir FROM doomed WHERE session = old.n)
	WHERE session = old.n AND EXISTS (SELECT 1 FROM doomed WHERE session = old.n AND heir <> 0);
	DELETE FROM bases WHERE session = old.n;
	DELETE FROM doomed WHERE session = old.n;
	DELETE FROM events WHERE session = old.n;
	INSERT INTO chores (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1;
	DELETE FROM leases WHERE session = old.id;
	DELETE FROM files WHERE session = old.id AND user_id = old.user_id;
	DELETE FROM files WHERE copy_of = old.id AND copy_of <> '' AND user_id = old.user_id;
END;
